import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { assertProblem, browser, raw, type Sent } from "./http.ts"
import { password, signedIn, started, test, withOperator } from "./support.ts"

describe("requests that change anything", () => {
  /** What a request says of itself; `own` stands for the service's own host. */
  const cases: ReadonlyArray<readonly [what: string, taken: boolean, headers: Record<string, string>]> = [
    ["the page's own", true, { origin: "http://own", "sec-fetch-site": "same-origin", "x-prefstream": "1" }],
    ["own origin, JSON", true, { origin: "http://own", "content-type": "application/json" }],
    ["own origin, JSON with charset", true, { origin: "http://own", "content-type": "application/json;charset=utf-8" }],
    ["no origin, marked (not a browser)", true, { "x-prefstream": "1" }],
    ["no origin, same-origin by the browser", true, { "sec-fetch-site": "same-origin", "x-prefstream": "1" }],
    ["nothing said", false, {}],
    ["no origin, JSON, unmarked", false, { "content-type": "application/json" }],
    ["own origin, a form's type", false, { origin: "http://own", "content-type": "text/plain" }],
    [
      "own origin, JSON in a parameter",
      false,
      { origin: "http://own", "content-type": "text/plain; application/json" },
    ],
    ["another origin, marked", false, { origin: "http://evil.example", "x-prefstream": "1" }],
    ["another port of the host", false, { origin: "http://127.0.0.1:1", "x-prefstream": "1" }],
    ["no origin to speak of", false, { origin: "null", "x-prefstream": "1" }],
    ["same site, not same origin", false, { "sec-fetch-site": "same-site", "x-prefstream": "1" }],
    [
      "own origin, but another site",
      false,
      { origin: "http://own", "sec-fetch-site": "cross-site", "x-prefstream": "1" },
    ],
    ["typed into the address bar", false, { "sec-fetch-site": "none", "x-prefstream": "1" }],
  ]
  test("are taken from the service's own pages only", function* () {
    const { operator, service } = yield* withOperator()
    const { host } = new URL(service.base)
    const cookie = [...operator.cookies].map((pair) => pair.join("=")).join()
    for (const [what, taken, said] of cases) {
      const headers: Record<string, string> = { host, cookie, ...said }
      if (headers["origin"] === "http://own") headers["origin"] = service.base
      const answer = yield* raw(service.base, "/dashboard/api/tokens", {
        method: "POST",
        headers,
        body: { name: what },
      })
      if (taken) assert.include([200, 415], answer.status, what)
      else assertProblem(answer, 403, "forbidden")
    }
    const listed = yield* operator.ask("GET", "/dashboard/api/tokens")
    const refused = cases.filter(([, taken]) => !taken).map(([what]) => what)
    assert.notIncludeMembers(
      listed.json.tokens.map(({ name }: { name: string }) => name),
      refused,
    )
  })

  test("the rule holds for every method, for both pages, and before there is a session", function* () {
    const { base } = yield* started()
    const { ask } = browser(base)
    const foreign = { origin: "http://evil.example", "sec-fetch-site": "cross-site" }
    for (const [method, path] of [
      ["POST", "/dashboard/api/set-up"],
      ["POST", "/dashboard/api/sign-in"],
      ["POST", "/annotate/api/join"],
      ["POST", "/annotate/api/next"],
      ["PUT", "/annotate/api/items/1/draft"],
      ["PUT", "/dashboard/api/webhook"],
      ["DELETE", "/dashboard/api/webhook"],
      ["POST", "//dashboard/api/sign-in"],
      ["POST", "/dashboard/api/sign-in/"],
    ] as const) {
      assertProblem(yield* ask(method, path, {}, foreign), 403, "forbidden")
    }
  })

  test("another site may not read, either", function* () {
    const service = yield* started()
    const { ask } = yield* signedIn(service)
    for (const site of ["cross-site", "same-site"]) {
      const answer = yield* ask("GET", "/dashboard/api/overview", undefined, { "sec-fetch-site": site })
      assertProblem(answer, 403, "forbidden")
    }
    assert.strictEqual(
      (yield* ask("GET", "/dashboard/api/overview", undefined, { "sec-fetch-site": "none" })).status,
      200,
    )
  })

  test("nothing is said to other sites: no CORS", function* () {
    const { base } = yield* started()
    const answer = yield* raw(base, "/dashboard/api/overview", {
      method: "OPTIONS",
      headers: { origin: "http://evil.example", "access-control-request-method": "POST" },
    })
    assert.isEmpty(Object.keys(answer.headers).filter((name) => name.startsWith("access-control")))
  })
})

test("a service on loopback answers to no name that somebody lets point to it", function* () {
  const { base } = yield* started()
  const { port } = new URL(base)
  for (const path of ["/", "/dashboard/", "/annotate/", "/dashboard/api/session", "/assets/x.js", "/nothing"]) {
    for (const host of [`evil.example:${port}`, "evil.example", `127.0.0.1.nip.example:${port}`]) {
      const answer = yield* raw(base, path, { headers: { host } })
      assertProblem(answer, 403, "forbidden")
      assert.include(answer.json.detail, "--public-url")
    }
  }
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    assert.strictEqual((yield* raw(base, "/", { headers: { host } })).status, 302)
  }
})

describe("limits", () => {
  test("a body of the pages: 256 kiB", function* () {
    const service = yield* started()
    const { ask } = yield* signedIn(service)
    const answer = yield* ask("POST", "/dashboard/api/sign-in", { name: "Ann", password: "x".repeat(256 * 1024) })
    assertProblem(answer, 413, "body-too-large")
    assert.strictEqual(answer.json.limit_bytes, 256 * 1024)
  })

  test("a body that dribbles in: 408 after a minute, and the connection is closed", function* () {
    const { base } = yield* started()
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname)
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
    const closed = once(socket, "close")
    socket.write(
      `POST /dashboard/api/sign-in HTTP/1.1\r\nHost: ${hostname}:${port}\r\nx-prefstream: 1\r\n` +
        `content-type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    )
    // The service asks for the body when it begins to read it.
    yield* Effect.promise(() => once(socket, "data"))
    assert.match(text, /^HTTP\/1\.1 100 /)
    socket.write('{"name":')
    const waiting = yield* Effect.forkChild(Effect.promise(() => closed))
    yield* TestClock.adjust("59 seconds")
    assert.notInclude(text, "HTTP/1.1 408")
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(waiting)
    assert.include(text, "HTTP/1.1 408")
    assert.include(text, "tag:prefstream,2026:request-timed-out")
  })
})

test("a service that has got stuck says so after a minute: 503", function* () {
  const { base, stuck } = yield* started()
  const asked = yield* Effect.forkChild(visit(base, "/stuck"))
  yield* Deferred.await(stuck)
  assert.strictEqual((yield* visit(base, "/")).status, 302, "others are answered meanwhile")
  yield* TestClock.adjust("59 seconds")
  assert.isUndefined(asked.pollUnsafe())
  yield* TestClock.adjust("1 second")
  const answer = yield* Fiber.join(asked)
  assertProblem(answer, 503, "service-too-slow")
})

test("every answer carries the headers that keep browsers from doing anything with it", function* () {
  const service = yield* started()
  const { ask } = yield* signedIn(service)
  const answers = [
    yield* ask("GET", "/dashboard/"),
    yield* ask("GET", "/annotate/"),
    yield* ask("GET", "/"),
    yield* ask("GET", "/dashboard/api/overview"),
    yield* ask("GET", "/dashboard/api/tasks/no"),
    yield* ask("POST", "/dashboard/api/sign-in", { name: "Ann", password: "wrong" }),
    yield* ask("POST", "/dashboard/api/sign-in", "{"),
    yield* ask("GET", "/nothing"),
    yield* ask("GET", "/", undefined, { host: "evil.example" }),
    yield* ask("POST", "/dashboard/api/sign-in", { name: "Ann", password }, { origin: "http://evil.example" }),
    yield* ask("POST", "/dashboard/api/sign-out"),
  ]
  for (const { headers, status } of answers) {
    assert.strictEqual(headers["x-content-type-options"], "nosniff", String(status))
    assert.strictEqual(headers["referrer-policy"], "no-referrer")
    assert.strictEqual(headers["cross-origin-opener-policy"], "same-origin")
    assert.strictEqual(headers["cross-origin-resource-policy"], "same-origin")
    assert.strictEqual(headers["cache-control"], "no-store")
    assert.match(headers["content-security-policy"]!, /default-src 'none'.*frame-ancestors 'none'/)
    assert.isString(headers["permissions-policy"])
  }
})

/** A request that a browser sends of itself, when somebody opens a link. */
const visit = (base: string, path: string, sent: Sent = {}) =>
  raw(base, path, { ...sent, headers: { host: new URL(base).host, ...sent.headers } })

describe("the pages", () => {
  test("run scripts of their own files only; the root leads to the dashboard", function* () {
    const { base } = yield* started()
    const root = yield* visit(base, "/")
    assert.deepStrictEqual([root.status, root.headers["location"]], [302, "/dashboard/"])
    for (const path of ["/dashboard/", "/annotate/", "/dashboard", "/annotate"]) {
      const page = yield* visit(base, path)
      assert.strictEqual(page.status, 200, page.text)
      assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
      const policy = page.headers["content-security-policy"]!
      assert.include(policy, "script-src 'self';")
      assert.include(policy, "require-trusted-types-for 'script'")
      assert.notMatch(policy, /unsafe|\*|https?:/)
      assert.notMatch(page.text, /<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/, "nothing inline")
      for (const [, file = ""] of page.text.matchAll(/(?:src|href)="(\/[^"]*)"/g)) {
        const asset = yield* visit(base, file)
        assert.strictEqual(asset.status, 200, file)
        assert.strictEqual(asset.headers["cache-control"], "public, max-age=31536000, immutable")
        assert.match(asset.headers["content-type"]!, /^text\/(javascript|css)/)
        assert.strictEqual(asset.headers["content-security-policy"], policy)
      }
    }
  })

  test("are not sent where the browser has the file", function* () {
    const { base } = yield* started()
    const page = yield* visit(base, "/dashboard/")
    const [, file = ""] = /"(\/assets\/[^"]+)"/.exec(page.text) ?? []
    const { headers } = yield* visit(base, file)
    const again = yield* visit(base, file, { headers: { "if-none-match": headers["etag"]! } })
    assert.strictEqual(again.status, 304)
    assert.strictEqual((yield* visit(base, "/dashboard/", { method: "HEAD" })).status, 200)
  })

  test("no path leads out of the built files", function* () {
    const { base } = yield* started()
    for (const path of [
      "/assets/../dashboard.html",
      "/assets/..%2fdashboard.html",
      "/assets/%2e%2e/dashboard.html",
      "/assets/..%5cdashboard.html",
      "/assets/../../../package.json",
      "/assets/..%2f..%2f..%2fpackage.json",
      "/assets/%2e%2e%2f%2e%2e%2f%2e%2e%2fpackage.json",
      "/assets//../../../package.json",
      "/assets/....//....//package.json",
      "/assets/%00",
      "/assets/%ff",
      "/assets/",
      "/assets",
      "/assets/nothing.js",
      "/dashboard/nothing",
      "/dashboard.html",
      "//etc/passwd",
      "/assets//etc/passwd",
      "/assets/%2fetc%2fpasswd",
    ]) {
      const answer = yield* visit(base, path)
      assert.include([400, 404], answer.status, path)
      assert.match(answer.json?.type ?? "", /^tag:prefstream,2026:/, path)
    }
  })
})

import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { cli, cliStarted, ends, execute } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

/** A service that has said all that it says at its start, and its address. */
const started = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const service = yield* cliStarted(["serve", "--port", "0", ...args], env)
  const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(yield* service.says(/PREFSTREAM_BASE_URL=\S+\n/)) ?? []
  return { ...service, url: new URL(baseUrl) }
})

/** What `prefstream serve ARGS` says from its start to its end, and how its dashboard answers. */
const said = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const { stop, url } = yield* started(args, env)
  const dashboard = yield* HttpClient.get(`${url.origin}/dashboard/`)
  return { base: url.origin, dashboard: dashboard.status, ...(yield* stop()) }
})

const tokenIn = (stdout: string) => /^PREFSTREAM_TOKEN=(pst_[\w-]{43})$/m.exec(stdout)?.[1]
const linkIn = (stderr: string) => /(http\S+\/dashboard\/#set-up=[\w-]{43})/.exec(stderr)?.[1]

describe("prefstream serve", () => {
  test("the first start makes a token and a link to sign in; later ones do not repeat the token", function* () {
    const database = `${yield* temporaryDirectory}/service.db`
    const first = yield* said(["--database", database])
    assert.strictEqual(first.dashboard, 200)
    assert.isDefined(tokenIn(first.stdout))
    assert.match(linkIn(first.stderr) ?? "", new RegExp(`^${first.base}/`))
    assert.notInclude(first.stderr, "Warning")
    const second = yield* said(["--database", database])
    assert.isUndefined(tokenIn(second.stdout))
    assert.notInclude(second.stdout + second.stderr, tokenIn(first.stdout)!)
    assert.isDefined(linkIn(second.stderr), "nobody has signed in yet")
    assert.notStrictEqual(linkIn(second.stderr)!.split("=")[1], linkIn(first.stderr)!.split("=")[1])
  })

  test("refuses the database of a version with other tables in one sentence", function* () {
    const database = `${yield* temporaryDirectory}/service.db`
    yield* said(["--database", database])
    execute(database, "UPDATE prefstream_service_migration SET name = 'tables'")
    const { stderr } = yield* cli(["serve", "--port", "0", "--database", database]).pipe(ends(1))
    assert.match(stderr, /^prefstream: .*database has the tables of another, unreleased version of prefstream.*\n$/m)
  })

  test("votes, gold items and experts of prefstream.yaml are a run's, unless they stand in the section of serve", function* () {
    const folder = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    const ofRun = "votes: 3\nexpert: longest\ngold: none.jsonl\njudge-disagreement: tie\n"
    const args = ["--database", `${folder}/service.db`]
    const env = { PREFSTREAM_CONFIG: `${folder}/prefstream.yaml` }
    yield* fs.writeFileString(env.PREFSTREAM_CONFIG, `${ofRun}api-only: true\n`)
    const bare = yield* said(args, env)
    assert.include(
      bare.stderr,
      "No --expert, and no annotation page (--api-only): tasks are accepted, but nobody answers them",
    )
    assert.include((yield* said([...args, "--expert", "first"], env)).stderr, "in place of people: --expert first\n")
    yield* fs.writeFileString(env.PREFSTREAM_CONFIG, `${ofRun}serve: { expert: [first, last], votes: 2 }\n`)
    assert.match(
      (yield* said(args, env)).stderr,
      /in place of people: --expert first, last \(expert is set in .*prefstream\.yaml:5\)/,
    )
    const { stdout } = yield* cli(["config", "serve"], env)
    assert.match(stdout, /^votes +2 /m)
    assert.notInclude(stdout, "none.jsonl")
  })

  test("who has signed in gets another link only by asking for it", function* () {
    const database = `${yield* temporaryDirectory}/service.db`
    const service = yield* started(["--database", database])
    const { origin } = service.url
    const stderr = yield* service.talks(/set-up=\S+\n/)
    const setUp = (code: string) =>
      HttpClientRequest.post(`${origin}/dashboard/api/set-up`).pipe(
        HttpClientRequest.setHeader("x-prefstream", "1"),
        HttpClientRequest.bodyJsonUnsafe({ code, name: "Ann", password: "a password of some length" }),
        HttpClient.execute,
      )
    assert.strictEqual((yield* setUp("guess")).status, 403)
    assert.strictEqual((yield* setUp(linkIn(stderr)!.split("=")[1]!)).status, 200)
    yield* service.stop()

    const second = yield* said(["--database", database])
    assert.isUndefined(linkIn(second.stderr))
    assert.include(second.stderr, `${second.base}/dashboard/`)
    assert.isDefined(linkIn((yield* said(["--database", database, "--sign-in-link"])).stderr))
  })

  test("--webhook-url sets the webhook, and says its secret once", function* () {
    const args = ["--database", `${yield* temporaryDirectory}/service.db`, "--api-only"]
    const url = ["--webhook-url", "http://127.0.0.1:8485/webhook"]
    const first = yield* said([...args, ...url])
    assert.match(first.stdout, /^PREFSTREAM_WEBHOOK_SECRET=whsec_\S+$/m)
    assert.notInclude((yield* said([...args, ...url])).stdout, "WEBHOOK_SECRET")
    yield* cli(["serve", "--port", "0", ...args, "--webhook-url", "ftp://host"]).pipe(
      ends(2, /^prefstream: --webhook-url: /m),
    )
  })

  test("binding wider without TLS in front is warned of", function* () {
    const folder = yield* temporaryDirectory
    const wide = ["--host", "0.0.0.0", "--api-only"]
    const bare = yield* said(["--database", `${folder}/1.db`, ...wide])
    assert.match(bare.stderr, /^Warning: .*without TLS.*--public-url https:/m)
    assert.strictEqual(bare.dashboard, 404)
    assert.isUndefined(linkIn(bare.stderr))
    for (const [url, warned] of [
      ["https://annotate.example", false],
      ["http://annotate.example", true],
      ["http://localhost:8484", true],
    ] as const) {
      const service = yield* started(["--database", `${folder}/2.db`, ...wide, "--public-url", url])
      assert.strictEqual(service.url.origin, url)
      const { stderr } = yield* service.stop()
      assert.strictEqual(stderr.includes("Warning"), warned, url)
    }
  })

  test("a token that is given is not printed, and no other is made", function* () {
    const database = `${yield* temporaryDirectory}/service.db`
    const { stderr, stdout } = yield* said(["--database", database], { PREFSTREAM_TOKEN: "token-of-mine" })
    assert.notInclude(stdout + stderr, "token-of-mine")
    assert.notInclude(stdout, "PREFSTREAM_TOKEN")
    assert.isDefined(tokenIn((yield* said(["--database", database])).stdout), "none was stored")
  })

  test("a port in use is said to be", function* () {
    const folder = yield* temporaryDirectory
    const { host, port } = (yield* started(["--database", `${folder}/first.db`])).url
    const second = yield* cli(["serve", "--port", port, "--database", `${folder}/second.db`]).pipe(ends(1))
    assert.include(
      second.stderr,
      `prefstream: ${host} is in use by another program: choose another port (serve --port, --listen, or --monitor)\n`,
    )
  })

  test("settings that can't be are refused", function* () {
    const database = `${yield* temporaryDirectory}/service.db`
    for (const [flag, ...more] of [
      ["--public-url", "annotate.example"],
      ["--public-url", "https://annotate.example/path"],
      ["--votes", "0"],
      ["--votes", "26"],
      ["--gold", "there-is-none.jsonl"],
      ["--rate-limit", "-1"],
      ["--port", "70000"],
      ["--port", "-1"],
      ["--sign-in-link", "--api-only"],
    ] as const) {
      const port = flag === "--port" ? [] : ["--port", "0"]
      yield* cli(["serve", ...port, "--database", database, flag, ...more]).pipe(ends(2, new RegExp(flag)))
    }
  })
})

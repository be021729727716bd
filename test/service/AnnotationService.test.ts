import { connect } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import * as ServiceLayers from "../../src/service/ServiceLayers.ts"
import type { Expert } from "../../src/service/expert/ScriptedExperts.ts"
import { call, completed, platform, start, task, temporaryFile, token } from "./support.ts"
import { assertProblem } from "./web/http.ts"
import { type Body, testOver } from "../support/effectTest.ts"

/** Answers like `first`, except that it has no answer where the prompt says so. */
const moody: Expert = {
  name: "moody",
  judge: ({ prompt }) =>
    Effect.succeed(
      prompt === "unknown" ? Option.none() : Option.some({ best_completion_index: 0, rationale: "As I like it." }),
    ),
}

class Service extends Context.Service<Service, string>()("test/Service") {
  static readonly layer = Layer.effect(
    Service,
    Effect.gen(function* () {
      const limits = { bodyBytes: 20_000, promptsPerTask: 3, completionsPerPrompt: 4 }
      return yield* start({ experts: [moody, "longest"], limits })
    }),
  ).pipe(Layer.provideMerge(platform))
}

const pair = [["What is 2 + 2?", "4", "five"]] as const
const body = task(pair)

layer(Service.layer)("AnnotationService", (it) => {
  const test = (name: string, body: Body<Layer.Success<typeof Service.layer>>) =>
    it.effect(name, () => Effect.gen(body))

  describe("creation", () => {
    test("answers 201 with id, status and location", function* () {
      const base = yield* Service
      const created = yield* call("POST", `${base}/v1/tasks`, { body })
      assert.strictEqual(created.status, 201, created.text)
      assert.match(created.headers["content-type"]!, /^application\/json/)
      assert.match(created.json.task_id, /^task_[0-9a-f]{32}$/)
      assert.strictEqual(created.json.status, "pending")
      assert.strictEqual(created.headers["location"], `/v1/tasks/${created.json.task_id}`)
      const other = yield* call("POST", `${base}/v1/tasks`, { body })
      assert.notStrictEqual(other.json.task_id, created.json.task_id)
    })

    test("names members that are not known, and keeps metadata for the result", function* () {
      const base = yield* Service
      const metadata = { row: 7, tags: ["a", { b: null }] }
      const [prompt] = body.prompts
      const created = yield* call("POST", `${base}/v1/tasks`, {
        body: { ...body, vote: 3, metadata: { job: "j" }, prompts: [{ ...prompt, metadata, model: "m" }, prompt] },
      })
      assert.strictEqual(created.status, 201, created.text)
      const places = created.json.warnings.map(({ path }: { path: ReadonlyArray<string> }) => path.join("."))
      assert.deepStrictEqual(places, ["vote", "prompts.0.model"])
      assert.match(
        created.json.warnings[0].message,
        /^the service ignored this unknown member\. Known members: task_type, .*, votes, /,
      )
      const { json } = yield* completed(base, created.json.task_id)
      assert.deepStrictEqual(json.metadata, { job: "j" })
      assert.deepStrictEqual(json.results[0].metadata, metadata)
      assert.notProperty(json.results[1], "metadata")
      assert.notProperty((yield* call("POST", `${base}/v1/tasks`, { body })).json, "warnings")
      const wrong = yield* call("POST", `${base}/v1/tasks`, { body: { ...body, metadata: "j" } })
      assertProblem(wrong, 400, "malformed-request")
    })

    test("refuses metadata that no result could return, with the place, and returns the rest as they came", function* () {
      const base = yield* Service
      const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
      const send = (metadata: string, ofPrompt = "{}") =>
        call("POST", `${base}/v1/tasks`, {
          body: `{"task_type":"rlhf_ranking","metadata":${metadata},"prompts":[{"prompt":"deep","completions":["a","b"],"metadata":${ofPrompt}}]}`,
        })
      const ownKeys = '{"__proto__":{"constructor":[1]},"toString":null}'
      for (const levels of [100, 500, 1_000]) {
        const whole = yield* send(`{"a":${nested(levels)}}`)
        assertProblem(whole, 422, "unprocessable-task")
        assert.include(whole.json.detail, "metadata: expected at most 100 levels of nesting, found more")
        const one = yield* send("{}", `{"a":${nested(levels)}}`)
        assert.deepStrictEqual(one.json.errors[0].path, ["prompts", 0, "metadata"])
      }
      const digits = yield* send('{"ids":[1,12345678901234567890]}')
      assertProblem(digits, 422, "unprocessable-task")
      assert.deepStrictEqual(digits.json.errors[0].path, ["metadata", "ids", 1])
      const created = yield* send(`{"a":${nested(99)}}`, ownKeys)
      assert.strictEqual(created.status, 201, created.text)
      const { text } = yield* completed(base, created.json.task_id)
      assert.include(text, `"metadata":{"a":${nested(99)}}`)
      assert.include(text, `"metadata":${ownKeys}`)
    })

    test("creates one task for one key, also when asked at once", function* () {
      const base = yield* Service
      const request = call("POST", `${base}/v1/tasks`, { body, headers: { "idempotency-key": "once" } })
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => request),
        { concurrency: 8 },
      )
      assert.deepStrictEqual(new Set(answers.map((answer) => answer.status)), new Set([201]))
      assert.strictEqual(new Set(answers.map((answer) => answer.json.task_id)).size, 1)

      yield* completed(base, answers[0]!.json.task_id)
      const later = yield* request
      assert.strictEqual(later.json.status, "completed")
      assert.strictEqual(later.json.task_id, answers[0]!.json.task_id)
    })

    test("refuses a key that comes with another body, or is too long", function* () {
      const base = yield* Service
      const headers = { "idempotency-key": "reused" }
      const first = yield* call("POST", `${base}/v1/tasks`, { body, headers })
      const other = yield* call("POST", `${base}/v1/tasks`, { body: { ...body, guidelines: "Be strict." }, headers })
      assertProblem(other, 422, "idempotency-key-reused")
      assert.include(other.json.detail, first.json.task_id)
      const long = { "idempotency-key": "k".repeat(256) }
      assertProblem(yield* call("POST", `${base}/v1/tasks`, { body, headers: long }), 400, "malformed-request")
    })
  })

  describe("results", () => {
    test("come one per prompt, in order, with any text unchanged", function* () {
      const base = yield* Service
      const odd = 'quotes " \\ \u2028 \u0000 😀 \ufeff\n'
      const prompts = task([
        ["p1", "a", "b"],
        ["unknown", "short", "the longest one", "longer"],
        [odd, "c", "d"],
      ])
      const created = yield* call("POST", `${base}/v1/tasks`, { body: prompts })
      const answer = yield* completed(base, created.json.task_id)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers["content-type"]!, /^application\/json/)
      const { results, ...rest } = answer.json
      assert.deepStrictEqual(rest, { task_id: created.json.task_id, status: "completed" })
      const vote = {
        expert: "moody",
        kind: "automatic",
        choice: 0,
        order: [0, 1],
        seconds: 0,
        rationale: "As I like it.",
      }
      const ofMoody = {
        best_completion_index: 0,
        annotations: { rationale: vote.rationale, votes: [vote], agreement: 1 },
      }
      assert.deepStrictEqual(
        [results[0], results[2]],
        [
          { prompt: "p1", ...ofMoody },
          { prompt: odd, ...ofMoody },
        ],
      )
      assert.deepInclude(results[1], { prompt: "unknown", best_completion_index: 1 })
      assert.strictEqual(results[1].annotations.rationale, "Longest of 3 completions (15 characters).")
    })
  })

  test("without the organization's token both endpoints answer 401; the scheme's case does not matter", function* () {
    const base = yield* Service
    const secret = Redacted.value(token)
    for (const authorization of [
      "",
      "Bearer",
      "Bearer another-token-yet",
      `Bearer ${secret.replace(/.$/, "x")}`,
      `Basic ${btoa(`user:${secret}`)}`,
      secret,
    ]) {
      const headers = { authorization }
      for (const answer of [
        yield* call("POST", `${base}/v1/tasks`, { body, headers }),
        yield* call("GET", `${base}/v1/tasks/task_0`, { headers }),
        // The token comes first: nothing is said about the body.
        yield* call("POST", `${base}/v1/tasks`, { body: "{", headers }),
      ]) {
        assertProblem(answer, 401, "unauthorized")
        assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
        assert.notInclude(answer.text, secret)
      }
    }
    const lowerCase = yield* call("GET", `${base}/v1/tasks/task_0`, { headers: { authorization: `bearer ${secret}` } })
    assertProblem(lowerCase, 404, "task-not-found")
  })

  describe("malformed requests", () => {
    const malformed: ReadonlyArray<readonly [name: string, body: unknown, place: ReadonlyArray<string | number>]> = [
      ["not JSON", "{", []],
      ["no body", "", []],
      ["an array", [], []],
      ["no task_type", { prompts: [] }, ["task_type"]],
      ["prompts that are no array", { task_type: "rlhf_ranking", prompts: {} }, ["prompts"]],
      [
        "a completion that is a number",
        { task_type: "rlhf_ranking", prompts: [{ prompt: "p", completions: ["a", 1] }] },
        ["prompts", 0, "completions", 1],
      ],
      ["guidelines that are no text", { ...body, guidelines: 7 }, ["guidelines"]],
      ["no votes", { ...body, votes: 0 }, ["votes"]],
      ["too many votes", { ...body, votes: 26 }, ["votes"]],
      ["half a vote", { ...body, votes: 1.5 }, ["votes"]],
      ["a group without a name", { ...body, group: "" }, ["group"]],
      ["a group whose name is too long", { ...body, group: "g".repeat(256) }, ["group"]],
      ["a group of no tasks", { ...body, group: "g", group_size: 0 }, ["group_size"]],
      ["the size of no group", { ...body, group_size: 2 }, ["group_size"]],
    ]
    const refused: typeof malformed = [
      ["another task_type", { ...body, task_type: "sft" }, ["task_type"]],
      ["no prompts", task([]), ["prompts"]],
      ["too many prompts", task(Array.from({ length: 4 }, () => ["p", "a", "b"])), ["prompts"]],
      ["a blank prompt", task([...pair, [" \n", "a", "b"]]), ["prompts", 1, "prompt"]],
      ["one completion", task([["p", "a"]]), ["prompts", 0, "completions"]],
      ["too many completions", task([["p", "a", "b", "c", "d", "e"]]), ["prompts", 0, "completions"]],
    ]
    for (const [status, problem, bodies] of [
      [400, "malformed-request", malformed],
      [422, "unprocessable-task", refused],
    ] as const) {
      for (const [name, body, place] of bodies) {
        test(`${name}: ${status} at ${place.join(".")}`, function* () {
          const base = yield* Service
          const answer = yield* call("POST", `${base}/v1/tasks`, { body })
          assertProblem(answer, status, problem)
          assert.lengthOf(answer.json.errors, 1)
          assert.deepStrictEqual(answer.json.errors[0].path, place)
          if (name === "another task_type") assert.include(answer.json.detail, "rlhf_ranking")
        })
      }
    }

    test("an address that takes other methods: 405, and which in Allow", function* () {
      const base = yield* Service
      for (const [method, path, allow] of [
        ["GET", "/v1/tasks", "POST"],
        ["PUT", "/v1/tasks/task_0", "GET, HEAD"],
        ["POST", "/v1/openapi.json", "GET, HEAD"],
        ["GET", "/dashboard/api/sign-in", "POST"],
      ] as const) {
        const answer = yield* call(method, `${base}${path}`)
        assertProblem(answer, 405, "method-not-allowed")
        assert.strictEqual(answer.headers["allow"], allow)
      }
    })

    const request = (start: string, ...headers: ReadonlyArray<string>) =>
      [`${start} HTTP/1.1`, "host: localhost", ...headers, "", ""].join("\r\n")
    const chunked = [`authorization: Bearer ${Redacted.value(token)}`, "transfer-encoding: chunked"]
    const long = "a".repeat(20_000)
    for (const [what, status, name, text] of [
      ["no HTTP", 400, "malformed-request", "HELLO\r\n\r\n"],
      ["no Host", 400, "malformed-request", "GET /v1/docs HTTP/1.1\r\nconnection: close\r\n\r\n"],
      ["large headers", 431, "headers-too-large", request("GET /", `a: ${long}`)],
      ["large extensions", 413, "body-too-large", `${request("POST /v1/tasks", ...chunked)}1;a=${long}\r\n`],
      ["another expectation", 417, "expectation-failed", request("GET /", "expect: a miracle", "connection: close")],
    ] as const) {
      test(`${what}: ${status}, as problem details, too`, function* () {
        const base = new URL(yield* Service)
        const answer = yield* Effect.callback<string>((resume) => {
          const socket = connect(Number(base.port), base.hostname, () => socket.write(text))
          let answer = ""
          socket.on("data", (data) => (answer += data.toString()))
          socket.on("close", () => resume(Effect.succeed(answer)))
        })
        const [head = "", body = ""] = answer.split("\r\n\r\n")
        assert.match(head, new RegExp(`^HTTP/1.1 ${status} `))
        assert.match(head, /^content-type: application\/problem\+json\r?$/im)
        const { status: said, type } = JSON.parse(body)
        assert.deepStrictEqual([said, type], [status, `tag:prefstream,2026:${name}`])
      })
    }

    test("another media type or character set: 415", function* () {
      const base = yield* Service
      for (const [type, status] of [
        ["text/plain", 415],
        ["application/json; charset=iso-8859-1", 415],
        ["application/json; charset=utf-8", 201],
        ['application/json; charset="UTF-8"', 201],
      ] as const) {
        const answer = yield* call("POST", `${base}/v1/tasks`, { body, headers: { "content-type": type } })
        if (status === 415) assertProblem(answer, 415, "unsupported-media-type")
        else assert.strictEqual(answer.status, status, type)
      }
    })

    test("a body that is not UTF-8: 415, and nothing is stored in the place of what it is", function* () {
      const base = yield* Service
      const bytes = Buffer.from(JSON.stringify(body).replace("five", "f\u00ffve"), "latin1")
      const request = HttpClientRequest.post(`${base}/v1/tasks`).pipe(
        HttpClientRequest.setHeaders({ authorization: `Bearer ${Redacted.value(token)}` }),
        HttpClientRequest.bodyUint8Array(bytes, "application/json"),
      )
      const answer = yield* HttpClient.execute(request)
      assert.strictEqual(answer.status, 415)
      assert.include(yield* answer.text, "The body is not UTF-8.")
    })

    test("a body over the limit: 413", function* () {
      const base = yield* Service
      const fits = task([["p", "a".repeat(19_900), "b"]])
      assert.strictEqual((yield* call("POST", `${base}/v1/tasks`, { body: fits })).status, 201)
      for (const size of [20_000, 5_000_000]) {
        const answer = yield* call("POST", `${base}/v1/tasks`, { body: task([["p", "a".repeat(size), "b"]]) })
        assertProblem(answer, 413, "body-too-large")
        assert.strictEqual(answer.json.limit_bytes, 20_000)
      }
    })

    test("an unknown address or method: 404", function* () {
      const base = yield* Service
      assertProblem(yield* call("GET", `${base}/nothing`), 404, "endpoint-not-found")
      assertProblem(yield* call("POST", `${base}/tasks`, { body }), 404, "endpoint-not-found")
    })
  })
})

testOver(platform)("the embedded service provides a profile that leads to it, with a token of its own", function* () {
  const database = yield* temporaryFile("service.sqlite")
  const use = Effect.gen(function* () {
    const profile = yield* ServiceProfile
    assert.match(profile.baseUrl, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)
    assert.strictEqual(profile.idempotencyKey, "honored")
    const headers = { authorization: `Bearer ${Redacted.value(profile.token)}` }
    const created = yield* call("POST", `${profile.baseUrl}/tasks`, { body, headers })
    assert.strictEqual(created.status, 201, created.text)
    assertProblem(yield* call("POST", `${profile.baseUrl}/tasks`, { body }), 401, "unauthorized")
    return Redacted.value(profile.token)
  })
  const embedded = ServiceLayers.layerEmbedded({ database, experts: ["first"] })
  const one = yield* Effect.provide(use, embedded, { local: true })
  const two = yield* Effect.provide(use, embedded, { local: true })
  assert.isAtLeast(one.length, 32)
  assert.notStrictEqual(one, two)
})

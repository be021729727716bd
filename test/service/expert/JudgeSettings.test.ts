import { NodeServices } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as JudgeSettings from "../../../src/service/expert/JudgeSettings.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

const local = "http://127.0.0.1:11434/v1"

const resolve = (settings: JudgeSettings.JudgeSettings, env: Record<string, string> = {}) =>
  JudgeSettings.resolve("m", settings).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provide(NodeServices.layer),
  )

const keyIn = ({ apiKey }: { readonly apiKey?: Redacted.Redacted<string> | undefined }) =>
  apiKey === undefined ? undefined : Redacted.value(apiKey)

describe("the endpoint", () => {
  test("is the one that is said, or else that of the environment", function* () {
    const env = { PREFSTREAM_JUDGE_BASE_URL: local }
    assert.strictEqual((yield* resolve({ baseUrl: "https://host/v1" }, env)).baseUrl, "https://host/v1")
    const options = yield* resolve({ concurrency: 3 }, env)
    assert.deepStrictEqual([options.model, options.baseUrl, options.concurrency], ["m", local, 3])
  })

  test("is never assumed", function* () {
    for (const env of [{}, { PREFSTREAM_JUDGE_BASE_URL: "" }, { OPENAI_API_KEY: "sk-1" }]) {
      const error = yield* Effect.flip(resolve({}, env))
      assert.match(error.message, /^judge:m: no endpoint is set; give its base URL with --judge-base-url/)
    }
  })

  const invalid = ["host/v1", "ftp://host", "http://user:secret@host/v1", "https://host/v1?key=secret", "https://"]
  for (const baseUrl of invalid) {
    test(`can't be ${baseUrl}`, function* () {
      const error = yield* Effect.flip(resolve({ baseUrl }))
      assert.match(error.message, /^judge:m: invalid base URL/)
      assert.notInclude(error.message, "secret")
    })
  }
})

describe("the key", () => {
  const openAi = "https://api.openai.com/v1"
  const cases: ReadonlyArray<readonly [string, string, Record<string, string>, string | undefined]> = [
    ["is none where none is set", local, {}, undefined],
    ["comes from the environment", local, { PREFSTREAM_JUDGE_API_KEY: "k1" }, "k1"],
    ["loses what surrounds it", local, { PREFSTREAM_JUDGE_API_KEY: " k1\n" }, "k1"],
    ["is none where it is blank", local, { PREFSTREAM_JUDGE_API_KEY: " " }, undefined],
    ["for OpenAI goes to OpenAI", openAi, { OPENAI_API_KEY: "k2" }, "k2"],
    ["for OpenAI gives way to our own", openAi, { OPENAI_API_KEY: "k2", PREFSTREAM_JUDGE_API_KEY: "k1" }, "k1"],
    ["for OpenAI goes to nobody else", local, { OPENAI_API_KEY: "k2" }, undefined],
    ["for OpenAI goes to no name like it", "https://api.openai.com.evil.example", { OPENAI_API_KEY: "k2" }, undefined],
    ["for OpenAI goes nowhere unencrypted", "http://api.openai.com/v1", { OPENAI_API_KEY: "k2" }, undefined],
  ]
  for (const [name, baseUrl, env, expected] of cases) {
    test(name, function* () {
      assert.strictEqual(keyIn(yield* resolve({ baseUrl }, env)), expected)
    })
  }

  test("that can't stand in a header stops the start, unseen", function* () {
    const error = yield* Effect.flip(resolve({ baseUrl: local }, { PREFSTREAM_JUDGE_API_KEY: "se cret" }))
    assert.notInclude(error.message, "cret")
  })
})

describe("the template", () => {
  test("must hold what is to be judged", function* () {
    const error = yield* Effect.flip(resolve({ baseUrl: local, template: "{prompt} {completion} {guidelines}" }))
    assert.strictEqual(error.message, "judge:m: the template lacks {completions}")
    const both = yield* Effect.flip(resolve({ baseUrl: local, template: "" }))
    assert.strictEqual(both.message, "judge:m: the template lacks {prompt} and {completions}")
  })

  test("must be there", function* () {
    const error = yield* Effect.flip(resolve({ baseUrl: local, templateFile: "no/such/file" }))
    assert.strictEqual(error.message, "judge:m: the template no/such/file: there is no such file")
  })
})

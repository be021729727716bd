/** Label Studio from file to dataset. The conformance suite has the faults. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Redacted, Result } from "effect"
import { Job, Pipeline, Tasks } from "prefstream"
import { protocol } from "../../pipelines/connectors/labelStudio.ts"
import { itemLines } from "../support/cli.ts"
import { test } from "../support/job.ts"
import { make, served } from "./job.ts"
import * as LabelStudio from "./labelStudio.ts"

const items = itemLines(4).map((line) => JSON.parse(line) as { readonly prompt: string })
const refused = items[2]!.prompt

/** A pipeline of four items at a fake. */
const pipelineAt = Effect.fnUntraced(function* (
  options: LabelStudio.Options & { readonly token?: string } = {},
  service: Partial<Tasks.ServiceSettings> = {},
) {
  const fake = yield* served(LabelStudio.make(options))
  const at = { baseUrl: fake.baseUrl, token: options.token ?? fake.token }
  const settings = { protocol: protocol({ project: LabelStudio.project }), service }
  return { fake, ...(yield* make(at, items, { ...settings, batch: { maxPrompts: 2, maxBytes: 1_000_000 } })) }
})

describe("Label Studio", () => {
  test("a webhook with its secret in a header tells of results, which come from two annotators with a reason each", function* () {
    const { fake, pairs, pipeline, submit } = yield* pipelineAt({}, { pollInterval: { min: "1 hour", max: "1 hour" } })
    const url = yield* Deferred.make<string>()
    const judged = Effect.gen(function* () {
      const to = yield* Deferred.await(url)
      fake.skip(fake.created()[0]!)
      fake.judge((_, completions) => completions.indexOf(completions.toSorted()[0]!), { repeated: true })
      yield* Effect.promise(() => fake.notify!(to))
    })
    const webhook = {
      scheme: { header: LabelStudio.secretHeader, digest: "none" },
      secrets: [Redacted.make(LabelStudio.secret)],
      onListening: (at: string) => Effect.asVoid(Deferred.succeed(url, at)),
    } as const
    const submitted = yield* submit
    assert.strictEqual(submitted.tasks.submitted.tasks, 2)
    const [{ dataset }] = yield* Effect.all([Pipeline.run({ ...pipeline, webhook }), judged], { concurrency: 2 })
    assert.strictEqual(dataset?.rows, 4)
    for (const { chosen, rationale, rejected, votes } of yield* pairs) {
      assert.deepStrictEqual([chosen < rejected, votes], [true, 2])
      assert.match(rationale ?? "", /correct/)
    }
  })

  test("a personal access token is exchanged once, and the cloud's import is awaited", function* () {
    const { fake, submit } = yield* pipelineAt({ isCloud: true, token: LabelStudio.personalToken }, { concurrency: 1 })
    const { tasks } = yield* submit
    assert.strictEqual(tasks.submitted.tasks, 2)
    assert.lengthOf(fake.created(), 4)
    assert.strictEqual(fake.exchanges(), 1)
  })

  for (const token of ["a-wrong-token", "eyJhbGciOiJub25lIn0.eyJleHAiOjR9.d3Jvbmc"]) {
    test(`the run ends at once with the wrong token ${token}, which it does not print`, function* () {
      const { fake, submit } = yield* pipelineAt({ token })
      const result = yield* Effect.result(submit)
      const failure = Result.isFailure(result) ? result.failure : undefined
      assert.instanceOf(failure, Tasks.AnnotationClientError)
      assert.strictEqual(failure.reason._tag, "AccessDenied")
      assert.notInclude(failure.message, token)
      assert.lengthOf(fake.created(), 0)
    })
  }

  test("only the prompt that Label Studio refuses is refused", function* () {
    const { fake, submit } = yield* pipelineAt({ refused })
    const { tasks } = yield* submit
    assert.deepStrictEqual([tasks.submitted.items, tasks.refused.items], [3, 1])
    assert.lengthOf(fake.created(), 3)
  })

  test("a task whose import failed in the background is in doubt, with the reason", function* () {
    const { pipeline, submit } = yield* pipelineAt({ isCloud: true, refused })
    yield* submit
    const issues = yield* Effect.provide(Job.issues, Pipeline.layer(pipeline))
    assert.deepStrictEqual(
      issues.map(({ state }) => state),
      ["in_doubt"],
    )
    assert.match(issues[0]?.reason ?? "", /import \d is failed: .*key is expected in task data/)
  })
})

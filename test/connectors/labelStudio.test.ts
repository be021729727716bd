/** Label Studio from file to dataset. The conformance suite has the faults. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Redacted, Result } from "effect"
import { Job, Pipeline, Source, Tasks } from "prefstream"
import { protocol } from "../../pipelines/connectors/labelStudio.ts"
import { itemLines, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as LabelStudio from "./labelStudio.ts"

const never = { min: "1 hour", max: "1 hour" } as const

/** A pipeline of four items at a fake. */
const pipelineAt = Effect.fnUntraced(function* (
  options: LabelStudio.Options & { readonly token?: string } = {},
  settings: Partial<Tasks.ServiceSettings> = {},
) {
  const fake = yield* Effect.acquireRelease(Effect.promise(LabelStudio.make(options)), ({ close }) =>
    Effect.promise(close),
  )
  const directory = yield* temporaryDirectory
  yield* write(`${directory}/items.jsonl`, itemLines(4))
  const pipeline = Pipeline.make({
    directory,
    source: Source.files(`${directory}/items.jsonl`),
    batch: { maxPrompts: 2, maxBytes: 1_000_000 },
    client: Tasks.AnnotationClient.layerProtocol(protocol({ project: LabelStudio.project })),
    service: Tasks.ServiceProfile.layer({
      baseUrl: fake.baseUrl,
      token: Redacted.make(options.token ?? fake.token),
      requestsPerSecond: 1000,
      pollInterval: { min: "10 millis", max: "50 millis" },
      ...settings,
    }),
  })
  const here = Effect.provide(Pipeline.layer(pipeline))
  return { directory, fake, here, pipeline }
})

describe("Label Studio", () => {
  test("a webhook with its secret in a header tells of results, which come from two annotators with a reason each", function* () {
    const { directory, fake, pipeline } = yield* pipelineAt({}, { pollInterval: never })
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
    const submitted = yield* Pipeline.submit(pipeline)
    assert.strictEqual(submitted.tasks.submitted.tasks, 2)
    const [{ dataset }] = yield* Effect.all([Pipeline.run({ ...pipeline, webhook }), judged], { concurrency: 2 })
    assert.strictEqual(dataset?.rows, 4)
    for (const { chosen, rationale, rejected, votes } of yield* pairsOf(directory)) {
      assert.deepStrictEqual([chosen < rejected, votes], [true, 2])
      assert.match(rationale ?? "", /correct/)
    }
  })

  test("a personal access token is exchanged once, and the cloud's import is awaited", function* () {
    const { fake, pipeline } = yield* pipelineAt(
      { isCloud: true, token: LabelStudio.personalToken },
      { concurrency: 1 },
    )
    const { tasks } = yield* Pipeline.submit(pipeline)
    assert.strictEqual(tasks.submitted.tasks, 2)
    assert.lengthOf(fake.created(), 4)
    assert.strictEqual(fake.exchanges(), 1)
  })

  for (const token of ["a-wrong-token", "eyJhbGciOiJub25lIn0.eyJleHAiOjR9.d3Jvbmc"]) {
    test(`the run ends at once with the wrong token ${token}, which it does not print`, function* () {
      const { fake, pipeline } = yield* pipelineAt({ token })
      const result = yield* Effect.result(Pipeline.submit(pipeline))
      const failure = Result.isFailure(result) ? result.failure : undefined
      assert.instanceOf(failure, Tasks.AnnotationClientError)
      assert.strictEqual(failure.reason._tag, "AccessDenied")
      assert.notInclude(failure.message, token)
      assert.lengthOf(fake.created(), 0)
    })
  }

  test("only the prompt that Label Studio refuses is refused", function* () {
    const refused = JSON.parse(itemLines(4)[2]!) as { readonly prompt: string }
    const { fake, pipeline } = yield* pipelineAt({ refused: refused.prompt })
    const { tasks } = yield* Pipeline.submit(pipeline)
    assert.deepStrictEqual([tasks.submitted.items, tasks.refused.items], [3, 1])
    assert.lengthOf(fake.created(), 3)
  })

  test("a task whose import failed in the background is in doubt, with the reason", function* () {
    const refused = JSON.parse(itemLines(4)[2]!) as { readonly prompt: string }
    const { here, pipeline } = yield* pipelineAt({ isCloud: true, refused: refused.prompt })
    yield* Pipeline.submit(pipeline)
    const issues = yield* here(Job.issues)
    assert.deepStrictEqual(
      issues.map(({ state }) => state),
      ["in_doubt"],
    )
    assert.match(issues[0]?.reason ?? "", /import \d is failed: .*key is expected in task data/)
  })
})

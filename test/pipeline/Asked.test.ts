/** How often items are put to the experts. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { defaultJob, Ledger } from "../../src/task/ledger/Ledger.ts"
import * as LedgerCheck from "../../src/task/ledger/care/LedgerCheck.ts"
import { submit } from "../../src/task/Submit.ts"
import { items, records } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const batch = { maxPrompts: 2, maxBytes: 1_000_000 }

describe("votes", () => {
  test("are in tasks of their own with keys of their own; more of them than before are for new items", function* () {
    const directory = yield* temporaryDirectory
    const service = yield* ScriptedService.make(ScriptedService.obliging, { concurrency: 1 })
    const process = inProcess(directory, service.profile)
    yield* submit(records(items(2)), { batch }).pipe(process)
    const report = yield* submit(records(items(4)), { batch, votes: 3 }).pipe(
      Effect.andThen(RunReport.make({})),
      process,
    )
    assert.deepStrictEqual(
      ScriptedService.posts(service).map(({ body }) =>
        (JSON.parse(body) as TaskRequest).prompts.map(({ prompt }) => prompt),
      ),
      [
        [0, 1],
        [2, 3],
        [2, 3],
        [2, 3],
      ].map((numbers) => numbers.map((i) => `prompt ${i}`)),
    )
    const keys = service.received.map(({ headers }) => headers["idempotency-key"])
    assert.strictEqual(new Set(keys).size, 4)
    assert.deepInclude(report, { read: 4, submitted: 4, known: 2, not_submitted: 0, votes: 3 })
    assert.deepStrictEqual(report.tasks.submitted, { tasks: 4, items: 8 })
  })

  test("that are too large are halved alike, with the keys of tasks that were planned so", function* () {
    const keysOf = Effect.fnUntraced(function* (most: number, maxPrompts: number) {
      const isLarge = ({ body }: ScriptedService.Received) => (JSON.parse(body) as TaskRequest).prompts.length > most
      const service = yield* ScriptedService.make(
        (request, before) =>
          isLarge(request)
            ? { status: 413, body: { title: "too large", status: 413 } }
            : ScriptedService.obliging(
                request,
                before.filter((earlier) => !isLarge(earlier)),
              ),
        { concurrency: 1 },
      )
      const directory = yield* temporaryDirectory
      const judged = yield* Effect.gen(function* () {
        yield* submit(records(items(4)), { batch: { maxPrompts, maxBytes: 1_000_000 }, votes: 2 })
        return yield* (yield* Ledger).counts
      }).pipe(inProcess(directory, service.profile))
      const { findings } = yield* LedgerCheck.check({ job: defaultJob }).pipe(
        Effect.provide(SqliteClient.layer({ filename: `${directory}/ledger.db` })),
      )
      assert.deepStrictEqual(findings, [])
      assert.deepStrictEqual(judged.submitted, { tasks: 4, items: 8 })
      return service.received
        .filter((request) => !isLarge(request))
        .map(({ body, headers }) => [headers["idempotency-key"], body])
    })
    assert.sameDeepMembers(yield* keysOf(2, 4), yield* keysOf(2, 2))
  })
})

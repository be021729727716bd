import { assert } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TaskRequests } from "../../../src/service/store/TaskRequests.ts"
import { create, store } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(TaskRequests.layer.pipe(Layer.provideMerge(store(":memory:"))))

const mebibytes = 1024 * 1024

test("what tasks ask for is kept in memory up to a size, those used last the longest", function* () {
  const requests = yield* TaskRequests
  const sql = yield* SqlClient.SqlClient
  for (let i = 0; i < 4; i++) yield* create([[`p${i}`, "a", "b"]])
  const read = yield* Effect.forEach([1, 2, 3, 4], requests.of)
  assert.deepStrictEqual(
    read.map(({ prompts }) => prompts[0]),
    [0, 1, 2, 3].map((i) => ({ prompt: `p${i}`, completions: ["a", "b"] })),
  )
  for (let seq = 1; seq <= 3; seq++) requests.keep(seq, read[seq - 1]!, 5 * mebibytes)
  yield* requests.of(1)
  requests.keep(4, read[3]!, 5 * mebibytes)
  // From here on only what is in memory can be read.
  yield* sql`DELETE FROM task_request`
  const found = yield* Effect.forEach([1, 2, 3, 4], (seq) => Effect.exit(requests.of(seq)))
  assert.deepStrictEqual(found.map(Exit.isSuccess), [true, false, true, true])
  requests.keep(1, read[0]!, 17 * mebibytes)
  const alone = yield* Effect.forEach([1, 3, 4], (seq) => Effect.exit(requests.of(seq)))
  assert.deepStrictEqual(alone.map(Exit.isSuccess), [false, false, false])
})

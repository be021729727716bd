/** A job in PostgreSQL with two workers beside each other. */
import { Context, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../src/node/PostgresClient.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import { newTasks, plan } from "../support.ts"

/** Who shares the job's ledger with others. */
export const openShared = (
  url: Redacted.Redacted<string>,
  shared: Parameters<typeof Ledger.layerPostgres>[0]["shared"],
) =>
  Effect.map(Layer.build(Layer.fresh(Ledger.layerPostgres({ url, shared }))), (context) => Context.get(context, Ledger))

/** Two workers of one job of so many tasks, each task a part. */
export const twoWorkers = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, tasks: number) {
  const one = yield* openShared(url, { by: "worker", name: "one" })
  const other = yield* openShared(url, { by: "worker", name: "other" })
  yield* plan(newTasks(tasks)).pipe(Effect.provideService(Ledger, one))
  const connect = Effect.map(Layer.build(Layer.fresh(PostgresClient.layer({ url }))), (context) =>
    Context.get(context, SqlClient.SqlClient),
  )
  return { one, other, connect, sql: yield* connect }
})

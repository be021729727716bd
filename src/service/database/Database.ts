/** The service's SQLite file. A write is one transaction, committed durably when it succeeds (`GroupCommit`). */
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Backoff from "../../io/Backoff.ts"
import * as GroupCommit from "../../sql/GroupCommit.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as Migrations from "../../sql/Migrations.ts"
import * as Readiness from "../../telemetry/Readiness.ts"
import { Actor, auditTables } from "./Audit.ts"
import { accountTables } from "./AccountTables.ts"
import * as FullDisk from "./FullDisk.ts"
import { deskTables } from "./DeskTables.ts"
import { taskTables } from "./TaskTables.ts"
import { webhookTables } from "./WebhookTables.ts"

const tables = [...taskTables, ...accountTables, ...webhookTables, ...auditTables, ...deskTables]

/** Before the first release, there are no migrations. A database with different tables is refused. */
const version = `0001_tables_${Sha256.hex(tables.join("\n")).slice(0, 8)}`

const migrate = Migrations.run({
  what: "the service's database",
  table: "prefstream_service_migration",
  migrations: {
    [version]: Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(tables, (table) => sql.unsafe(table))),
  },
})

/** Retries forever: the database may recover, and nothing else would resume the work. */
export const retryForever = Backoff.exponential("100 millis", "30 seconds")

/** Turns errors other than `SqlError` into values, so that the transaction still commits its other writes. */
const withRefusals = <A, E>(statements: Effect.Effect<A, E | SqlError>) =>
  Effect.matchEffect(statements, {
    onSuccess: (value) => Effect.succeed(Result.succeed(value)),
    onFailure: (error): Effect.Effect<Result.Result<A, E>, SqlError> =>
      isSqlError(error) ? Effect.fail(error) : Effect.succeed(Result.fail(error)),
  })

export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /**
     * Other writes share the transaction, so do not wait in `statements` for anything except the database. Only a
     * `SqlError` rolls the transaction back. Fail with other errors only before the first change.
     */
    readonly write: <A, E = never>(statements: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>
  }
>()("prefstream/service/Database") {
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* migrate
      yield* Readiness.requireDatabase
      const write = yield* FullDisk.watch(yield* GroupCommit.make(sql))
      return {
        sql,
        write: (statements) =>
          Effect.flatMap(Actor, (actor) =>
            write(withRefusals(actor === undefined ? statements : Effect.provideService(statements, Actor, actor))),
          ).pipe(Effect.flatMap(Effect.fromResult)),
      }
    }),
  )
}

/**
 * The tables of a database, brought up to date by numbered migrations.
 *
 * Guarantees: a migration runs once, in a transaction; a database that a newer
 * version of prefstream has written is refused, not guessed at.
 */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"

/** Migrations by name, `0001_create_tables` and so on. */
export type Migrations = Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>

/** The database was written by a version of prefstream that is newer than this one. */
export class DatabaseTooNew extends Schema.TaggedError<DatabaseTooNew>()("DatabaseTooNew", {
  /** What the database is: the ledger, the task store. */
  what: Schema.String,
  found: Schema.Int,
  known: Schema.Int,
}) {
  override get message() {
    return `${this.what} has version ${this.found}, this prefstream knows versions up to ${this.known}: install a newer prefstream`
  }
}

export interface MigrationsOptions {
  /** What the database is, for messages. */
  readonly what: string
  /** Remembers which migrations have run. */
  readonly table: string
  readonly migrations: Migrations
}

/** Runs the migrations that have not run yet. */
export const run = Effect.fn("Migrations.run")(function* (options: MigrationsOptions) {
  const { migrations, table } = options
  yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })
  yield* check(options)
})

/** Changes nothing: for a database that is only read. */
export const check = Effect.fn("Migrations.check")(function* (options: MigrationsOptions) {
  const { migrations, table, what } = options
  const sql = yield* SqlClient.SqlClient
  const known = Object.keys(migrations).length
  const rows = yield* sql<{ version: number }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`
  const found = Number(rows[0]?.version ?? 0)
  if (found > known) return yield* new DatabaseTooNew({ what, found, known })
})

/** The column type for bytes. */
export const bytes = Effect.map(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({ pg: () => sql.literal("BYTEA"), orElse: () => sql.literal("BLOB") }),
)

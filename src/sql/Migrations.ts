/** Runs each numbered migration once, in a transaction. Fails if a newer prefstream has written the database. */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import * as PostgresLock from "../node/PostgresLock.ts"

export type Migrations = Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>

/** A newer version of prefstream has written the database. */
export class DatabaseTooNew extends Schema.TaggedError<DatabaseTooNew>()("DatabaseTooNew", {
  /** The name of the database in messages, such as `the ledger`. */
  what: Schema.String,
  /** The version of the database: the number of its last migration. */
  found: Schema.Int,
  /** The highest version that this prefstream supports. */
  supported: Schema.Int,
}) {
  override get message() {
    return `${this.what} has version ${this.found}, but this prefstream supports versions up to ${this.supported}: install a newer prefstream`
  }
}

/** The database was written by another, unreleased version of prefstream, whose migrations differ. */
export class DatabaseForeign extends Schema.TaggedError<DatabaseForeign>()("DatabaseForeign", {
  /** The name of the database in messages, such as `the ledger`. */
  what: Schema.String,
  /** The migration's name in the database. */
  found: Schema.String,
  /** The migration's name in this prefstream; `nothing` if this prefstream has no migration with that number. */
  expected: Schema.String,
}) {
  override get message() {
    return `${this.what} has the tables of another, unreleased version of prefstream (expected migration "${this.expected}", found "${this.found}"): use that version, or another database`
  }
}

/** The database has tables, but not the tables of the expected database. */
export class DatabaseOccupied extends Schema.TaggedError<DatabaseOccupied>()("DatabaseOccupied", {
  /** The expected database's name in messages, such as `the ledger`. */
  what: Schema.String,
  /** The names of all tables in the database; for PostgreSQL, in the current schema. */
  tables: Schema.Array(Schema.String),
}) {
  override get message() {
    const shown = this.tables.slice(0, 5).join(", ")
    return `this database is not ${this.what}, but has other tables (${shown}${this.tables.length > 5 ? ", ..." : ""}): use a separate file, database, or schema for ${this.what}`
  }
}

/** The database needs an upgrade, but other processes use it. The database was not changed. */
export class DatabaseInUse extends Schema.TaggedError<DatabaseInUse>()("DatabaseInUse", {
  /** The name of the database in messages, such as `the ledger`. */
  what: Schema.String,
  /** The version of the database: the number of its last migration. */
  found: Schema.Int,
  /** The version to which this prefstream would upgrade the database. */
  supported: Schema.Int,
  /** Processes that use the database, such as `process 7 on host`. */
  users: Schema.Array(Schema.String),
}) {
  override get message() {
    return `cannot upgrade ${this.what} from version ${this.found} to version ${this.supported} while other processes use it: stop them (${this.users.join(", ")}), run this command again, and restart them with this version of prefstream`
  }
}

export interface MigrationsOptions {
  readonly what: string
  readonly table: string
  readonly migrations: Migrations
}

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    pg: () =>
      sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
    orElse: () => sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1`,
  })
  return rows.map(({ name }) => name)
})

export const exist = Effect.fn("Migrations.exist")(function* ({ table, what }: MigrationsOptions) {
  const existingTables = yield* tables
  if (existingTables.length === 0 || existingTables.includes(table)) return existingTables.length > 0
  return yield* new DatabaseOccupied({ what, tables: existingTables })
})

export const run = Effect.fn("Migrations.run")(function* (options: MigrationsOptions) {
  const { migrations, table, what } = options
  const sql = yield* SqlClient.SqlClient
  yield* exist(options)
  // This call applies no migration. It creates the table of applied migrations, which `check` reads.
  yield* Migrator.make({})({ loader: Migrator.fromRecord({}), table })
  const isNewest = Effect.map(check(options), ({ found, newest }) => found === newest)
  if (yield* isNewest) return
  const migrate = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }).pipe(
    Effect.mapError((error) =>
      SqlError.isSqlError(error.cause) && error.cause.reason._tag === "ConnectionError" ? error.cause : error,
    ),
  )
  const users = yield* sql.onDialectOrElse({
    pg: () => PostgresLock.changeTables(sql, migrate, isNewest),
    orElse: () => Effect.as(migrate, []),
  })
  const { found, newest } = yield* check(options)
  if (found < newest) return yield* new DatabaseInUse({ what, found, supported: newest, users })
})

export const check = Effect.fn("Migrations.check")(function* (options: MigrationsOptions) {
  const { migrations, table, what } = options
  const sql = yield* SqlClient.SqlClient
  const migrationNames = new Map(Object.keys(migrations).map((key) => [Number.parseInt(key), key.replace(/^\d+_/, "")]))
  const rows = yield* sql<{ migration_id: number; name: string }>`
    SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id`
  const version = Number(rows.at(-1)?.migration_id ?? 0)
  const newest = Math.max(...migrationNames.keys())
  for (const { migration_id, name } of rows) {
    if (Number(migration_id) > newest) break
    const expected = migrationNames.get(Number(migration_id)) ?? "nothing"
    if (name !== expected) return yield* new DatabaseForeign({ what, found: name, expected })
  }
  if (version > newest) return yield* new DatabaseTooNew({ what, found: version, supported: newest })
  return { found: version, newest }
})

export const bytes = Effect.map(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({ pg: () => sql.literal("BYTEA"), orElse: () => sql.literal("BLOB") }),
)

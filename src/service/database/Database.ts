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
import * as FullDisk from "./FullDisk.ts"
import { deskTables } from "./DeskTables.ts"
import { taskTables } from "./TaskTables.ts"

/** The tables of accounts. Secrets are stored only as hashes: passwords with scrypt, other secrets with SHA-256. */
const accountTables: ReadonlyArray<string> = [
  // `password` is null until the operator accepts the invitation. An `operator_no` is never reused, because the audit
  // log contains it.
  `CREATE TABLE operator (
    operator_no INTEGER PRIMARY KEY AUTOINCREMENT,
    name_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password TEXT,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    signed_in_at INTEGER
  )`,
  `CREATE TABLE session (
    hash TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
  )`,
  `CREATE INDEX session_subject ON session (kind, subject)`,
  `CREATE TABLE one_time_code (
    hash TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE INDEX one_time_code_subject ON one_time_code (kind, subject)`,
  `CREATE TABLE organization_token (
    seq INTEGER PRIMARY KEY,
    token_id TEXT NOT NULL UNIQUE,
    organization TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    expires_at BIGINT,
    revoked_at BIGINT
  )`,
]

/** The tables of webhooks. The secrets are plain text, so anybody who can read the database can forge signatures. */
const webhookTables: ReadonlyArray<string> = [
  `CREATE TABLE webhook_endpoint (
    endpoint_id INTEGER NOT NULL PRIMARY KEY CHECK (endpoint_id = 1),
    url TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    disabled_reason TEXT,
    paused_until INTEGER NOT NULL
  )`,
  `CREATE TABLE webhook_failure (
    endpoint_id INTEGER NOT NULL PRIMARY KEY REFERENCES webhook_endpoint (endpoint_id) ON DELETE CASCADE,
    since INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_status INTEGER,
    last_error TEXT
  )`,
  `CREATE TABLE webhook_secret (
    secret_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    secret TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  )`,
  // The payload is the last column, so that SQLite need not read it to get the others.
  `CREATE TABLE webhook_message (
    sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    group_id TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    step INTEGER NOT NULL,
    next_attempt_at INTEGER,
    finished_at INTEGER,
    last_status INTEGER,
    gathering TEXT,
    payload TEXT NOT NULL
  )`,
  `CREATE INDEX webhook_message_due ON webhook_message (next_attempt_at, sequence) WHERE state = 'waiting'`,
  // `gathering` is the key of the message's group if a newer message about that group may replace this one, else null.
  `CREATE UNIQUE INDEX webhook_message_gathering ON webhook_message (gathering) WHERE gathering IS NOT NULL`,
  `CREATE INDEX webhook_message_finished ON webhook_message (finished_at) WHERE state <> 'waiting'`,
  `CREATE TABLE webhook_attempt (
    sequence INTEGER NOT NULL REFERENCES webhook_message (sequence) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    url TEXT NOT NULL,
    status INTEGER,
    error TEXT,
    millis INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (sequence, number)
  )`,
]

const tables = [...taskTables, ...accountTables, ...webhookTables, ...auditTables, ...deskTables]

/** No migrations exist yet. The service refuses a database that has different table definitions. */
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
     * Runs `statements` in a transaction with other writes. `statements` must not wait for anything but the database. A
     * `SqlError` rolls the transaction back. After other errors, changes are kept, so fail before the first change.
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

/**
 * The tables of the annotation service, as numbered migrations.
 *
 * Guarantees: one set of statements for SQLite and PostgreSQL.
 *
 * `task` has one small row per task, so that a change of status does not rewrite
 * the payloads, and listing does not read them; those stand in `task_request` and
 * `task_result`, each written once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../sql/Migrations.ts"

const createTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const bytes = yield* Migrations.bytes

  yield* sql`CREATE TABLE task (
    task_id TEXT NOT NULL PRIMARY KEY,
    organization TEXT NOT NULL,
    idempotency_key TEXT,
    body_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    completed_at BIGINT
  )`
  yield* sql`CREATE INDEX task_pending ON task (created_at, task_id) WHERE status = 'pending'`
  yield* sql`CREATE TABLE task_request (task_id TEXT NOT NULL PRIMARY KEY, body ${bytes} NOT NULL)`
  yield* sql`CREATE TABLE task_result (task_id TEXT NOT NULL PRIMARY KEY, results ${bytes} NOT NULL)`
})

/** Creates the tables, or brings those of an older version up to date. */
export const migrate = Migrations.run({
  what: "the task store",
  table: "prefstream_service_migration",
  migrations: { "0001_create_tables": createTables },
})

/**
 * The audit log: what operators did, and who it was.
 *
 * Guarantees: an entry is stored in the same transaction as the change that it tells of, or not at all; entries cannot
 * be changed or deleted by the service. Who acts is taken from where `write` of `Database` was called.
 * Does not: record what experts do, what was refused, or reading; exclude somebody who edits the file.
 */
import { Clock, Context, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who changes something. The name is that of the time, since operators may be removed. */
export interface Actor {
  /** Null: who starts the service. */
  readonly operatorNo: number | null
  readonly name: string
}

/** Undefined: the service itself, experts, and clients; nothing is recorded of them. */
export const Actor = Context.Reference<Actor | undefined>("prefstream/service/Actor", {
  defaultValue: () => undefined,
})

/** Who starts the service, by flags of the command line. */
export const commandLine: Actor = { operatorNo: null, name: "command line" }

export type Details = Readonly<Record<string, string | number | boolean | null | ReadonlyArray<string>>>

export const createAuditTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE audit_entry (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    operator_no INTEGER,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX audit_of_actor ON audit_entry (actor, n)`
  yield* sql`CREATE INDEX audit_of_action ON audit_entry (action, n)`
  yield* sql`CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are not deleted');
  END`
  yield* sql`CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are not changed');
  END`
})

/**
 * Records what is done by the statements of the same write. Statements only.
 *
 * @param action a noun and a verb, such as `task.cancel`
 * @param subject the id or name of what it is done to
 */
export const record = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  action: string,
  subject: string,
  details: Details = {},
) {
  const actor = yield* Actor
  if (actor === undefined) return
  const { name, operatorNo: operator_no } = actor
  const at = yield* Clock.currentTimeMillis
  const row = { at, operator_no, actor: name, action, subject, details: JSON.stringify(details) }
  yield* sql`INSERT INTO audit_entry ${sql.insert(row)}`
})

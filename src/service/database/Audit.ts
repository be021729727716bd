/**
 * The audit log of operators' changes. An entry is stored in the same transaction as its change. The service cannot
 * change or delete entries, but somebody who edits the file can. Refused changes, reads, and actions of experts are not
 * recorded.
 */
import { Clock, Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The person who makes a change. The log keeps the name as it was then, because operators may be removed. */
export interface Actor {
  readonly operator_no: number | null
  readonly name: string
}

/** The actor is undefined if the service, an expert, or a client makes the change. `record` then writes nothing. */
export const Actor = Context.Reference<Actor | undefined>("prefstream/service/Actor", { defaultValue: () => undefined })

export const commandLine: Actor = { operator_no: null, name: "command line" }

export type Details = Readonly<Record<string, string | number | boolean | null | ReadonlyArray<string>>>

export const auditTables: ReadonlyArray<string> = [
  `CREATE TABLE audit_entry (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    operator_no INTEGER,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
  )`,
  `CREATE INDEX audit_of_actor ON audit_entry (actor, n)`,
  `CREATE INDEX audit_of_action ON audit_entry (action, n)`,
  `CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are not deleted');
  END`,
  `CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are not changed');
  END`,
]

/** Adds an entry. Call it inside the `Database.write` of the change. @param action a noun and a verb: `task.cancel` */
export const record = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  action: string,
  subject: string,
  details: Details = {},
) {
  const actor = yield* Actor
  if (actor === undefined) return
  const { name, operator_no } = actor
  const row = {
    at: yield* Clock.currentTimeMillis,
    operator_no,
    actor: name,
    action,
    subject,
    details: JSON.stringify(details),
  }
  yield* sql`INSERT INTO audit_entry ${sql.insert(row)}`
})

/**
 * Migration: operators get a number and a role, and can be invited before they have a password.
 *
 * Guarantees: operators of an older database stay, as admins, with their sessions.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const addOperatorRoles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // password: null until the operator accepts the invitation. Numbers are never reused, because the audit log refers to
  // them.
  yield* sql`CREATE TABLE operator_with_role (
    operator_no INTEGER PRIMARY KEY AUTOINCREMENT,
    name_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password TEXT,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    signed_in_at INTEGER
  )`
  yield* sql`INSERT INTO operator_with_role (name_key, name, password, role, created_at)
    SELECT name_key, name, password, 'admin', created_at FROM operator ORDER BY created_at, name_key`
  yield* sql`DROP TABLE operator`
  yield* sql`ALTER TABLE operator_with_role RENAME TO operator`
})

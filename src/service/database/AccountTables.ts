/**
 * The tables of operators, sessions, codes and tokens.
 *
 * Guarantees: no secret is stored. Passwords are hashed with scrypt, all other secrets with SHA-256.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createAccountTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE operator (
    name_key TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    created_at BIGINT NOT NULL
  )`
  yield* sql`CREATE TABLE session (
    hash TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX session_subject ON session (kind, subject)`
  yield* sql`CREATE TABLE one_time_code (
    hash TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX one_time_code_subject ON one_time_code (kind, subject)`
  yield* sql`CREATE TABLE organization_token (
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
  )`
})

/** The tables of accounts. Secrets are stored only as hashes: passwords with scrypt, other secrets with SHA-256. */

export const accountTables: ReadonlyArray<string> = [
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

/** The tables of webhooks. The secrets are plain text, so anybody who can read the database can forge signatures. */

export const webhookTables: ReadonlyArray<string> = [
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
  // `gathering` names a group whose event can still change (see `Outbox`). Each group has at most one such event.
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

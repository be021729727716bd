/**
 * The tables of the ledger. Times are epoch milliseconds. Within a job, each vote that an item may get has a number.
 * `item.seq` is the number of the item's first vote. `task.seq` is the lowest number of the votes that the task asks
 * for. Example: the first batch has 20 items, and each item may get two votes. The first votes have the numbers 0 to
 * 19, so `item.seq` is 0 to 19. The second votes have the numbers 20 to 39. The task for the second votes has
 * `task.seq` 20. If this task is split into two, the halves have `task.seq` 20 and 30.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../sql/Migrations.ts"

/** In the table `run`, `max_rejects` (the exceeded limit) and `failure` say why a run ended. */
const createInput = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const bytes = yield* Migrations.bytes
  yield* sql`CREATE TABLE job (
    job INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    parts INTEGER NOT NULL
  )`
  const compact = sql.onDialectOrElse({ sqlite: () => sql.literal("WITHOUT ROWID"), orElse: () => sql.literal("") })
  // `guidelines` are UTF-8 bytes, since PostgreSQL's texts cannot contain NUL.
  yield* sql`CREATE TABLE campaign (
    job INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    task_type TEXT NOT NULL,
    guidelines ${bytes},
    fingerprint TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    PRIMARY KEY (job, campaign)
  )`
  yield* sql`CREATE UNIQUE INDEX campaign_fingerprint ON campaign (job, fingerprint)`
  yield* sql`CREATE TABLE run (
    job INTEGER NOT NULL,
    run BIGINT NOT NULL,
    campaign INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    read_count BIGINT NOT NULL DEFAULT 0,
    new_count BIGINT NOT NULL DEFAULT 0,
    known_count BIGINT NOT NULL DEFAULT 0,
    duplicate_count BIGINT NOT NULL DEFAULT 0,
    reordered_count BIGINT NOT NULL DEFAULT 0,
    rejected_count BIGINT NOT NULL DEFAULT 0,
    read_finished INTEGER NOT NULL DEFAULT 0,
    votes INTEGER NOT NULL DEFAULT 1,
    shuffle_seed BIGINT,
    max_rejects TEXT,
    failure TEXT,
    PRIMARY KEY (job, run)
  )`
  // `content_hash` is null if it equals `item_id`. `run` is the first run that read the item.
  yield* sql`CREATE TABLE item (
    job INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT,
    batch BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    run BIGINT NOT NULL,
    PRIMARY KEY (job, campaign, item_id)
  ) ${compact}`
  yield* sql`CREATE INDEX item_batch ON item (job, batch, seq)`
  // Items of earlier runs that the last run read again. `end_seq` is the number after the last item of a range.
  yield* sql`CREATE TABLE known (
    job INTEGER NOT NULL,
    run BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    end_seq BIGINT NOT NULL,
    PRIMARY KEY (job, run, first_seq)
  )`
  yield* sql`CREATE TABLE reject (
    job INTEGER NOT NULL,
    run BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (job, run, ordinal)
  )`
  yield* sql`CREATE TABLE input (
    job INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    file TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    records BIGINT NOT NULL,
    -- Empty where they are not known.
    sha256 TEXT NOT NULL,
    etag TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    PRIMARY KEY (job, campaign, file, sha256, etag, last_modified)
  )`
  yield* sql`CREATE TABLE setting (
    job INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (job, name)
  )`
})

/**
 * One small row per task. Requests and results have their own tables, so that a change of state does not rewrite them.
 * - `new_items`: number of new items of the input, without gold items that were mixed in; 0 if `vote` is above 1.
 * - `attempt`: number of the attempt, from 1. Each further attempt has a new idempotency key.
 * - `part`: the part of the job that the task's batch belongs to. Batches are assigned to the parts in turn.
 * - `sent_at`: time when the attempt was first sent. Null if the service certainly did not create the task.
 * - `resend_at`: time when a person asked to resend the task.
 * - `task_id`: the task's id at the service. Two tasks never have the same id, because one result must not count twice.
 * - `expected`: a summary that the result must match (`Expected.ts`).
 *
 * In a shared job, the owner of a part (`part_owner`) claims a task before sending it. The claim has the owner's epoch
 * (`claim_epoch`), and lasts until `claim_until` (`Parts.ts`).
 */
const createTasks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const bytes = yield* Migrations.bytes
  yield* sql`CREATE TABLE task (
    job INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    campaign INTEGER NOT NULL,
    item_count INTEGER NOT NULL,
    new_items INTEGER NOT NULL,
    batch BIGINT NOT NULL,
    batch_items INTEGER NOT NULL,
    vote INTEGER NOT NULL,
    votes INTEGER NOT NULL,
    part INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    idempotency_key TEXT NOT NULL,
    state TEXT NOT NULL,
    task_id TEXT,
    reason TEXT,
    planned_at BIGINT NOT NULL,
    resend_at BIGINT,
    sent_at BIGINT,
    submitted_at BIGINT,
    completed_at BIGINT,
    pruned_at BIGINT,
    due_at BIGINT NOT NULL DEFAULT 0,
    claim_epoch BIGINT,
    claim_until BIGINT,
    PRIMARY KEY (job, seq)
  )`
  yield* sql`CREATE INDEX task_due ON task (job, state, due_at, seq, part)`
  yield* sql`CREATE UNIQUE INDEX task_by_id ON task (job, task_id)`
  yield* sql`CREATE TABLE part_owner (
    job INTEGER NOT NULL,
    part INTEGER NOT NULL,
    epoch BIGINT NOT NULL,
    owner TEXT NOT NULL,
    renewed_at BIGINT NOT NULL,
    progressed_at BIGINT NOT NULL,
    answered_at BIGINT NOT NULL,
    PRIMARY KEY (job, part)
  )`
  yield* sql`CREATE TABLE budget (
    job INTEGER NOT NULL PRIMARY KEY,
    free_at DOUBLE PRECISION NOT NULL,
    paused_at BIGINT NOT NULL,
    paused_until BIGINT NOT NULL,
    share DOUBLE PRECISION NOT NULL,
    cuts BIGINT NOT NULL,
    cut_at BIGINT NOT NULL
  )`
  yield* sql`CREATE TABLE task_attempt (
    job INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    task_id TEXT,
    state TEXT NOT NULL,
    reason TEXT,
    sent_at BIGINT,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (job, seq, attempt)
  )`
  yield* sql`CREATE INDEX task_attempt_by_id ON task_attempt (job, task_id)`
  // SQLite reads a row from its beginning, so the largest column comes last.
  yield* sql`CREATE TABLE task_request (
    job INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    expected TEXT NOT NULL,
    items ${bytes} NOT NULL,
    body ${bytes} NOT NULL,
    PRIMARY KEY (job, seq)
  )`
  yield* sql`CREATE TABLE task_result (
    job INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    body ${bytes} NOT NULL,
    PRIMARY KEY (job, seq)
  )`
  // PostgreSQL's default compression takes a fifth of a run's time. LZ4 is faster, but some servers do not have LZ4.
  const lz4 = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)`,
    orElse: () => Effect.succeed([]),
  })
  for (const table of lz4.length === 0 ? [] : ["task_request", "task_result"])
    yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN body SET COMPRESSION lz4`
})

/**
 * A row of `hint` asks for a poll of a task, because a webhook delivery named the task. If `task_id` is empty, the row
 * asks for polls of all tasks. `followed` is the number of polls that hints have caused since `since_at`.
 */
const createDeliveries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE delivery (
    job INTEGER NOT NULL,
    delivery_id TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (job, delivery_id)
  )`
  yield* sql`CREATE INDEX delivery_received ON delivery (job, received_at)`
  yield* sql`CREATE TABLE hint (
    job INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    pending INTEGER NOT NULL,
    followed INTEGER NOT NULL,
    since_at BIGINT NOT NULL,
    PRIMARY KEY (job, task_id)
  )`
})

/**
 * - `votes` in `task_attempt`: number of the attempt's votes that count against a budget.
 * - `over_budget_count`: number of a run's new items that exceeded the budget.
 * - `price_list` in `task`: number of the price list when the task was planned; null without prices.
 */
const addSpending = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE task ADD COLUMN canceled INTEGER NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE task_attempt ADD COLUMN votes INTEGER NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE run ADD COLUMN over_budget_count BIGINT NOT NULL DEFAULT 0`
  yield* sql`CREATE TABLE price_list (job INTEGER NOT NULL, list INTEGER NOT NULL, prices TEXT NOT NULL, PRIMARY KEY (job, list))`
  yield* sql`ALTER TABLE task ADD COLUMN price_list INTEGER`
  yield* sql`ALTER TABLE task ADD COLUMN vote_kinds TEXT`
  yield* sql`ALTER TABLE task_attempt ADD COLUMN price_list INTEGER`
  yield* sql`UPDATE task_attempt SET votes = CASE
      WHEN state = 'refused' OR (state IN ('planned', 'superseded') AND sent_at IS NULL) THEN 0
      ELSE COALESCE((SELECT item_count FROM task t WHERE t.job = task_attempt.job AND t.seq = task_attempt.seq), 0) END`
})

/** `least_votes`: number of votes per item that are planned at first. Null: all votes are planned at first. */
const addFurtherVotes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE task ADD COLUMN least_votes INTEGER`
})

/** `run`: number of the last run that read the file to its end. Existing rows get the number of the job's last run. */
const addRunOfInput = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE input ADD COLUMN run BIGINT NOT NULL DEFAULT 0`
  yield* sql`UPDATE input SET run = COALESCE((SELECT MAX(run) FROM run WHERE run.job = input.job), 0)`
})

/**
 * - `task_group`: the campaign's group at the service. Never changes once a task of the campaign is planned.
 * - `asks`: number of votes that the task asks for on each item. The first of these votes has the number `vote`.
 * - `gold_items`: number of the task's `new_items` that have a known answer. 0 in tasks for later votes.
 * - `waiting_items`: number of items on which no expert of the service could vote, according to the last poll.
 * - `voters` in `task` and `task_attempt`: who may vote (`judges`, `people`, or null for anyone).
 * - `voters` in `run`: who votes first on new items.
 */
const addVotesOfTask = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE campaign ADD COLUMN task_group TEXT`
  yield* sql`ALTER TABLE task ADD COLUMN asks INTEGER NOT NULL DEFAULT 1`
  yield* sql`ALTER TABLE task ADD COLUMN gold_items INTEGER NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE task ADD COLUMN waiting_items INTEGER NOT NULL DEFAULT 0`
  for (const table of ["run", "task", "task_attempt"]) yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN voters TEXT`
})

const migrations: Migrations.MigrationsOptions = {
  what: "the ledger",
  table: "prefstream_migration",
  migrations: {
    "0001_ledger": Effect.all([createInput, createTasks, createDeliveries], { discard: true }),
    "0002_spending_by_kind": addSpending,
    "0003_further_votes": addFurtherVotes,
    "0004_run_of_input": addRunOfInput,
    "0005_votes_of_task": addVotesOfTask,
  },
}

export const migrate = Migrations.run(migrations)

export const checkVersion = Migrations.check(migrations)

/** Whether the database has tables. Fails if it has only tables of another program. */
export const exists = Migrations.exist(migrations)

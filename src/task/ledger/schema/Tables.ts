/**
 * The tables of the ledger, the same for SQLite and PostgreSQL. Times are epoch milliseconds.
 *
 * `seq` is the ordinal of a task's first item in its job, over all campaigns. So a task can be split into two rows
 * without renumbering others. A batch has one range of `seq` for each vote, even if the vote is not planned yet. Each
 * range has `batch_items` numbers. The first range begins at `batch`, and contains `item.seq`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../sql/Migrations.ts"

/** Tables for the input and the terms of runs. `max_rejects` (the exceeded limit) and `failure` say why a run ended. */
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
  // `content_hash` is null if it equals the item's id. `run` is the run that found the item.
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
  // Spans of items that an earlier run stored and the last run read again. `end_seq` is the last item's `seq` plus 1.
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
 * One small row per task, so that a change of state does not rewrite its request and result.
 *
 * - `new_items`: the number of new items of the input, without gold items. If `vote` is above 1, this is 0.
 * - `attempt` increases when the items are planned again under another key.
 * - `part`: the part of the job that the task belongs to. Batches are assigned to parts in turn.
 * - `sent_at`: the start of the attempt's first request that the service may have accepted, or null.
 * - `resend_at`: the time when a person asked to resend the task.
 * - `pruned_at`: the time when the task's request and result were removed.
 * - `task_id` is unique, so that no result counts twice.
 * - `expected`: a summary that the result must match (`Expected.ts`).
 *
 * If several processes share a job, `part_owner` names the owner of each part. The owner claims a task before it sends
 * the task. `claim_epoch` is the part's epoch at that time, and `claim_until` is the end of the claim (`Parts.ts`).
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
})

/**
 * `delivery` contains recent webhook deliveries, to recognize repeated ones. A row of `hint` requests a poll of a task,
 * or of all tasks if `task_id` is empty. `followed` counts the polls that the hint caused since `since_at`.
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
 * - `canceled`: whether the service canceled a failed task.
 * - `votes` in `task_attempt`: the number of votes that count against a budget.
 * - `over_budget_count`: the number of a run's new items that were not planned, because they exceeded the budget.
 * - `price_list`: the number of the list of prices that applied when a task was planned, or null without prices.
 * - `prices`: prices as `domain/Prices` encodes them.
 * - `vote_kinds`: the kinds of experts as `VoteKinds` encodes them, if the task has a result.
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

/**
 * `least_votes` is the number of votes that are planned with the batch, or null for all votes. Further votes are
 * planned item by item.
 */
const addFurtherVotes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE task ADD COLUMN least_votes INTEGER`
})

/** `run` is the last run that read the file to its end. For files of older versions, it is the job's last run. */
const addRunOfInput = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE input ADD COLUMN run BIGINT NOT NULL DEFAULT 0`
  yield* sql`UPDATE input SET run = COALESCE((SELECT MAX(run) FROM run WHERE run.job = input.job), 0)`
})

/**
 * - `task_group`: the group of the campaign's tasks, or null without a group. It never changes once a task is planned.
 * - `asks`: the number of votes that the task asks for on each item. `vote` is the number of the first of these votes,
 *   and the task uses only the `seq` range of `vote`.
 * - `gold_items`: the number of new items of the input with a known answer. If `vote` is above 1, this is 0.
 * - `waiting_items`: the number of items of a submitted task that waited for another expert at its last poll.
 * - `voters`: the only experts who may vote (`judges` or `people`), or null for anyone. In the table `run`, these are
 *   the voters of new items.
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

/** Whether the ledger's tables exist. Fails if the database has only other tables. */
export const exists = Migrations.exist(migrations)

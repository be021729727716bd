/**
 * Checks the integrity of a ledger in one snapshot. A ledger without findings has exactly one task for each vote on an
 * item in a campaign. It has every request and result, and each matches its task. No two tasks have the same id at the
 * service. All stored counts match the rows.
 */
/* oxlint-disable max-lines -- this file is a list of checks, and each is a query */
import { Array as Arr, Effect, type Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import { causeMessage, excerpt, plural } from "../../../io/Values.ts"
import * as Snapshot from "../../../sql/Snapshot.ts"
import * as Jobs from "../schema/Jobs.ts"
import { votesOfTask } from "../reads/Charges.ts"
import { matchStored } from "../reads/ResultMatch.ts"
import { TaskState } from "../schema/Model.ts"
import { fits, parseRequest } from "../schema/Rows.ts"
import * as Expected from "../schema/Expected.ts"

/** A contradiction between rows of the ledger, or a damaged database page. */
export interface IntegrityIssue {
  /** The kind of contradiction, for programs. */
  readonly code:
    | "database_damaged"
    | "tasks_overlap"
    | "votes_inconsistent"
    | "items_astray"
    | "campaign_unknown"
    | "state_inconsistent"
    | "request_missing"
    | "result_missing"
    | "rows_orphaned"
    | "request_unreadable"
    | "result_unusable"
    | "task_id_repeated"
    | "key_repeated"
    | "attempts_inconsistent"
    | "counts_disagree"
  /** A description on one line, with the name of the task or item. */
  readonly message: string
}

/** Findings, and the number of rows that were checked. */
export interface CheckReport {
  /** The first findings: each check stops after about ten. */
  readonly findings: ReadonlyArray<IntegrityIssue>
  /** Tasks of the job, in all campaigns and states. */
  readonly tasks: number
  /** Items of all campaigns, without gold items that were mixed in. An item counts once per campaign. */
  readonly items: number
  /** Tasks with a recorded result that `prune` has not removed. */
  readonly results: number
  /** Tasks and items whose results `prune` has removed. */
  readonly pruned: { readonly tasks: number; readonly items: number }
  /** Duration of the check in seconds. */
  readonly seconds: number
}

export interface LedgerCheckOptions {
  readonly job: string
  /** Whether to skip requests and results, which take most of the time. Default false. */
  readonly quick?: boolean | undefined
}

const maxFindings = 10

const pageSize = 64

const taskName = (row: { readonly seq: number; readonly task_id?: string | null }): string =>
  `task ${row.seq + 1}${row.task_id == null ? "" : ` (${row.task_id})`}`

/** Checks a ledger. Fails only if the database cannot be read. */
export const check = Effect.fn("LedgerCheck.check")(function* (options: LedgerCheckOptions) {
  const started = yield* SteadyClock.now
  const { counted, findings } = yield* Snapshot.make(yield* SqlClient.SqlClient)(
    Effect.gen(function* () {
      // If pages are damaged, the rows are not checked, because their errors could be misleading.
      const damage = yield* damageOf
      if (damage.length > 0) return { findings: damage, counted: nothing }
      const { job } = yield* Jobs.find(options.job)
      const rows = yield* rowFindings(job)
      const tasks = yield* taskFindings(job, options)
      return { findings: [...rows, ...tasks], counted: yield* count(job) }
    }),
  )
  const report: CheckReport = { findings, ...counted, seconds: ((yield* SteadyClock.now) - started) / 1000 }
  return report
})

/** Reports the errors that SQLite's own check finds. If the check finds none, reports the parameter `error`. */
export const damageReport = Effect.fn("LedgerCheck.damageReport")(function* <E, R>(
  error: SqlError,
  client: Layer.Layer<SqlClient.SqlClient, E, R>,
): Effect.fn.Return<CheckReport, never, R> {
  const damage = yield* damageOf.pipe(
    Effect.provide(client),
    Effect.orElseSucceed(() => []),
  )
  return { findings: damage.length > 0 ? damage : [damaged(error.message)], ...nothing, seconds: 0 }
})

const nothing = { tasks: 0, items: 0, results: 0, pruned: { tasks: 0, items: 0 } }

const damaged = (message: string): IntegrityIssue => ({ code: "database_damaged", message })

export const isCorrupt = (error: unknown): error is SqlError =>
  isSqlError(error) && Schema.is(Schema.Struct({ errcode: Schema.Number }))(error.reason.cause)
    ? (error.reason.cause.errcode & 0xff) === 11
    : false

const damageOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    sqlite: () => sql<{ integrity_check: string }>`PRAGMA integrity_check(${sql.literal(String(maxFindings))})`,
    orElse: () => Effect.succeed([{ integrity_check: "ok" }]),
  })
  return rows.flatMap(({ integrity_check }) => (integrity_check === "ok" ? [] : [damaged(integrity_check)]))
})

const count = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly [Name in "tasks" | "items" | "results" | "pruned" | "pruned_items"]: number }>`
    SELECT COUNT(*) AS tasks, COALESCE(SUM(new_items), 0) AS items,
      COALESCE(SUM(CASE WHEN state = 'completed' AND pruned_at IS NULL THEN 1 ELSE 0 END), 0) AS results,
      COALESCE(SUM(CASE WHEN pruned_at IS NULL THEN 0 ELSE 1 END), 0) AS pruned,
      COALESCE(SUM(CASE WHEN pruned_at IS NULL THEN 0 ELSE new_items END), 0) AS pruned_items
    FROM task WHERE job = ${job}`
  const { items, pruned, pruned_items, results, tasks } = row!
  return { tasks, items, results, pruned: { tasks: pruned, items: pruned_items } }
})

const rowFindings = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const here = sql`job = ${job}`
  const both = (a: string, b: string) => sql.literal(`${a}.job = ${b}.job AND ${a}.seq = ${b}.seq`)

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each query names the type of its rows
  const finds = <Row extends object>(code: IntegrityIssue["code"], query: Fragment, message: (row: Row) => string) =>
    Effect.map(
      sql<Row>`SELECT * FROM (${query}) AS found LIMIT ${maxFindings}`,
      Arr.map((row): IntegrityIssue => ({ code, message: message(row) })),
    )

  interface Task {
    readonly seq: number
    readonly task_id: string | null
    readonly state: string
  }

  const findsTasks = (code: IntegrityIssue["code"], condition: Fragment, message: (row: Task) => string) =>
    finds<Task>(code, sql`SELECT seq, task_id, state FROM task WHERE ${here} AND (${condition}) ORDER BY seq`, message)

  const findsMissing = (name: "request" | "result", condition: Fragment) =>
    finds<Task>(
      `${name}_missing`,
      sql`SELECT t.seq, t.task_id FROM task t LEFT JOIN ${sql(`task_${name}`)} p ON ${both("p", "t")}
        WHERE t.job = ${job} AND p.seq IS NULL AND t.pruned_at IS NULL AND ${condition} ORDER BY t.seq`,
      (row) => `the ${name} of ${taskName(row)} is missing`,
    )

  return Arr.flatten([
    yield* finds<{ readonly seq: number; readonly expected: number }>(
      "tasks_overlap",
      sql`SELECT seq, expected FROM (
          SELECT seq, COALESCE(LAG(seq + item_count) OVER (ORDER BY seq), 0) AS expected,
            LAG(least_votes IS NOT NULL OR asks > 1) OVER (ORDER BY seq) AS "hasGap" FROM task WHERE ${here}
        ) AS ranges WHERE seq < expected OR (seq > expected AND "hasGap" IS NOT TRUE) ORDER BY seq`,
      (row) => `${taskName(row)} begins at item ${row.seq + 1}, but the previous task ends at item ${row.expected}`,
    ),
    yield* findsTasks(
      "votes_inconsistent",
      sql`vote < 1 OR asks < 1 OR vote + asks - 1 > votes OR batch_items < 1 OR new_items < 0 OR new_items > item_count
        OR (vote > 1 AND new_items > 0)
        OR seq < batch + (vote - 1) * batch_items OR seq + item_count > batch + vote * batch_items`,
      (row) => `the numbers of items and votes in the row of ${taskName(row)} contradict each other`,
    ),
    yield* finds<{ readonly batch: number }>(
      "votes_inconsistent",
      sql`SELECT batch FROM task WHERE ${here} GROUP BY batch HAVING MIN(seq) <> batch
          OR MIN(votes) <> MAX(votes) OR MIN(batch_items) <> MAX(batch_items) OR MIN(campaign) <> MAX(campaign)
          OR SUM(${sql.literal(votesOfTask)}) > MAX(votes) * MAX(batch_items)
          OR SUM(${sql.literal(votesOfTask)}) < COALESCE(MAX(least_votes), MAX(votes)) * MAX(batch_items) ORDER BY batch`,
      ({ batch }) =>
        `the batch that begins with task ${batch + 1} has too few or too many tasks, or its tasks have different campaigns, numbers of votes, or batch sizes`,
    ),
    yield* finds<{ readonly seq: number; readonly item_id: string }>(
      "items_astray",
      sql`SELECT seq, item_id FROM item WHERE ${here} AND (seq < 0 OR seq >=
        (SELECT COALESCE(MAX(seq + item_count), 0) FROM task WHERE ${here})) ORDER BY seq`,
      (row) => `the item ${row.item_id} is in no task`,
    ),
    yield* finds<{ readonly what: string; readonly number: number; readonly campaign: number }>(
      "campaign_unknown",
      sql`SELECT 'task' AS what, seq + 1 AS number, campaign FROM task WHERE ${here}
          AND campaign NOT IN (SELECT campaign FROM campaign WHERE ${here})
        UNION ALL SELECT 'run' AS what, run AS number, campaign FROM run WHERE ${here}
          AND campaign NOT IN (SELECT campaign FROM campaign WHERE ${here})`,
      ({ campaign, number, what }) => `${what} ${number} belongs to campaign ${campaign}, which does not exist`,
    ),
    yield* findsTasks(
      "state_inconsistent",
      sql`NOT ${sql.in("state", TaskState.literals)}
        OR (task_id IS NULL AND ${sql.in("state", ["submitted", "completed", "invalid", "failed"])})
        OR (task_id IS NOT NULL AND ${sql.in("state", ["planned", "submitting", "superseded"])})
        OR (pruned_at IS NOT NULL AND state <> 'completed')`,
      (row) => `${taskName(row)} has the state ${row.state}, which contradicts its other columns`,
    ),
    yield* findsMissing("request", sql`1 = 1`),
    yield* findsMissing("result", sql`t.state = 'completed'`),
    ...(yield* Effect.forEach(["task_request", "task_result", "task_attempt"], (table) =>
      finds<{ readonly seq: number }>(
        "rows_orphaned",
        sql`SELECT o.seq FROM ${sql(table)} o LEFT JOIN task t ON ${both("t", "o")}
          WHERE o.job = ${job} AND t.seq IS NULL ORDER BY o.seq`,
        (row) => `a row in ${table} belongs to task ${row.seq + 1}, which does not exist`,
      ),
    )),
    yield* finds<{ readonly task_id: string; readonly tasks: number }>(
      "task_id_repeated",
      sql`SELECT task_id, COUNT(DISTINCT seq) AS tasks FROM (
          SELECT task_id, seq FROM task WHERE ${here} AND task_id IS NOT NULL
          UNION ALL SELECT task_id, seq FROM task_attempt WHERE ${here} AND task_id IS NOT NULL
        ) AS named GROUP BY task_id HAVING COUNT(DISTINCT seq) > 1 ORDER BY task_id`,
      ({ task_id, tasks }) =>
        `${tasks} tasks have the same service id, ${task_id}: one result would count ${tasks} times`,
    ),
    yield* finds<{ readonly idempotency_key: string; readonly first: number }>(
      "key_repeated",
      sql`SELECT idempotency_key, MIN(seq) + 1 AS first FROM task WHERE ${here}
        GROUP BY idempotency_key HAVING COUNT(*) > 1 ORDER BY 2`,
      ({ first, idempotency_key }) => `task ${first} and other tasks have the same idempotency key, ${idempotency_key}`,
    ),
    yield* finds<{ readonly seq: number; readonly attempt: number }>(
      "attempts_inconsistent",
      sql`SELECT a.seq, a.attempt FROM task_attempt a JOIN task t ON ${both("t", "a")}
        WHERE a.job = ${job}
          AND (a.attempt > t.attempt OR (a.attempt = t.attempt AND t.state <> 'given_up')) ORDER BY a.seq`,
      (row) =>
        `attempt ${row.attempt} of ${taskName(row)} is in the list of ended attempts, but the task has no newer attempt`,
    ),
    yield* finds<{ readonly run: number; readonly read_count: number }>(
      "counts_disagree",
      sql`SELECT run, read_count FROM run WHERE ${here}
        AND read_count <> new_count + over_budget_count + known_count + duplicate_count + rejected_count ORDER BY run`,
      ({ read_count, run }) =>
        `in run ${run}, ${read_count} records were read, but the counts by outcome do not add up to this number`,
    ),
    yield* finds<{ readonly run: number; readonly rejected_count: number; readonly found: number }>(
      "counts_disagree",
      sql`SELECT * FROM (
          SELECT run, rejected_count, (SELECT COUNT(*) FROM reject j WHERE j.job = run.job AND j.run = run.run) AS found
          FROM run WHERE ${here}
        ) AS counted WHERE found <> rejected_count
          AND (found > 0 OR run = (SELECT MAX(run) FROM run WHERE ${here} AND read_count > 0)) ORDER BY run`,
      ({ found, rejected_count, run }) =>
        `run ${run} rejected ${rejected_count} ${plural(rejected_count, "record")}, but the ledger has ${found} of them`,
    ),
    yield* finds<{ readonly planned: number; readonly found: number }>(
      "counts_disagree",
      sql`SELECT * FROM (SELECT
          (SELECT COALESCE(SUM(new_count), 0) FROM run WHERE ${here}) AS planned,
          (SELECT COUNT(*) FROM item WHERE ${here}) AS found) AS counted WHERE planned <> found`,
      ({ found, planned }) => `the runs found ${planned} new items, but the ledger has ${found}`,
    ),
  ])
})

interface PayloadRow {
  readonly seq: number
  readonly task_id: string | null
  readonly campaign: number
  readonly state: string
  readonly item_count: number
  readonly new_items: number
  readonly batch: number
  readonly batch_items: number
  readonly vote: number
  readonly expected: string | null
  readonly items: Uint8Array | null
  readonly body: Uint8Array | null
  readonly result: Uint8Array | null
}

interface ItemRow {
  readonly seq: number
  readonly campaign: number
  readonly item_id: string
}

const taskFindings = Effect.fnUntraced(function* (job: number, { quick }: LedgerCheckOptions) {
  const sql = yield* SqlClient.SqlClient
  const payloads =
    quick === true
      ? sql`NULL AS expected, NULL AS items, NULL AS body, NULL AS result FROM task t`
      : sql`q.expected, q.items, q.body, r.body AS result FROM task t
          LEFT JOIN task_request q ON q.job = t.job AND q.seq = t.seq
          LEFT JOIN task_result r ON r.job = t.job AND r.seq = t.seq`
  const page = (
    after: number,
  ) => sql<PayloadRow>`SELECT t.seq, t.task_id, t.campaign, t.state, t.item_count, t.new_items,
      t.batch, t.batch_items, t.vote, ${payloads}
    WHERE t.job = ${job} AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`
  const findings: Array<IntegrityIssue> = []
  let after = -1
  while (findings.length < maxFindings) {
    const rows = yield* page(after)
    const last = rows.at(-1)
    if (last === undefined) return findings
    const batches = rows.map(({ batch }) => batch)
    const items = yield* sql<ItemRow>`SELECT seq, campaign, item_id FROM item WHERE job = ${job}
      AND batch >= ${Math.min(...batches)} AND batch <= ${Math.max(...batches)} ORDER BY batch, seq`
    const at = Map.groupBy(items, ({ seq }) => seq)
    for (const row of rows) {
      const own = itemsOf(row, at)
      const presentItems = own.filter((item) => item !== undefined).length
      if (row.vote === 1 && presentItems !== row.new_items) {
        findings.push({
          code: "items_astray",
          message: `${taskName(row)} was planned with ${row.new_items} new ${plural(row.new_items, "item")}, but the ledger has ${presentItems} of them`,
        })
      }
      findings.push(...payloadFinding(row, own, presentItems))
    }
    after = last.seq
  }
  return findings
})

/** A task's items by position. Undefined for a mixed-in gold item, or if several items claim the position. */
const itemsOf = (
  row: PayloadRow,
  at: ReadonlyMap<number, ReadonlyArray<ItemRow>>,
): ReadonlyArray<ItemRow | undefined> =>
  Array.from({ length: row.item_count }, (_, i) => {
    // `item.seq` is the number of the item's first vote. The number of vote n is `(n - 1) * batch_items` higher.
    const [item, ...more] = at.get(row.seq - (row.vote - 1) * row.batch_items + i) ?? []
    return more.length === 0 && item?.campaign === row.campaign ? item : undefined
  })

const payloadFinding = (
  row: PayloadRow,
  own: ReadonlyArray<ItemRow | undefined>,
  presentItems: number,
): ReadonlyArray<IntegrityIssue> => {
  const { body, items } = row
  if (body === null || items === null) return []
  const request = Result.try(() => parseRequest({ body, items }))
  const unreadable = (why: string): ReadonlyArray<IntegrityIssue> => [
    { code: "request_unreadable", message: `the request of ${taskName(row)} cannot be read: ${why}` },
  ]
  if (Result.isFailure(request)) return unreadable(reasonOf(request.failure))
  const stored = request.success
  const prompts = stored.prompts.length
  const expected = row.item_count
  if (prompts !== expected || stored.items.length !== expected) {
    return unreadable(
      `expected ${expected} prompts and items, found ${prompts} prompts and ${stored.items.length} items`,
    )
  }
  if (row.expected !== Expected.encode(stored.prompts)) {
    return unreadable("the prompts do not match the stored summary")
  }
  const ids = stored.items.map(({ check, item_id }) => (check === true ? undefined : item_id))
  const isWhole = presentItems === ids.filter((id) => id !== undefined).length
  const other = isWhole ? stored.items.find((_, i) => ids[i] !== own[i]?.item_id) : undefined
  if (other !== undefined)
    return unreadable(`item ${other.item_id} has different positions in the request and the ledger`)
  const misfit = stored.items.find((item, i) => !fits(item, stored.prompts[i]!))
  if (misfit !== undefined) return unreadable(`the stored details of item ${misfit.item_id} do not match its prompt`)
  if (row.state !== "completed" || row.result === null) return []
  const judged = matchStored({ ...stored, taskId: row.task_id ?? "" }, row.result)
  return Result.isSuccess(judged)
    ? []
    : [
        {
          code: "result_unusable",
          message: `the result of ${taskName(row)} cannot be used: ${excerpt(judged.failure, 200)}`,
        },
      ]
}

const reasonOf = (cause: unknown): string => excerpt(causeMessage(cause), 200)

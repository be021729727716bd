/** The states, requests, and results of tasks. A function that changes a state finishes after the change is on disk. */
/* oxlint-disable max-lines -- the changes of a task's state share their statements */
import { Duration, Effect, type Latch, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import type { writeHints } from "./Hints.ts"
import type * as Model from "../schema/Model.ts"
import * as Rows from "../schema/Rows.ts"
import * as Expected from "../schema/Expected.ts"
import type { Parts } from "./Parts.ts"
import { changedDue, changedDueNow, notDue } from "../schema/DueTimes.ts"
import * as Payload from "../schema/Payload.ts"
import * as Metrics from "../../../telemetry/Metrics.ts"
import { OtherService } from "../schema/WrongLedger.ts"

const pageSize = 64

/** Tasks in these states are polled once per run, because the service may have corrected the results. */
const rechecked = ["failed", "invalid"] as const satisfies ReadonlyArray<Model.TaskState>

const dueAtIn = (state: Model.TaskState): number => (rechecked.some((other) => other === state) ? notDue : 0)

const keyExpired = (lifetime: Duration.Duration): string =>
  `the request may have been sent more than ${Duration.format(lifetime)} ago, so the service may have forgotten its Idempotency-Key`

const keyIgnored =
  "an earlier run may have sent the request; if the service ignores the Idempotency-Key, resending can create a second task"

const sharedId = (taskId: string, owner: number): string =>
  `the service answered with the task id ${taskId}, which task ${owner} already has: one result cannot count for two tasks`

export const readTasks = ({ job, sql }: Model.LedgerContext) => ({
  /** The task's request. None if it was pruned. */
  storedRequest: Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ body: Uint8Array; items: Uint8Array }>`
      SELECT body, items FROM task_request WHERE job = ${job} AND seq = ${seq}`
    return Option.map(Option.fromUndefinedOr(rows[0]), (row): Model.StoredRequest => ({
      ...Rows.parseRequest(row),
      body: Payload.unpack(row.body),
    }))
  }),

  storedResult: Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ body: Uint8Array }>`SELECT body FROM task_result WHERE job = ${job} AND seq = ${seq}`
    return Option.map(Option.fromUndefinedOr(rows[0]), ({ body }) => body)
  }),
})

export const writeTasks = (
  { bodies, job, owned, sql, write }: Model.LedgerContext & { readonly owned: Parts },
  submitted: Latch.Latch,
  { followHints }: Pick<ReturnType<typeof writeHints>, "followHints">,
  { storedRequest }: ReturnType<typeof readTasks>,
) => {
  const here = sql`job = ${job}`

  const change = (name: string, statement: Effect.Effect<unknown, SqlError>) =>
    write(statement).pipe(Effect.asVoid, Effect.withSpan(`Ledger.${name}`))

  const holdInterruptedRows = sql`UPDATE task SET state = 'in_doubt',
      reason = 'the process ended, and the request may have been sent'
    WHERE ${here} AND state = 'submitting'`

  const expected = Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ expected: string; asks: number }>`SELECT q.expected, t.asks FROM task_request q
      JOIN task t ON t.job = q.job AND t.seq = q.seq WHERE q.job = ${job} AND q.seq = ${seq}`
    const { asks, expected } = rows[0]!
    return { asks, expected: Expected.decode(expected) } satisfies Expected.OfTask
  })

  /** SQL condition: the task still has the id that was polled, and its state still allows a new result. */
  const stillNamed = (taskId: string | undefined) =>
    taskId === undefined
      ? sql.literal("1 = 1")
      : sql`task_id = ${taskId} AND (${sql.in("state", ["submitted", "failed", "invalid"])}
          OR (state = 'completed' AND due_at < 0))`

  const setState = (seq: number, state: Model.TaskState, reason: string, taskId?: string, isCanceled = false) =>
    sql`UPDATE task SET state = ${state}, reason = ${Rows.storable(reason)}, due_at = ${dueAtIn(state)},
      canceled = ${isCanceled ? 1 : 0}
      WHERE ${here} AND seq = ${seq} AND ${stillNamed(taskId)} RETURNING seq`

  /** Commits a request's outcome. `change` must test `owned.isHeld`, because another process may have the claim. */
  const settled = <A>(seq: number, change: Effect.Effect<A, SqlError>) =>
    Effect.tap(write(change), () => Effect.sync(() => owned.forget(seq)))

  /** Supersedes tasks of an older campaign. Another process may have begun a new campaign in the meantime. */
  const supersedeOwn = (seqs: ReadonlyArray<number>) =>
    owned.isShared ? Rows.supersede({ job, sql }, sql.in("seq", seqs)) : Effect.void

  const setHeld = (seq: number, state: Model.TaskState, reason: string) =>
    sql`UPDATE task SET state = ${state}, reason = ${Rows.storable(reason)}, due_at = ${dueAtIn(state)}
      WHERE ${here} AND seq = ${seq} AND ${owned.isHeld(seq)} RETURNING seq`
  const markHeld = (state: "refused" | "in_doubt") => (seq: number, reason: string) =>
    settled(seq, setHeld(seq, state, reason)).pipe(
      Effect.ensuring(Effect.sync(() => bodies.drop(seq))),
      Effect.flatMap(({ length }) => Metrics.countTasks(state, length)),
    )
  const markRefused = markHeld("refused")
  const markInDoubt = markHeld("in_doubt")

  const holdShared = (seq: number, taskId: string, owner: number) => {
    const reason = sharedId(taskId, owner + 1)
    return Effect.map(setHeld(seq, "in_doubt", reason), (rows) => ({ rows, reason: Option.some(reason) }))
  }

  const markLost = (state: "failed" | "invalid", seq: number, reason: string, taskId?: string, isCanceled?: boolean) =>
    Effect.flatMap(write(setState(seq, state, reason, taskId, isCanceled)), ({ length }) =>
      Metrics.countTasks(state, length),
    )

  const storeResult = Effect.fnUntraced(function* (
    seq: number,
    result: string,
    state: "completed" | "invalid",
    reason: string | null,
    taskId: string | undefined,
    kinds: string | null = null,
  ) {
    const now = yield* SteadyClock.now
    const body = Payload.encode(result)
    const { length } = yield* write(
      Effect.gen(function* () {
        const rows =
          yield* sql`UPDATE task SET state = ${state}, reason = ${Rows.storable(reason)}, completed_at = ${Rows.completedAt(sql, now)},
          due_at = ${dueAtIn(state)}, vote_kinds = ${kinds}
          WHERE ${here} AND seq = ${seq} AND ${stillNamed(taskId)} RETURNING seq`
        if (rows.length === 0) return rows
        yield* sql`INSERT INTO task_result ${sql.insert({ job, seq, body })}
          ON CONFLICT (job, seq) DO UPDATE SET body = excluded.body`
        return rows
      }),
    )
    yield* Metrics.countTasks(state, length)
  })

  return {
    /** Sets interrupted tasks to `in_doubt`. Use this if the service may ignore idempotency keys. */
    holdInterrupted: change("holdInterrupted", holdInterruptedRows),
    /** Sets interrupted tasks to `planned`. Use this only if the service honors idempotency keys. */
    planInterrupted: change(
      "planInterrupted",
      sql`UPDATE task SET state = 'planned' WHERE ${here} AND state = 'submitting'`,
    ),
    /**
     * Decides about tasks that an earlier request may have created. With the outcome `planned`, such a task is planned
     * again if the service still knows the task's idempotency key. Otherwise, the task becomes `in_doubt`.
     */
    settleInterrupted: Effect.fn("Ledger.settleInterrupted")(function* (
      outcome: "planned" | "in_doubt",
      /** Time for which the service remembers idempotency keys. */
      lifetime: Duration.Duration = Duration.infinity,
    ) {
      // The service may have forgotten the idempotency keys of requests that were sent before this time.
      const since = Math.max(0, (yield* SteadyClock.now) - Duration.toMillis(lifetime))
      yield* write(
        Effect.gen(function* () {
          if (outcome === "planned") {
            yield* sql`UPDATE task SET state = 'planned'
            WHERE ${here} AND ${sql.in("state", owned.isShared ? ["in_doubt"] : ["submitting", "in_doubt"])}`
            yield* sql`UPDATE task SET state = 'in_doubt', reason = ${keyExpired(lifetime)}
            WHERE ${here} AND state = 'planned' AND sent_at < ${since}`
          } else {
            if (!owned.isShared) yield* holdInterruptedRows
            yield* sql`UPDATE task SET state = 'in_doubt', reason = ${keyIgnored}
            WHERE ${here} AND state = 'planned' AND sent_at IS NOT NULL`
          }
          yield* owned.tell("again")
        }),
      )
    }),
    /** Makes polls of failed and invalid tasks due. The tasks keep their state until the response. Polls are free. */
    recheck: Effect.suspend(() =>
      change(
        "recheck",
        sql`UPDATE task SET due_at = 0 WHERE ${here} AND ${sql.in("state", rechecked)} AND ${owned.areMine()}`,
      ),
    ),
    /** Makes completed tasks due, because their results may have changed. Omits pruned and imported tasks. */
    recheckCompleted: Effect.suspend(() =>
      change(
        "recheckCompleted",
        sql`UPDATE task SET due_at = ${changedDueNow}
        WHERE ${here} AND state = 'completed' AND submitted_at IS NOT NULL AND pruned_at IS NULL AND ${owned.areMine()}`,
      ),
    ),
    keepResult: (seq: number) =>
      change("keepResult", sql`UPDATE task SET due_at = 0 WHERE ${here} AND seq = ${seq} AND state = 'completed'`),
    /** Records the job's service. After the first request, another service can be recorded only if `moved` is true. */
    bindService: Effect.fn("Ledger.bindService")(function* (identity: string, moved: boolean) {
      const bound = yield* Rows.settingOf({ job, sql }, "service")
      if (bound === identity) return
      if (bound !== undefined && !moved) {
        const sent = yield* sql`SELECT 1 FROM task
        WHERE ${here} AND (task_id IS NOT NULL OR ${sql.in("state", ["submitting", "in_doubt"])}
          OR (state = 'planned' AND sent_at IS NOT NULL)) LIMIT 1`
        if (sent.length > 0) return yield* new OtherService({ ledger: bound, asked: identity })
      }
      yield* write(Rows.setSetting({ job, sql }, "service", identity))
    }),

    plannedAfter: Effect.fn("Ledger.plannedAfter")(function* (seq: number) {
      const rows = yield* sql<
        Omit<Model.PlannedTask, "sentAt"> & { readonly sentAt: number | null; readonly doubted: number }
      >`
      SELECT seq, part, item_count AS "itemCount", idempotency_key AS "idempotencyKey", sent_at AS "sentAt", vote,
        CASE WHEN reason IS NULL THEN 0 ELSE 1 END AS doubted FROM task
      WHERE ${owned.areToSend()} AND seq > ${seq} ORDER BY seq LIMIT ${pageSize}`
      return rows.map(({ doubted, sentAt, ...row }): Model.PlannedTask => ({
        ...row,
        sentAt: sentAt ?? undefined,
        wasDoubted: doubted === 1,
      }))
    }),
    /** The request of a task without a result. Such a request is never pruned. */
    request: (seq: number) => Effect.map(storedRequest(seq), Option.getOrThrow),
    requestBody: Effect.fnUntraced(function* (seq: number) {
      const body = bodies.get(seq)
      if (body !== undefined) return body
      const rows = yield* sql<{ body: Uint8Array }>`SELECT body FROM task_request WHERE ${here} AND seq = ${seq}`
      return Payload.unpack(rows[0]!.body)
    }),
    expected,
    /** Claims a task for `millis` milliseconds. False if it is no longer planned, or its part has another owner. */
    claim: Effect.fnUntraced(function* (
      { idempotencyKey, part = 0, seq }: Pick<Model.PlannedTask, "idempotencyKey" | "seq"> & { readonly part?: number },
      millis = 0,
    ) {
      const now = yield* SteadyClock.now
      const { assignments, claimed, fence } = owned.claiming({ part, seq }, millis)
      const rows =
        yield* write(sql`UPDATE task SET state = 'submitting', sent_at = COALESCE(sent_at, ${now}) ${assignments}
      ${fence} WHERE ${here} AND seq = ${seq} AND state = 'planned' AND idempotency_key = ${idempotencyKey} RETURNING seq`)
      if (rows.length > 0) claimed()
      return rows.length > 0
    }),
    /** Extends a claim before a retry. False if the claim was lost, or another worker owns the task's part. */
    keepClaim: Effect.fnUntraced(function* (task: Pick<Model.PlannedTask, "part" | "seq">, millis: number) {
      if (owned.worker === undefined) return true
      const held = owned.isHeld(task.seq)
      const { assignments, claimed, fence } = owned.claiming(task, millis)
      const rows = yield* write(sql`UPDATE task SET state = 'submitting' ${assignments}
      ${fence} WHERE ${here} AND seq = ${task.seq} AND state = 'submitting' AND ${held} RETURNING seq`)
      if (rows.length > 0) claimed()
      return rows.length > 0
    }),
    /** Plans the task again and clears `sent_at`. Use this only if the service cannot have created the task. */
    release: (seq: number) =>
      settled(
        seq,
        Effect.gen(function* () {
          yield* sql`UPDATE task SET state = 'planned', sent_at = NULL
          WHERE ${here} AND seq = ${seq} AND state = 'submitting' AND ${owned.isHeld(seq)}`
          yield* supersedeOwn([seq])
        }),
      ),
    /** Plans a task again. The service may have created it, so its `sent_at` and idempotency key do not change. */
    markPlanned: (seq: number) =>
      Effect.asVoid(
        settled(seq, sql`UPDATE task SET state = 'planned' WHERE ${here} AND seq = ${seq} AND ${owned.isHeld(seq)}`),
      ),
    /** Records a task's id. If another task has the id, this task becomes `in_doubt`, and the reason is returned. */
    markSubmitted: Effect.fnUntraced(function* (seq: number, taskId: string, firstPollDelay: number) {
      const now = yield* SteadyClock.now
      const { reason, rows } = yield* settled(
        seq,
        Effect.gen(function* () {
          const owner = yield* Rows.ownerOf({ job, sql }, taskId, seq)
          if (Option.isSome(owner)) return yield* holdShared(seq, taskId, owner.value)
          const named = Effect.map(
            sql`UPDATE task SET state = 'submitted', reason = NULL, task_id = ${taskId}, submitted_at = ${now},
            due_at = ${Math.ceil(now + firstPollDelay)}
            WHERE ${here} AND seq = ${seq} AND ${owned.isHeld(seq)} RETURNING seq`,
            (rows) => ({ rows, reason: Option.none<string>() }),
          )
          if (owned.worker === undefined) return yield* named
          // Another worker may have recorded the same id after the call of `ownerOf` above.
          return yield* sql
            .withTransaction(named)
            .pipe(
              Effect.catchReason("SqlError", "UniqueViolation", (_, failure) =>
                Effect.flatMap(Rows.ownerOf({ job, sql }, taskId, seq), (owner) =>
                  Option.isSome(owner) ? holdShared(seq, taskId, owner.value) : Effect.fail(failure),
                ),
              ),
            )
        }),
      )
      bodies.drop(seq)
      yield* Metrics.countTasks(Option.isSome(reason) ? "in_doubt" : "submitted", rows.length)
      yield* submitted.open
      return reason
    }),
    markRefused,
    markInDoubt,
    markKeyExpired: (seq: number, lifetime: Duration.Duration) => markInDoubt(seq, keyExpired(lifetime)),
    markKeyIgnored: (seq: number) => markInDoubt(seq, keyIgnored),
    /** @param isCanceled whether the service canceled the task, so that its votes are not paid for */
    markFailed: (seq: number, reason: string, taskId?: string, isCanceled?: boolean) =>
      markLost("failed", seq, reason, taskId, isCanceled),
    markCompleted: (seq: number, result: string, taskId?: string, kinds?: string | null) =>
      storeResult(seq, result, "completed", null, taskId, kinds),
    /** Without `result`, an earlier result is kept. */
    markInvalid: (seq: number, result: string | undefined, reason: string, taskId?: string) =>
      result === undefined
        ? markLost("invalid", seq, reason, taskId)
        : storeResult(seq, result, "invalid", reason, taskId),
    ownerOf: (taskId: string, seq: number) => Rows.ownerOf({ job, sql }, taskId, seq),
    /** Replaces a task with two tasks, each for half of the items. The first one keeps the `seq`. */
    split: Effect.fnUntraced(function* (
      seq: number,
      halves: ReadonlyArray<{ readonly idempotencyKey: string } & Model.StoredRequest>,
    ) {
      const now = yield* SteadyClock.now
      const rows = halves.map(Rows.withPayload)
      bodies.drop(seq)
      yield* settled(
        seq,
        Effect.gen(function* () {
          const [whole] = yield* sql<
            Model.BatchPlace & {
              readonly campaign: number
              readonly part: number
              readonly attempt: number
              readonly leastVotes: number | null
              readonly resendAt: number | null
              readonly priceList: number | null
            }
          >`DELETE FROM task WHERE ${here} AND seq = ${seq} AND ${owned.isHeld(seq)}
          RETURNING campaign, part, attempt, least_votes AS "leastVotes", resend_at AS "resendAt",
            price_list AS "priceList", ${sql.literal(Rows.batchColumns)}`
          if (whole === undefined) return
          yield* sql`DELETE FROM task_request WHERE ${here} AND seq = ${seq}`
          let at = seq
          const halves = rows.map((half) => {
            const first = at
            at += half.items.length
            return { ...whole, ...half, seq: first, plannedAt: now }
          })
          yield* Rows.insertTasks({ job, sql }, halves)
          yield* supersedeOwn(halves.map(({ seq }) => seq))
        }),
      )
    }),
    markOpen: (seq: number, taskId: string) =>
      Effect.asVoid(
        write(sql`UPDATE task SET state = 'submitted', reason = NULL, due_at = 0
        WHERE ${here} AND seq = ${seq} AND ${stillNamed(taskId)}`),
      ),
    makeDue: Effect.suspend(() =>
      change("makeDue", sql`UPDATE task SET due_at = 0 WHERE ${here} AND state = 'submitted' AND ${owned.areMine()}`),
    ),
    /** Makes each task's next poll due within `millis` milliseconds. An earlier run may have set later times. */
    dueWithin: Effect.fn("Ledger.dueWithin")(function* (millis: number) {
      const latest = Math.ceil((yield* SteadyClock.now) + millis)
      yield* write(sql`UPDATE task SET due_at = ${latest}
      WHERE ${here} AND state = 'submitted' AND due_at > ${latest} AND ${owned.areMine()}`)
    }),
    /** Follows hints (see `Hints`). Then returns the tasks that are due by `horizon` (default: now), earliest first. */
    due: Effect.fn("Ledger.due")(function* (
      limit: number,
      horizon: Option.Option<number>,
      underWay: ReadonlySet<string> = new Set(),
    ) {
      const hintWait = yield* followHints(underWay)
      const at = Option.isSome(horizon) ? horizon.value : yield* SteadyClock.now
      // Each state has its own query, because the index then returns the rows in the right order, without sorting.
      const rowsByState = yield* Effect.forEach(["submitted", "completed", ...rechecked] as const, (state) =>
        sql<Model.OpenTask>`SELECT seq, task_id AS "taskId", idempotency_key AS "idempotencyKey", submitted_at AS "submittedAt",
        due_at AS "dueAt", voters FROM task
        WHERE ${here} AND state = ${state} AND due_at < ${state === "completed" ? 0 : notDue} AND ${owned.areMine()}
        ORDER BY due_at ${sql.literal(state === "completed" ? "DESC" : "ASC")}, seq LIMIT ${limit}`.pipe(
          Effect.map((rows) =>
            rows.map((row) => ({
              ...row,
              isRecheck: state !== "submitted",
              hasResult: state === "completed",
              dueAt: state === "completed" ? changedDue(row.dueAt) : row.dueAt,
            })),
          ),
        ),
      )
      const rows = rowsByState
        .flat()
        .toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
        .slice(0, limit)
      const tasks = rows.filter(({ dueAt }) => dueAt <= at)
      const waits = [...Option.toArray(hintWait), ...rows.slice(0, 1).map(({ dueAt }) => Math.max(0, dueAt - at))]
      return {
        tasks,
        /** Milliseconds until the next poll. None if no task is outstanding. */
        wait: rows.length === 0 ? Option.none<number>() : Option.some(Math.min(...waits)),
      }
    }),
    /** @param waiting items that wait for an expert; undefined if the poll failed */
    postpone: Effect.fnUntraced(function* (seq: number, millis: number, taskId?: string, waiting?: number) {
      const now = yield* SteadyClock.now
      const at = Math.ceil(now + millis)
      yield* write(sql`UPDATE task SET due_at = CASE state WHEN 'completed' THEN CAST(${changedDue(at)} AS BIGINT)
        ELSE CAST(${at} AS BIGINT) END, waiting_items = ${waiting ?? sql.literal("waiting_items")}
      WHERE ${here} AND seq = ${seq} AND ${stillNamed(taskId)}`)
    }),
  }
}

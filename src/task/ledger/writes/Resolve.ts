/**
 * Carries out decisions about tasks that have no result. A person decides with `prefstream resolve`, or the option
 * `resubmit` decides. A person's decision changes all the chosen tasks or none of them, even while workers send and
 * poll. No two tasks get the same id at the service. If a new attempt has another idempotency key, the table
 * `task_attempt` keeps the earlier attempt.
 */
import { Array as Arr, Effect, type Latch, Number as Num, Option, Result } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import type { Voters } from "../../../domain/Voters.ts"
import * as Sha256 from "../../../node/Sha256.ts"
import { votesOfAttempt, votesOfTask } from "../reads/Charges.ts"
import type { Issue, LedgerContext, TaskState } from "../schema/Model.ts"
import { NoSuchTask, NotResolvable, TaskIdTaken } from "../schema/NotResolved.ts"
import { forUpdate, inChunks, ownerOf, priceListOf } from "../schema/Rows.ts"
import type { Parts } from "./Parts.ts"
import { reserveWithin } from "./Spending.ts"
import { issueColumns } from "../reads/Status.ts"

/** States of tasks that a run can resubmit. */
export type Replannable = "failed" | "invalid" | "refused"

const settleable: ReadonlyArray<TaskState> = ["in_doubt", "failed", "invalid", "refused", "given_up"]
const givable: ReadonlyArray<TaskState> = [
  "planned",
  "submitted",
  "in_doubt",
  "failed",
  "invalid",
  "refused",
  "superseded",
]

const nextKey = (key: string, attempt: number): string => Sha256.hex(JSON.stringify([key, attempt + 1]))

export const readAttempts = ({ job, sql }: LedgerContext) => {
  const here = sql`job = ${job}`

  const tasksOf = Effect.fn("Ledger.tasksOf")(function* (numbers: ReadonlyArray<number>) {
    const rows = yield* inChunks(
      numbers.map((number) => number - 1),
      (seqs) =>
        sql<Issue>`SELECT ${sql.literal(issueColumns)} FROM task WHERE ${here} AND ${sql.in("seq", seqs)} ORDER BY seq`,
    )
    const tasks = new Map(rows.flat().map((task) => [task.number, task]))
    return yield* Effect.forEach([...new Set(numbers)], (number) => {
      const task = tasks.get(number)
      return task === undefined ? Effect.fail(new NoSuchTask({ number })) : Effect.succeed(task)
    })
  })

  const attempts = Effect.fn("Ledger.attempts")(function* (number: number) {
    return yield* sql<{
      readonly attempt: number
      readonly taskId: string | null
      readonly state: TaskState
      readonly reason: string | null
      readonly sentAt: number | null
      readonly endedAt: number
    }>`SELECT attempt, task_id AS "taskId", state, reason, sent_at AS "sentAt", ended_at AS "endedAt" FROM task_attempt
      WHERE ${here} AND seq = ${number - 1} ORDER BY attempt`
  })

  return { tasksOf, attempts }
}

export const writeDecisions = (
  { job, sql, tell, write }: LedgerContext & Pick<Parts, "tell">,
  planned: Latch.Latch,
  { tasksOf }: ReturnType<typeof readAttempts>,
) => {
  const here = sql`job = ${job}`

  const decide = Effect.fnUntraced(function* <E = never>(
    numbers: ReadonlyArray<number>,
    verb: NotResolvable["verb"],
    states: ReadonlyArray<TaskState>,
    change: (tasks: ReadonlyArray<Issue>, now: number) => Effect.Effect<Result.Result<void, E>, SqlError>,
    only?: TaskState,
  ) {
    const now = yield* SteadyClock.now
    const decided = yield* write(
      Effect.gen(function* (): Effect.fn.Return<
        Result.Result<ReadonlyArray<Issue>, E | NoSuchTask | NotResolvable>,
        SqlError
      > {
        yield* inChunks(
          numbers.map((number) => number - 1),
          (seqs) => sql`SELECT 1 FROM task WHERE ${here} AND ${sql.in("seq", seqs)} ORDER BY seq ${forUpdate(sql)}`,
        )
        const lookup = yield* Effect.result(tasksOf(numbers))
        if (Result.isFailure(lookup))
          return lookup.failure._tag === "SqlError" ? yield* lookup.failure : Result.fail(lookup.failure)
        const tasks = lookup.success.filter(({ state }) => only === undefined || state === only)
        const other = tasks.find(({ state }) => !states.includes(state))
        return other === undefined
          ? Result.map(yield* change(tasks, now), () => tasks)
          : Result.fail(new NotResolvable({ number: other.number, state: other.state, verb }))
      }),
    )
    return yield* Effect.fromResult(decided)
  })

  const keepAttempt = ({ attempt, idempotencyKey, reason, sentAt, seq, state, taskId }: Issue, now: number) =>
    sql`INSERT INTO task_attempt
      (job, seq, attempt, idempotency_key, task_id, state, reason, sent_at, ended_at, price_list, voters, votes)
      SELECT job, seq, ${attempt}, ${idempotencyKey}, ${taskId}, ${state}, ${reason}, ${sentAt}, ${now}, price_list, voters,
        ${sql.literal(votesOfAttempt({ sentAt, state }))} FROM task WHERE ${here} AND seq = ${seq}`

  const revive = Effect.fnUntraced(function* (task: Issue) {
    if (task.state !== "given_up") return task
    const rows = yield* sql<{ state: TaskState; reason: string | null }>`DELETE FROM task_attempt
      WHERE ${here} AND seq = ${task.seq} AND attempt = ${task.attempt} RETURNING state, reason`
    return rows[0] === undefined ? task : { ...task, ...rows[0] }
  })

  const planAgain = Effect.fnUntraced(function* (task: Issue, now: number) {
    yield* keepAttempt(task, now)
    yield* sql`UPDATE task SET state = 'planned', attempt = ${task.attempt + 1},
      idempotency_key = ${nextKey(task.idempotencyKey, task.attempt)}, task_id = NULL, reason = NULL,
      price_list = ${yield* priceListOf({ job, sql })}, planned_at = ${now}, resend_at = NULL, sent_at = NULL, submitted_at = NULL, completed_at = NULL, due_at = 0
      WHERE ${here} AND seq = ${task.seq}`
  })

  /** The caller checks that the tasks exist at the service with the same items. */
  const adopt = Effect.fn("Ledger.adopt")(function* (
    numbers: ReadonlyArray<number>,
    taskIds: ReadonlyArray<string>,
  ): Effect.fn.Return<ReadonlyArray<Issue>, SqlError | NoSuchTask | NotResolvable | TaskIdTaken> {
    return yield* decide(
      numbers,
      "adopt",
      settleable,
      Effect.fnUntraced(function* (issues, now) {
        for (const [i, taskId] of taskIds.entries()) {
          const other = numbers[taskIds.indexOf(taskId)]!
          if (other !== numbers[i]) return Result.fail(new TaskIdTaken({ taskId, number: other }))
          const owner = yield* ownerOf({ job, sql }, taskId, numbers[i] - 1)
          if (Option.isSome(owner)) return Result.fail(new TaskIdTaken({ taskId, number: owner.value + 1 }))
        }
        for (const [i, issue] of issues.entries()) {
          const taskId = taskIds[i]!
          const task = yield* revive(issue)
          const again = task.state !== "in_doubt" && task.taskId !== taskId
          if (again) yield* keepAttempt(task, now)
          yield* sql`UPDATE task SET state = 'submitted', task_id = ${taskId}, reason = NULL, due_at = 0,
            attempt = ${task.attempt + (again ? 1 : 0)},
            idempotency_key = ${again ? nextKey(task.idempotencyKey, task.attempt) : task.idempotencyKey},
            submitted_at = ${task.sentAt ?? now}, completed_at = NULL WHERE ${here} AND seq = ${task.seq}`
        }
        yield* tell("again")
        return Result.void
      }),
    )
  })

  /**
   * The next run sends the tasks, even if the run is in another campaign. An `in_doubt` task keeps its idempotency key.
   * If the service ignores the key, the service may create and bill a second task.
   */
  const sendAgain = Effect.fn("Ledger.sendAgain")(function* (
    numbers: ReadonlyArray<number>,
    only?: TaskState,
  ): Effect.fn.Return<ReadonlyArray<Issue>, SqlError | NoSuchTask | NotResolvable> {
    const tasks = yield* decide(
      numbers,
      "resend",
      settleable,
      Effect.fnUntraced(function* (tasks, now) {
        for (const issue of tasks) {
          const task = yield* revive(issue)
          const { seq, state } = task
          if (state === "superseded") {
            yield* sql`UPDATE task SET price_list = ${yield* priceListOf({ job, sql })} WHERE ${here} AND seq = ${seq}`
          }
          yield* state === "in_doubt" || state === "planned" || state === "superseded"
            ? sql`UPDATE task SET state = 'planned', reason = NULL, sent_at = NULL, due_at = 0
                WHERE ${here} AND seq = ${seq}`
            : planAgain(task, now)
          yield* sql`UPDATE task SET resend_at = ${now} WHERE ${here} AND seq = ${seq}`
        }
        yield* tell("again")
        return Result.void
      }),
      only,
    )
    yield* planned.open
    return tasks
  })

  const giveUp = Effect.fn("Ledger.giveUp")(function* (
    numbers: ReadonlyArray<number>,
    only?: TaskState,
  ): Effect.fn.Return<ReadonlyArray<Issue>, SqlError | NoSuchTask | NotResolvable> {
    return yield* decide(
      numbers,
      "give up",
      givable,
      Effect.fnUntraced(function* (tasks, now) {
        for (const task of tasks) {
          yield* keepAttempt(task, now)
          const before = task.reason === null ? task.state.replace("_", " ") : task.reason
          yield* sql`UPDATE task SET state = 'given_up', reason = ${`given up; before: ${before}`}
            WHERE ${here} AND seq = ${task.seq}`
        }
        return Result.void
      }),
      only,
    )
  })

  const replannable = Effect.fn("Ledger.replannable")(function* (
    campaign: number,
    states: ReadonlyArray<Replannable>,
    maxAttempts: number,
  ) {
    if (!Arr.isReadonlyArrayNonEmpty(states)) return []
    const rows = yield* sql<Issue>`SELECT ${sql.literal(issueColumns)} FROM task
      WHERE ${here} AND campaign = ${campaign} AND ${sql.in("state", states)} AND attempt < ${maxAttempts} ORDER BY seq`
    return rows
  })

  /** Plans another attempt of each task, as far as the budget allows. Returns the number of planned attempts. */
  const replan = Effect.fn("Ledger.replan")(function* (
    campaign: number,
    states: ReadonlyArray<Replannable>,
    maxAttempts: number,
    only?: ReadonlySet<number>,
  ) {
    const tasks = (yield* replannable(campaign, states, maxAttempts)).filter(({ seq }) => only?.has(seq) ?? true)
    const now = yield* SteadyClock.now
    /** Locks a task. Undefined if a worker has changed the task's state. */
    const lock = ({ attempt, seq, state }: Issue) =>
      Effect.map(
        sql<{ votes: number; voters: Voters | null }>`UPDATE task SET state = state
          WHERE ${here} AND seq = ${seq} AND state = ${state} AND attempt = ${attempt}
          RETURNING ${sql.literal(votesOfTask)} AS votes, voters`,
        (rows) => rows[0],
      )
    const counts = yield* Effect.forEach(Arr.chunksOf(tasks, 256), (some) =>
      write(
        Effect.gen(function* () {
          const reserve = yield* reserveWithin({ job, sql })
          let count = 0
          for (const task of some) {
            const locked = yield* lock(task)
            if (locked === undefined || !reserve(locked)) continue
            yield* planAgain(task, now)
            count++
          }
          yield* tell("again")
          return count
        }),
      ),
    )
    const count = Num.sumAll(counts)
    if (count > 0) yield* planned.open
    return count
  })

  return { adopt, sendAgain, giveUp, replannable, replan }
}

/**
 * Webhook deliveries, and hints. A hint is a stored request to poll a task soon. A delivery creates hints, unless it
 * repeats an earlier delivery. A delivery can arrive before the ledger has the id of its task. Therefore, an unknown id
 * also gets a hint if any task has no id yet. Hints cause at most `maxPollsPerMinute` polls per task and minute, so
 * that many deliveries do not delay other polls.
 */
import { Duration, Effect, type Latch, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import { maxTolerance } from "../../../api/WebhookSignature.ts"
import type { Delivery, DeliveryOutcome, LedgerContext } from "../schema/Model.ts"
import type { Parts } from "./Parts.ts"
import { changedDueNow } from "../schema/DueTimes.ts"
import { forUpdate, inChunks, isAny, setSetting } from "../schema/Rows.ts"

export const rememberedMillis = 2 * Duration.toMillis(maxTolerance)

export const maxPollsPerMinute = 5

const minute = Duration.toMillis("1 minute")

const forgetInterval = Duration.toMillis("10 seconds")

const allTasks = ""

const never = -1

export const readHints = ({ job, sql }: LedgerContext) => ({
  /** Number of deliveries, without repetitions, and the time of the last one in epoch milliseconds. */
  deliveries: Effect.gen(function* () {
    const rows = yield* sql<{ name: string; value: string }>`SELECT name, value FROM setting
      WHERE job = ${job} AND ${sql.in("name", ["deliveries", "last_delivery"])}`
    const valueOf = (name: string) => Option.fromNullishOr(rows.find((row) => row.name === name)?.value)
    return {
      received: Number(Option.getOrElse(valueOf("deliveries"), () => "0")),
      last: Option.map(valueOf("last_delivery"), Number),
    }
  }).pipe(Effect.withSpan("Ledger.deliveries")),
})

export const writeHints = (
  { job, owned, sql, write }: LedgerContext & { readonly owned: Parts },
  hinted: Latch.Latch,
) => {
  const here = sql`job = ${job}`
  let lastDelivery = Option.none<number>()
  const delivered = Effect.map(SteadyClock.now, (now) => void (lastDelivery = Option.some(now)))
  /**
   * `at`: time of the last hint that was for all tasks and caused polls.
   * `followed`: number of such hints since `since`.
   */
  let lastHintForAll = { at: never, followed: 0, since: 0 }

  let forgotten = -Infinity

  const forgetOld = Effect.fnUntraced(function* (now: number) {
    if (now < forgotten + forgetInterval) return
    forgotten = now
    const old = now - rememberedMillis
    const skipLocked = forUpdate(sql, "SKIP LOCKED")
    yield* sql.withTransaction(
      Effect.andThen(
        sql`DELETE FROM delivery WHERE ${here} AND delivery_id IN
          (SELECT delivery_id FROM delivery WHERE ${here} AND received_at < ${old} ${skipLocked})`,
        sql`DELETE FROM hint WHERE ${here} AND task_id IN (SELECT task_id FROM hint
          WHERE ${here} AND (at < ${old} OR (pending = 0 AND since_at <= ${now - minute})) ${skipLocked})`,
      ),
    )
  })

  const isRepeated = Effect.fnUntraced(function* ({ id, sentAt }: Delivery, now: number) {
    // A delivery is a repetition if its id is stored with the same time or with a later time.
    const rows = yield* sql`
      INSERT INTO delivery ${sql.insert({ job, delivery_id: id, sent_at: sentAt, received_at: now })}
      ON CONFLICT (job, delivery_id) DO UPDATE SET sent_at = excluded.sent_at, received_at = excluded.received_at
      WHERE excluded.sent_at > delivery.sent_at RETURNING delivery_id`
    return rows.length === 0
  })

  const addHints = (taskIds: ReadonlyArray<string>, now: number) =>
    inChunks(
      taskIds.map((task_id) => ({ job, task_id, at: now, pending: 1, followed: 0, since_at: now })),
      (rows) => sql`INSERT INTO hint ${sql.insert(rows)}
        ON CONFLICT (job, task_id) DO UPDATE SET pending = 1,
          at = CASE WHEN excluded.at > hint.at THEN excluded.at ELSE hint.at + 1 END`,
    )

  /**
   * Adds hints for the tasks with these ids. Returns whether the ledger has any of these tasks. An unknown id gets a
   * hint only if some task has no id yet: the unknown id may belong to that task.
   */
  const addNamed = Effect.fnUntraced(function* (taskIds: ReadonlyArray<string>, now: number) {
    const chunks = yield* inChunks(
      taskIds,
      (some) => sql<{ state: string; taskId: string }>`SELECT state, task_id AS "taskId" FROM task
        WHERE ${here} AND ${sql.in("task_id", some)}`,
    )
    const states = new Map(chunks.flat().map(({ state, taskId }) => [taskId, state]))
    const isIn = (state: string) => isAny(sql, sql`${here} AND state = ${state}`)
    const isUnnamed = (yield* isIn("planned")) || (yield* isIn("submitting")) || (yield* isIn("in_doubt"))
    const isWanted = (id: string) => (states.has(id) ? ["submitted", "completed"].includes(states.get(id)!) : isUnnamed)
    yield* addHints(taskIds.filter(isWanted), now)
    if (states.size > 0) yield* owned.tell("hinted")
    return states.size > 0
  })

  return {
    recordDelivery: Effect.fn("Ledger.recordDelivery")(function* (delivery: Delivery) {
      const now = yield* SteadyClock.now
      yield* forgetOld(now)
      const outcome = yield* write(
        Effect.gen(function* (): Effect.fn.Return<DeliveryOutcome, SqlError> {
          if (yield* isRepeated(delivery, now)) return "repeated"
          yield* sql`INSERT INTO setting (job, name, value) VALUES (${job}, 'deliveries', '1')
          ON CONFLICT (job, name) DO UPDATE SET value = CAST(CAST(setting.value AS BIGINT) + 1 AS TEXT)`
          yield* setSetting({ job, sql }, "last_delivery", String(now))
          if (Option.isSome(delivery.taskIds)) return (yield* addNamed(delivery.taskIds.value, now)) ? "due" : "unknown"
          yield* addHints([allTasks], now)
          yield* owned.tell("hinted")
          return "due"
        }),
      )
      if (outcome !== "due") return outcome
      yield* delivered
      yield* hinted.open
      return outcome
    }),
    /**
     * Makes tasks due for a poll if they have a hint and are not being polled. A task gets at most `maxPollsPerMinute`
     * such polls per minute; further hints wait for the next minute. Returns the shortest wait in milliseconds, if any.
     */
    followHints: Effect.fn("Ledger.followHints")(function* (inFlight: ReadonlySet<string>) {
      const now = yield* SteadyClock.now
      const hasToWait = ({ followed, since }: { readonly followed: number; readonly since: number }) =>
        followed >= maxPollsPerMinute && now < since + minute
      const named = yield* sql<{ taskId: string; followed: number; since: number }>`
      SELECT h.task_id AS "taskId", h.followed, h.since_at AS since
      FROM hint h JOIN task t ON t.job = h.job AND t.task_id = h.task_id
      WHERE h.job = ${job} AND h.pending = 1 AND ${owned.areMine("t")}`
      const forAll =
        (yield* sql<{ at: number }>`SELECT at FROM hint WHERE ${here} AND task_id = ${allTasks}`)[0]?.at ?? never
      const isForAll = forAll !== lastHintForAll.at
      const allAreDue = isForAll && !hasToWait(lastHintForAll)
      const due = named.filter((hint) => !hasToWait(hint) && !inFlight.has(hint.taskId)).map(({ taskId }) => taskId)
      if (due.length > 0 || allAreDue) {
        yield* write(
          Effect.gen(function* () {
            if (allAreDue) {
              // Tasks that are already due keep their earlier time. Otherwise, each hint would delay their polls.
              yield* sql`UPDATE task SET due_at = ${now}
              WHERE ${here} AND state = 'submitted' AND due_at > ${now} AND ${owned.areMine()}`
              yield* addHints([...inFlight], now)
            }
            yield* inChunks(
              due,
              (some) => sql`UPDATE task SET due_at = 0
              WHERE ${here} AND state = 'submitted' AND ${sql.in("task_id", some)}`,
            )
            // A delivery about a completed task may mean that the service has changed the result.
            yield* inChunks(
              due,
              (some) => sql`UPDATE task SET due_at = ${changedDueNow}
              WHERE ${here} AND state = 'completed' AND submitted_at IS NOT NULL AND pruned_at IS NULL AND ${sql.in("task_id", some)}`,
            )
            yield* inChunks(
              due,
              (some) => sql`UPDATE hint SET pending = 0,
              followed = CASE WHEN since_at <= ${now - minute} THEN 1 ELSE followed + 1 END,
              since_at = CASE WHEN since_at <= ${now - minute} THEN ${now} ELSE since_at END
              WHERE ${here} AND ${sql.in("task_id", some)}`,
            )
          }),
        )
      }
      if (allAreDue) {
        lastHintForAll =
          lastHintForAll.since <= now - minute
            ? { at: forAll, followed: 1, since: now }
            : { ...lastHintForAll, at: forAll, followed: lastHintForAll.followed + 1 }
      }
      const waits = [...named, ...(isForAll ? [lastHintForAll] : [])]
        .filter(hasToWait)
        .map(({ since }) => since + minute - now)
      return waits.length === 0 ? Option.none<number>() : Option.some(Math.min(...waits))
    }),
    /** Repeats the last hint about all tasks. Call this for a new part: its earlier owner may have missed the hint. */
    followAgain: () => void (lastHintForAll = { ...lastHintForAll, at: never }),
    delivered,
    lastDelivery: Effect.sync(() => lastDelivery),
  }
}

/**
 * What webhook deliveries leave in the ledger: hints that a look at a task is worthwhile.
 *
 * Guarantees: a hint is on disk when its effect succeeds, and lasts until a look that began
 * after it; the same delivery, recorded twice, counts once; a delivery changes when tasks
 * are looked at and nothing else, and that as often as `HintLimit` allows. A delivery that
 * overtakes the answer to the creation of its task is not lost.
 *
 * Does not: remember a delivery for longer than two hours. A verifier refuses repetitions of
 * older ones by their time, where the service signs one.
 */
import { Clock, Duration, Effect, type Latch, Option } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { maxTolerance } from "../../api/WebhookSignature.ts"
import * as HintLimit from "./HintLimit.ts"
import type { Delivery, DeliveryOutcome, LedgerContext } from "./Model.ts"
import { inChunks, setSetting } from "./Rows.ts"

/** Milliseconds. */
export const rememberedFor = 2 * Duration.toMillis(maxTolerance)

/** What the parts of a ledger in one process tell each other. */
export interface Hints {
  /** Opened when a delivery made tasks due. */
  readonly hinted: Latch.Latch
  /** How often all tasks were made due by a delivery. */
  allDue: number
  /** When the last delivery came that told of tasks of this ledger, in epoch milliseconds. */
  lastDelivery: Option.Option<number>
  /** How often hints may have tasks looked at. */
  readonly limit: HintLimit.HintLimit
}

export const hintsOf = (hinted: Latch.Latch): Hints => ({
  hinted,
  allDue: 0,
  lastDelivery: Option.none(),
  limit: HintLimit.make(),
})

export const make = ({ partition, sql, write }: LedgerContext, hints: Hints) => {
  const here = sql`partition_id = ${partition}`

  const isRepeated = Effect.fnUntraced(function* ({ id, sentAt }: Delivery, now: number) {
    for (const table of ["delivery", "early_hint"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE ${here} AND received_at < ${now - rememberedFor}`
    }
    // Sent once more, later, it is news: the service or a person wants it to be heard.
    const rows = yield* sql`
      INSERT INTO delivery ${sql.insert({ partition_id: partition, delivery_id: id, sent_at: sentAt, received_at: now })}
      ON CONFLICT (partition_id, delivery_id) DO UPDATE SET sent_at = excluded.sent_at, received_at = excluded.received_at
      WHERE excluded.sent_at > delivery.sent_at RETURNING delivery_id`
    return rows.length === 0
  })

  /** Not before a time that is to come. What is due sooner stays so. */
  const makeDueAt = (at: number, which: Statement.Fragment) =>
    sql`UPDATE task SET due_at = ${at} WHERE ${here} AND state = 'submitted' AND due_at > ${at} AND ${which}`

  // What was due before stays before, so that repeated hints for all starve none.
  const makeAllDue = Effect.fnUntraced(function* (now: number) {
    const at = hints.limit.when("all", now)
    if (at <= now) hints.allDue++
    yield* makeDueAt(at, sql.literal("1 = 1"))
  })

  /** Before all that polling has made due, and lower with each hint, so that a look under way can tell. */
  const makeDueNow = (seqs: ReadonlyArray<number>) =>
    inChunks(
      seqs,
      (some) => sql`UPDATE task SET due_at = CASE WHEN due_at <= 0 THEN due_at - 1 ELSE 0 END
        WHERE ${here} AND ${sql.in("seq", some)}`,
    )

  const makeDue = Effect.fnUntraced(function* (seqs: ReadonlyArray<number>, now: number) {
    const byTime = Map.groupBy(seqs, (seq) => hints.limit.when(seq, now))
    for (const [at, some] of byTime) {
      yield* at <= now ? makeDueNow(some) : inChunks(some, (few) => makeDueAt(at, sql.in("seq", few)))
    }
  })

  const keepForLater = Effect.fnUntraced(function* (taskIds: ReadonlyArray<string>, now: number) {
    const unnamed = yield* sql`SELECT 1 FROM task
      WHERE ${here} AND ${sql.in("state", ["planned", "submitting", "in_doubt"])} LIMIT 1`
    if (unnamed.length === 0) return
    const rows = taskIds.map((id) => ({ partition_id: partition, task_id: id, received_at: now }))
    yield* inChunks(
      rows,
      (some) => sql`INSERT INTO early_hint ${sql.insert(some)}
        ON CONFLICT (partition_id, task_id) DO UPDATE SET received_at = excluded.received_at`,
    )
  })

  const recordNamed = Effect.fnUntraced(function* (taskIds: ReadonlyArray<string>, now: number) {
    const found = yield* inChunks(
      taskIds,
      (some) => sql<{ seq: number; state: string; task_id: string }>`SELECT seq, state, task_id FROM task
        WHERE ${here} AND ${sql.in("task_id", some)}`,
    )
    const known = found.flat()
    yield* makeDue(
      known.filter(({ state }) => state === "submitted").map(({ seq }) => Number(seq)),
      now,
    )
    const names = new Set(known.map(({ task_id }) => task_id))
    yield* keepForLater(
      taskIds.filter((id) => !names.has(id)),
      now,
    )
    return known.length > 0
  })

  const count = Effect.fnUntraced(function* (now: number) {
    yield* sql`INSERT INTO setting (partition_id, name, value) VALUES (${partition}, 'deliveries', '1')
      ON CONFLICT (partition_id, name) DO UPDATE SET value = CAST(CAST(setting.value AS BIGINT) + 1 AS TEXT)`
    yield* setSetting({ partition, sql }, "last_delivery", String(now))
  })

  /** How many deliveries were received, repeated ones counted once, and when the last was, in epoch milliseconds. */
  const deliveries = Effect.gen(function* () {
    const rows = yield* sql<{ name: string; value: string }>`SELECT name, value FROM setting
      WHERE ${here} AND ${sql.in("name", ["deliveries", "last_delivery"])}`
    const valueOf = (name: string) => Option.fromNullishOr(rows.find((row) => row.name === name)?.value)
    return {
      received: Number(Option.getOrElse(valueOf("deliveries"), () => "0")),
      last: Option.map(valueOf("last_delivery"), Number),
    }
  }).pipe(Effect.withSpan("Ledger.deliveries"))

  /** Records a delivery: the tasks that it names are due now; all, where it names none. */
  const recordDelivery = Effect.fn("Ledger.recordDelivery")(function* (delivery: Delivery) {
    const now = yield* Clock.currentTimeMillis
    const outcome = yield* write(
      Effect.gen(function* (): Effect.fn.Return<DeliveryOutcome, SqlError> {
        if (yield* isRepeated(delivery, now)) return "repeated"
        yield* count(now)
        if (Option.isSome(delivery.taskIds))
          return (yield* recordNamed(delivery.taskIds.value, now)) ? "due" : "unknown"
        yield* makeAllDue(now)
        return "due"
      }),
    )
    if (outcome !== "due") return outcome
    hints.lastDelivery = Option.some(now)
    yield* hints.hinted.open
    return outcome
  })

  return {
    recordDelivery,
    deliveries,
    /** When the last delivery came to this process that told of tasks of this ledger, in epoch milliseconds. */
    lastDelivery: Effect.sync(() => hints.lastDelivery),
  }
}

/**
 * The request limit that workers share. Each worker reserves time slots, one per request, in one row of the ledger
 * (virtual scheduling algorithm of ITU-T I.371, without bursts). Times are those of the database's clock. If the
 * service asks for a pause, all workers pause. If it refuses a request because of load, the rate is halved, and
 * recovers within half a minute.
 */
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { LedgerContext } from "../schema/Model.ts"
import { databaseClock } from "./Parts.ts"

/** Seconds for which one call of `takeSlots` reserves slots. The number of slots is rounded up, so it is at least 1. */
const leaseSeconds = 0.25

/** If the wait for the next slot is longer than 30 seconds plus 64 slots, the database's clock was set back. */
const maxMillisAhead = 30_000
const maxSlotsAhead = 64

const recovery = 30_000

const leastShare = 0.01

/** Reserved slots, each for one request. `first` and `spacing` are in milliseconds; `first` is counted from now. */
export interface Slots {
  readonly count: number
  readonly first: number
  readonly spacing: number
  /** Remaining milliseconds of a pause, in which no requests may be sent; 0 without a pause. */
  readonly pause: number
  readonly halvings: number
}

export interface BudgetStatus {
  readonly takenFor: number
  /** Allowed share of the full rate, from 0 to 1. It is below 1 after refusals because of load. */
  readonly rateShare: number
  /** Milliseconds until the pause ends; 0 without a pause. */
  readonly pausedFor: number
}

export const readBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => ({
  budget: Effect.suspend(() => {
    const now = databaseClock(sql)
    return Effect.map(
      sql<{ ahead: number; share: number; sinceCut: number; pause: number }>`SELECT free_at - ${now} AS ahead, share,
          ${now} - cut_at AS "sinceCut",
          paused_until - CASE WHEN paused_at > ${now} THEN paused_at ELSE ${now} END AS pause
        FROM budget WHERE job = ${job}`,
      ([row]) =>
        Option.map(Option.fromNullishOr(row), ({ ahead, pause, share, sinceCut }): BudgetStatus => ({
          takenFor: Math.max(0, ahead),
          rateShare: Math.min(1, share + Math.abs(sinceCut) / recovery),
          pausedFor: Math.max(0, pause),
        })),
    )
  }),
})

export const writeBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => {
  const here = sql`job = ${job}`
  const clock = databaseClock(sql)
  const created = sql`INSERT INTO budget (job, free_at, paused_at, paused_until, share, cuts, cut_at)
    VALUES (${job}, 0, 0, 0, 1, 0, 0) ON CONFLICT (job) DO NOTHING`
  // After each halving (at `cut_at`), the rate rises with time. `ABS` makes it rise even if the clock was set back.
  const share = sql`LEAST(1, share + ABS(${clock} - cut_at)::float8 / ${recovery})`
  const done = { requests: 0, answers: 0 }
  return {
    requestsDone: done as Readonly<typeof done>,
    countRequest: () => void done.requests++,
    countAnswer: () => void done.answers++,

    /** Reserves up to `wanted` slots, or none during a pause. `perSecond` is the rate of all workers together. */
    takeSlots: Effect.fnUntraced(function* (wanted: number, perSecond: number): Effect.fn.Return<Slots, SqlError> {
      // `FOR UPDATE` waits for other workers and reads their changes. The lock ends with this statement's transaction.
      const take = sql<Slots>`WITH held AS (
          SELECT *, ${clock} AS now, ${share} * ${perSecond}::float8 AS rate FROM budget WHERE ${here} FOR UPDATE
        ), taking AS (
          SELECT now, 1000 / rate AS spacing, GREATEST(0, paused_until - GREATEST(now, paused_at)) AS pause,
            LEAST(now, paused_at) AS since,
            CASE WHEN free_at > now + ${maxMillisAhead} + ${maxSlotsAhead * 1000} / rate THEN now
              ELSE GREATEST(free_at, now) END AS first,
            CASE WHEN paused_until > now THEN 0
              ELSE LEAST(${wanted}::float8, GREATEST(1, CEIL(rate * ${leaseSeconds}::float8))) END AS count
          FROM held
        ) UPDATE budget SET free_at = first + count * spacing, paused_at = since,
          paused_until = CASE WHEN pause > 0 THEN now + pause ELSE paused_until END FROM taking WHERE ${here}
        RETURNING count, first - now AS first, spacing, pause, cuts AS halvings`
      const [slots] = yield* take
      if (slots !== undefined) return slots
      yield* created
      return (yield* take)[0]!
    }),

    /** Halves the rate, unless another worker has halved the rate since `takeSlots` returned the count `halvings`. */
    slowRequests: (halvings: number) =>
      sql`UPDATE budget SET share = GREATEST(${leastShare}, ${share} / 2), cuts = cuts + 1, cut_at = ${clock}
        WHERE ${here} AND cuts = ${halvings}`,

    pauseRequests: Effect.fnUntraced(function* (millis: number) {
      yield* created
      yield* sql`UPDATE budget SET paused_at = ${clock}, paused_until = ${clock} + GREATEST(
          paused_until - GREATEST(${clock}, paused_at), ${Math.ceil(millis)}::bigint) WHERE ${here}`
    }),
  }
}

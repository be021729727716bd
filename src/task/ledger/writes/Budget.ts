/**
 * The requests that the workers of a job may send together. Each takes slots of time in turn, spaced by the rate that all
 * may send, from one row and by the clock of the database (the virtual scheduling algorithm of ITU-T I.371, without bursts).
 *
 * Guarantees: in any time, the slots are no more than the rate allows, plus one. Whoever asks gets the next ones, however many
 * others ask. A pause that the service asks of one holds for all; a refusal for load halves the rate of all, which recovers
 * within half a minute. A clock that is set back delays requests by half a minute at most, besides one for each of 64 workers, and a pause begins anew.
 */
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { LedgerContext } from "../schema/Model.ts"
import { databaseClock } from "./Parts.ts"

/** Seconds' worth of slots that a worker takes at once. */
const leaseSeconds = 0.25

/** Slots are not taken further ahead than by so many milliseconds, and by so many requests: the clock was set back. */
const maxAhead = 30_000
const maxRequestsAhead = 64

/** Milliseconds until the full rate is back. */
const recovery = 30_000

/** The least share of the rate that refusals leave. */
const leastShare = 0.01

/** Slots of time, in each of which one request may be sent; in milliseconds from now. */
export interface Slots {
  readonly count: number
  readonly first: number
  readonly spacing: number
  /** For how many milliseconds there are none. */
  readonly pause: number
  /** How often the rate had been halved. */
  readonly cuts: number
}

/** The requests that all workers together may send. */
export interface BudgetStatus {
  /** For how many milliseconds the requests are already shared out; 0 if one may be sent now. */
  readonly takenFor: number
  /** The share of the rate that refusals for load have left, from 0 to 1. */
  readonly rateShare: number
  /** For how many milliseconds none of them sends a request; 0 where none has to wait. */
  readonly pausedFor: number
}

export const readBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => ({
  /** None where no worker has sent a request. */
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
  /** The share of the rate that is allowed now, from 0 to 1; 1 if the clock was set back since the rate was halved. */
  const share = sql`LEAST(1, share + ABS(${clock} - cut_at)::float8 / ${recovery})`
  const done = { requests: 0, answers: 0 }
  return {
    /** How many requests this process has sent, and how many the service has answered as expected. */
    requestsDone: done as Readonly<typeof done>,
    countRequest: () => void done.requests++,
    countAnswer: () => void done.answers++,

    /**
     * Takes up to so many slots, of so many per second that all workers may send; none during a pause.
     */
    takeSlots: Effect.fnUntraced(function* (wanted: number, perSecond: number): Effect.fn.Return<Slots, SqlError> {
      // `FOR UPDATE` reads what another worker has just left; a statement of its own holds no lock while this process waits.
      const take = sql<Slots>`WITH held AS (
          SELECT *, ${clock} AS now, ${share} * ${perSecond}::float8 AS rate FROM budget WHERE ${here} FOR UPDATE
        ), taking AS (
          SELECT now, 1000 / rate AS spacing, GREATEST(0, paused_until - GREATEST(now, paused_at)) AS pause,
            LEAST(now, paused_at) AS since,
            CASE WHEN free_at > now + ${maxAhead} + ${maxRequestsAhead * 1000} / rate THEN now
              ELSE GREATEST(free_at, now) END AS first,
            CASE WHEN paused_until > now THEN 0
              ELSE LEAST(${wanted}::float8, GREATEST(1, CEIL(rate * ${leaseSeconds}::float8))) END AS count
          FROM held
        ) UPDATE budget SET free_at = first + count * spacing, paused_at = since,
          paused_until = CASE WHEN pause > 0 THEN now + pause ELSE paused_until END FROM taking WHERE ${here}
        RETURNING count, first - now AS first, spacing, pause, cuts`
      const [found] = yield* take
      if (found !== undefined) return found
      yield* created
      return (yield* take)[0]!
    }),

    /** Halves the rate of all workers, unless it was halved since the request's slot was taken. */
    slowRequests: (cuts: number) =>
      sql`UPDATE budget SET share = GREATEST(${leastShare}, ${share} / 2), cuts = cuts + 1, cut_at = ${clock}
        WHERE ${here} AND cuts = ${cuts}`,

    /** No worker sends a request for so many milliseconds. */
    pauseRequests: Effect.fnUntraced(function* (millis: number) {
      yield* created
      yield* sql`UPDATE budget SET paused_at = ${clock}, paused_until = ${clock} + GREATEST(
          paused_until - GREATEST(${clock}, paused_at), ${Math.ceil(millis)}::bigint) WHERE ${here}`
    }),
  }
}

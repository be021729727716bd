/**
 * The requests that the workers of a job may send together: a token bucket (Turner, 1986, "New directions in
 * communications") in one row, by the clock of the database.
 *
 * Guarantees: in any time, all workers take no more than the rate allows, and a tenth of a second's more. A pause that the
 * service asks of one holds for all; a refusal for load halves the rate of all, which recovers within half a minute.
 */
import { Effect, Option } from "effect"
import type { LedgerContext } from "./Model.ts"
import { databaseClock } from "./Parts.ts"

/** Seconds' worth of requests that are kept for later. */
const reserve = 0.1

/** Milliseconds until the full rate is back. */
const recovery = 30_000

/** The least share of the rate that refusals leave. */
const leastShare = 0.01

/** What the workers may send together. */
export interface BudgetStatus {
  /** Requests that were left when one of them last asked. */
  readonly tokens: number
  /** What refusals for load have left of the rate, from 0 to 1. */
  readonly rateShare: number
  /** For how many milliseconds none of them sends a request; 0 where none has to wait. */
  readonly pausedFor: number
}

export const readBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => ({
  /** None where no worker has sent a request. */
  budget: Effect.suspend(() => {
    const now = databaseClock(sql)
    return Effect.map(
      sql<{ tokens: number; share: number; sinceCut: number; pause: number }>`SELECT tokens, share,
          ${now} - cut_at AS "sinceCut", paused_until - ${now} AS pause
        FROM budget WHERE job = ${job}`,
      ([row]) =>
        Option.map(Option.fromNullishOr(row), ({ pause, share, sinceCut, tokens }): BudgetStatus => ({
          tokens,
          rateShare: Math.min(1, share + sinceCut / recovery),
          pausedFor: Math.max(0, pause),
        })),
    )
  }),
})

export const writeBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => {
  const here = sql`job = ${job}`
  const clock = databaseClock(sql)
  const created = sql`INSERT INTO budget (job, tokens, refilled_at, paused_until, share, cuts, cut_at)
    VALUES (${job}, 0, ${clock}, 0, 1, 0, 0) ON CONFLICT (job) DO NOTHING`
  /** What of the rate is allowed now, from 0 to 1. */
  const share = sql`LEAST(1, share + (${clock} - cut_at)::float8 / ${recovery})`
  const done = { requests: 0, answers: 0 }
  return {
    /** How many requests this process has taken, and how many the service has answered as expected. */
    requestsDone: done as Readonly<typeof done>,
    countAnswer: () => void done.answers++,

    /**
     * Takes up to so many requests, of so many per second that all workers may send. Gives how many may be sent now, how often
     * the rate was halved, and in how many milliseconds it makes sense to ask again: at the next token, or at the end of a
     * pause.
     */
    takeRequests: Effect.fnUntraced(function* (wanted: number, perSecond: number) {
      const full = Math.max(1, perSecond * reserve)
      // `FOR UPDATE` reads what another worker has just left; a statement of its own holds no lock while this process waits.
      const take = sql<{ granted: number; left: number; pause: number; rate: number; cuts: number }>`WITH held AS (
          SELECT *, ${clock} AS now, ${share} * ${perSecond}::float8 AS rate FROM budget WHERE ${here} FOR UPDATE
        ), filling AS (
          SELECT *, LEAST(${full}::float8, tokens + (now - refilled_at) * rate / 1000) AS filled FROM held
        ), taking AS (
          SELECT now, rate, filled, paused_until - now AS pause,
            CASE WHEN paused_until > now THEN 0 ELSE GREATEST(0, LEAST(${wanted}::float8, FLOOR(filled))) END AS granted FROM filling
        ) UPDATE budget SET tokens = filled - granted, refilled_at = now FROM taking WHERE ${here}
        RETURNING granted, filled - granted AS left, pause, rate, cuts`
      let found = (yield* take)[0]
      if (found === undefined) {
        yield* created
        found = (yield* take)[0]!
      }
      const { cuts, granted, left, pause, rate } = found
      done.requests += granted
      return { granted, cuts, pause: Math.max(0, pause), next: Math.max(pause, ((1 - left) * 1000) / rate, 0) }
    }),

    /** Halves the rate of all workers, unless it was halved since a request was taken. */
    slowRequests: (cuts: number) =>
      sql`UPDATE budget SET share = GREATEST(${leastShare}, ${share} / 2), cuts = cuts + 1, cut_at = ${clock}
        WHERE ${here} AND cuts = ${cuts}`,

    /** No worker sends a request for so many milliseconds. */
    pauseRequests: Effect.fnUntraced(function* (millis: number) {
      yield* sql.withTransaction(
        Effect.andThen(
          created,
          sql`UPDATE budget SET paused_until = GREATEST(paused_until, ${clock} + ${Math.ceil(millis)}) WHERE ${here}`,
        ),
      )
    }),
  }
}

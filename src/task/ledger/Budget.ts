/**
 * The requests that the workers of a job may send together: a token bucket (Turner, 1986, "New directions in
 * communications") in one row, by the clock of the database.
 *
 * Guarantees: in any time, all workers take no more than the rate allows, and a tenth of a second's more. A pause that the
 * service asks of one holds for all.
 */
import { Effect } from "effect"
import type { LedgerContext } from "./Model.ts"
import { databaseClock } from "./Parts.ts"

/** Seconds' worth of requests that are kept for later. */
const reserve = 0.1

export const readBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => ({
  /** Until when no worker sends a request, in epoch milliseconds; 0 where none had to wait. */
  pausedUntil: Effect.suspend(() =>
    Effect.map(
      sql<{ until: number }>`SELECT paused_until AS until FROM budget WHERE job = ${job}`,
      (rows) => rows[0]?.until ?? 0,
    ),
  ),
})

export const writeBudget = ({ job, sql }: Pick<LedgerContext, "job" | "sql">) => {
  const here = sql`job = ${job}`
  const clock = databaseClock(sql)
  const created = sql`INSERT INTO budget (job, tokens, refilled_at, paused_until) VALUES (${job}, 0, ${clock}, 0)
    ON CONFLICT (job) DO NOTHING`
  let taken = 0
  return {
    /** How many this process has taken. */
    requestsTaken: () => taken,

    /**
     * Takes up to so many requests, of so many per second that all workers may send. Gives how many may be sent now, and in
     * how many milliseconds it makes sense to ask again: at the next token, or at the end of a pause.
     */
    takeRequests: Effect.fnUntraced(function* (wanted: number, perSecond: number) {
      const full = Math.max(1, perSecond * reserve)
      // `FOR UPDATE` reads what another worker has just left; a statement of its own holds no lock while this process waits.
      const take = sql<{ granted: number; left: number; pause: number }>`WITH held AS (
          SELECT LEAST(${full}::float8, tokens + (${clock} - refilled_at) * ${perSecond}::float8 / 1000) AS filled,
            ${clock} AS now, paused_until FROM budget WHERE ${here} FOR UPDATE
        ), taking AS (
          SELECT now, filled, paused_until - now AS pause,
            CASE WHEN paused_until > now THEN 0 ELSE GREATEST(0, LEAST(${wanted}::float8, FLOOR(filled))) END AS granted FROM held
        ) UPDATE budget SET tokens = filled - granted, refilled_at = now FROM taking WHERE ${here}
        RETURNING granted, filled - granted AS left, pause`
      let found = (yield* take)[0]
      if (found === undefined) {
        yield* created
        found = (yield* take)[0]!
      }
      const { granted, left, pause } = found
      taken += granted
      return { granted, pause: Math.max(0, pause), next: Math.max(pause, ((1 - left) * 1000) / perSecond, 0) }
    }),

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

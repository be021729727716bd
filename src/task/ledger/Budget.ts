/**
 * The requests that the workers of a job may send together: a token bucket (Turner, 1986, "New directions in
 * communications") in one row, by the clock of the database.
 *
 * Guarantees: in any time, all workers take no more than the rate allows, and a tenth of a second's more. A pause that the
 * service asks of one holds for all.
 */
import { Effect } from "effect"
import type { LedgerContext } from "./Model.ts"

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
  const clock = sql.literal("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")
  const created = sql`INSERT INTO budget (job, tokens, refilled_at, paused_until) VALUES (${job}, 0, ${clock}, 0)
    ON CONFLICT (job) DO NOTHING`
  let taken = 0
  return {
    /** How many this process has taken. */
    requestsTaken: () => taken,

    /**
     * Takes up to so many requests, of so many per second that all workers may send. Gives how many may be sent now, and for
     * how many milliseconds none may. A transaction of its own: what else a worker writes does not wait for another worker.
     */
    takeRequests: Effect.fnUntraced(function* (wanted: number, perSecond: number) {
      const found = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* created
          const rows = yield* sql<{ tokens: number; elapsed: number; pause: number }>`SELECT tokens,
            ${clock} - refilled_at AS elapsed, paused_until - ${clock} AS pause FROM budget WHERE ${here} FOR UPDATE`
          const { elapsed, pause, tokens } = rows[0]!
          const filled = Math.min(Math.max(1, perSecond * reserve), tokens + (elapsed * perSecond) / 1000)
          const granted = pause > 0 ? 0 : Math.min(wanted, Math.floor(filled))
          yield* sql`UPDATE budget SET tokens = ${filled - granted}, refilled_at = refilled_at + ${elapsed} WHERE ${here}`
          return { granted, pause: Math.max(0, pause) }
        }),
      )
      taken += found.granted
      return found
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

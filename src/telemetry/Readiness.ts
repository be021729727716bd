/**
 * Whether this process can do its work (`/readyz`): each database that it has open answers a trivial statement within two
 * seconds, the service's can be written, and it is not stopping. Without an open database it is not ready.
 *
 * Does not ask the annotation service: while that is down, a job waits for it.
 */
import { Context, Effect, identity } from "effect"
import { SqlClient } from "effect/sql"

/** What must succeed. Shared by the whole process, as Effect's metrics are. */
const Checks = Context.Reference<Set<Effect.Effect<unknown, unknown>>>("prefstream/telemetry/Readiness", {
  defaultValue: () => new Set(),
})

/** Requires a check to succeed, for as long as the scope is open. */
export const require = Effect.fnUntraced(function* (check: Effect.Effect<unknown, unknown>) {
  const checks = yield* Checks
  yield* Effect.acquireRelease(
    Effect.sync(() => checks.add(check)),
    () => Effect.sync(() => checks.delete(check)),
  )
})

/** Requires the database to answer, for as long as the scope is open. */
export const requireDatabase = SqlClient.SqlClient.use((sql) => require(sql`SELECT 1`))

/** The process is not ready during an effect. */
export const unreadyDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.andThen(require(Effect.fail("stopping")), effect))

export const isReady = Effect.gen(function* () {
  const checks = yield* Checks
  yield* Effect.forEach(checks, identity, { concurrency: "unbounded", discard: true })
  return checks.size > 0
}).pipe(
  Effect.timeout("2 seconds"),
  Effect.catchCause(() => Effect.succeed(false)),
  Effect.withTracerEnabled(false),
)

/** The process is ready (`/readyz`) unless it is stopping or an open database does not answer within two seconds. */
import { Context, Effect, identity } from "effect"
import { SqlClient } from "effect/sql"

const Checks = Context.Reference<Set<Effect.Effect<unknown, unknown>>>("prefstream/telemetry/Readiness", {
  defaultValue: () => new Set(),
})

export const requireCheck = Effect.fnUntraced(function* (check: Effect.Effect<unknown, unknown>) {
  const checks = yield* Checks
  yield* Effect.acquireRelease(
    Effect.sync(() => checks.add(check)),
    () => Effect.sync(() => checks.delete(check)),
  )
})

export const requireDatabase = SqlClient.SqlClient.use((sql) => requireCheck(sql`SELECT 1`))

export const unreadyDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.andThen(requireCheck(Effect.fail("stopping")), effect))

export const isReady = Effect.gen(function* () {
  const checks = yield* Checks
  yield* Effect.forEach(checks, identity, { concurrency: "unbounded", discard: true })
  return checks.size > 0
}).pipe(
  Effect.timeout("2 seconds"),
  Effect.catchCause(() => Effect.succeed(false)),
  Effect.withTracerEnabled(false),
)

/**
 * Handles a disk that is full or cannot be written. The error is logged once. The process is ready again (`/readyz`)
 * when a write succeeds at least a minute after the last failure. An earlier success does not count, because small
 * writes can succeed on a full disk.
 */
import { Cause, Clock, Duration, Effect, Predicate } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Write } from "../../sql/GroupCommit.ts"
import * as Readiness from "../../telemetry/Readiness.ts"

const quiet = Duration.toMillis("1 minute")

const [ioError, full] = [10, 13]

const isFull = ({ reason: { cause } }: SqlError): boolean =>
  Predicate.hasProperty(cause, "errno") &&
  Predicate.isNumber(cause.errno) &&
  [ioError, full].includes(cause.errno & 0xff)

/** Whether the error reports a full or broken disk. `watch` has already logged such an error. */
export const wasLogged = (failure: unknown): boolean => {
  const error = Cause.isCause(failure) ? Cause.squash(failure) : failure
  return isSqlError(error) && isFull(error)
}

export const logError = (what: string, failure: unknown): Effect.Effect<void> =>
  wasLogged(failure) ? Effect.void : Effect.logError(what, failure)

export const watch = Effect.fnUntraced(function* (write: Write) {
  const sql = yield* SqlClient.SqlClient
  /** When a write last failed, in epoch milliseconds. Undefined while writes succeed. */
  let failedAt: number | undefined

  const note = Effect.fnUntraced(function* ({ message }: SqlError) {
    const isNew = failedAt === undefined
    failedAt = yield* Clock.currentTimeMillis
    if (!isNew) return
    yield* Effect.logError(
      `The service cannot write to its database (${message}). It refuses new data with status 503 and keeps the data already stored. Free up space on the database's disk; the service then accepts writes again`,
    )
  })

  const noteSuccess = Effect.gen(function* () {
    if (failedAt === undefined || (yield* Clock.currentTimeMillis) - failedAt < quiet) return
    failedAt = undefined
    yield* Effect.logInfo("The service can write to its database again")
  })

  const watched: Write = (statements) =>
    write(statements).pipe(
      Effect.tapError((error) => (isFull(error) ? note(error) : Effect.void)),
      Effect.tap(() => (failedAt === undefined ? Effect.void : noteSuccess)),
    )

  yield* Readiness.requireCheck(
    Effect.suspend(() =>
      failedAt === undefined
        ? Effect.void
        : Effect.andThen(
            watched(sql`UPDATE task_count SET tasks = tasks WHERE status = 'pending'`),
            Effect.suspend(() => (failedAt === undefined ? Effect.void : Effect.fail("no space"))),
          ),
    ),
  )
  return watched
})

/**
 * Writes that arrive during a commit share the next transaction. A write is durable when its effect succeeds. If the
 * transaction fails, all its writes fail, and none is stored. One exception: the writes may be stored if the disk
 * fails after the commit. Deadlocks and serialization errors are retried up to 5 times. A queued write runs before the
 * scope closes, even if nobody waits for the write.
 */
import { type Cause, Deferred, Effect, Exit, Fiber, Queue, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export type Write = <A>(statements: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>

const maxGroupSize = 256

const maxRetries = 5

const isRetryable = ({ reason }: SqlError) => reason._tag === "DeadlockError" || reason._tag === "SerializationError"

export const make = Effect.fnUntraced(function* (
  sql: Pick<SqlClient.SqlClient, "withTransaction">,
): Effect.fn.Return<Write, never, Scope.Scope> {
  const queue = yield* Queue.unbounded<
    {
      readonly run: Effect.Effect<Effect.Effect<void>, SqlError>
      readonly fail: (exit: Exit.Exit<never, SqlError>) => Effect.Effect<void>
    },
    Cause.Done
  >()

  const commitGroup = Effect.gen(function* () {
    const group = yield* Queue.takeBetween(queue, 1, maxGroupSize)
    const exit = yield* sql
      .withTransaction(Effect.forEach(group, (write) => write.run))
      .pipe(Effect.retry({ while: isRetryable, times: maxRetries }), Effect.exit)
    yield* Exit.isSuccess(exit)
      ? Effect.forEach(exit.value, (complete) => complete, { discard: true })
      : Effect.forEach(group, (write) => write.fail(Exit.failCause(exit.cause)), { discard: true })
  })
  yield* Effect.acquireRelease(Effect.forkDetach(Effect.ignore(Effect.forever(commitGroup))), (writer) =>
    Effect.andThen(Queue.end(queue), Fiber.await(writer)),
  )

  return (statements) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<Effect.Success<typeof statements>, SqlError>()
      const isQueued = yield* Queue.offer(queue, {
        run: Effect.map(statements, (value) => Effect.asVoid(Deferred.succeed(done, value))),
        fail: (exit) => Effect.asVoid(Deferred.done(done, exit)),
      })
      return isQueued ? yield* Deferred.await(done) : yield* Effect.interrupt
    })
})

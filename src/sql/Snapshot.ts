/** All queries of an effect see the same state, without blocking writers. An open transaction or snapshot is reused. */
import { Effect, Option, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export type Snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>

export const make = (sql: SqlClient.SqlClient): Snapshot => {
  const begin = sql.onDialectOrElse({
    pg: () => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    orElse: () => "BEGIN",
  })
  const opened = Effect.gen(function* () {
    const connection = yield* sql.reserve
    yield* Effect.acquireRelease(connection.executeUnprepared(begin, [], undefined), () =>
      Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined)),
    )
    return connection
  })
  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer)
        ? effect
        : Effect.scopedWith((scope) =>
            Effect.flatMap(Scope.provide(opened, scope), (connection) =>
              Effect.provideService(effect, sql.transactionService, [connection, 0] as const),
            ),
          ),
    )
}

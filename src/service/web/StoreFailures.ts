/** Converts missing values and failures of the store to responses. */
import { Effect, Option } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { type NotFound, notFound } from "../pageApi/WebProblems.ts"

export const orNotFound = <A, E, R>(
  stored: Effect.Effect<Option.Option<A>, E, R>,
  detail: string,
): Effect.Effect<A, NotFound, R> =>
  Effect.flatMap(
    Effect.orDie(stored),
    Option.match({ onNone: () => Effect.fail(notFound(detail)), onSome: Effect.succeed }),
  )

export const orDieOfSql = <A, E, R>(stored: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E, R> =>
  stored.pipe(Effect.catch((error) => (isSqlError(error) ? Effect.die(error) : Effect.fail(error))))

export const asOperator = <A, E, R>(change: (name: string) => Effect.Effect<A, E | SqlError, R>) =>
  Effect.flatMap(SignedInOperator, ({ name }) => orDieOfSql(change(name)))

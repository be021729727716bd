/** Answers for what the store does not have or does not do. */
import { Effect, Option } from "effect"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"

/** The value that is stored, or 404. */
export const orNotFound = <A, E, R>(
  stored: Effect.Effect<Option.Option<A>, E, R>,
  detail: string,
): Effect.Effect<A, NotFound, R> =>
  Effect.flatMap(
    Effect.orDie(stored),
    Option.match({ onNone: () => Effect.fail(new NotFound({ detail })), onSome: Effect.succeed }),
  )

/** The answers to failures of `Desk`. */
export const failures = {
  NothingThere: ({ problem }: { readonly problem: string }) => new NotFound({ detail: problem }),
  NotNow: ({ problem }: { readonly problem: string }) => new Conflict({ detail: problem }),
  SqlError: Effect.die,
}

/** Converts missing values and failures of the store to answers. */
import { Effect, Option } from "effect"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"

/** Returns the stored value, or answers 404. */
export const orNotFound = <A, E, R>(
  stored: Effect.Effect<Option.Option<A>, E, R>,
  detail: string,
): Effect.Effect<A, NotFound, R> =>
  Effect.flatMap(
    Effect.orDie(stored),
    Option.match({ onNone: () => Effect.fail(new NotFound({ detail })), onSome: Effect.succeed }),
  )

/** Converts failures of `Desk` to answers. */
export const failures = {
  NothingThere: ({ problem }: { readonly problem: string }) => new NotFound({ detail: problem }),
  NotNow: ({ problem }: { readonly problem: string }) => new Conflict({ detail: problem }),
  SqlError: Effect.die,
}

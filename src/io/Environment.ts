/** Reads environment variables. An empty variable counts as unset. */
import { Config, Effect, Option } from "effect"

export const variable = (name: string): Effect.Effect<string | undefined> =>
  Effect.map(Effect.option(Config.NonEmptyString(name)), Option.getOrUndefined)

/**
 * Files by name, opened: wherever they are, and whatever their format.
 */
import { Duration, Effect } from "effect"
import * as Format from "./format/Format.ts"
import * as Place from "./place/Place.ts"
import { Patience } from "./place/Remote.ts"

/** The file can be read as long as the scope lasts. */
export const open = (name: string, options: Format.FormatOptions = {}) => {
  const { idleTimeout } = options
  const input =
    idleTimeout === undefined
      ? Place.open(name)
      : Effect.updateService(Place.open(name), Patience, ({ pause, retries }) => ({
          pause,
          retries,
          idle: Duration.fromInputUnsafe(idleTimeout),
        }))
  return Effect.flatMap(input, (input) => Format.open(input, options))
}

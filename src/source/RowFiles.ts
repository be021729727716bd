/**
 * Files by name, opened: wherever they are, and whatever their format.
 */
import { Effect } from "effect"
import * as Format from "./format/Format.ts"
import * as Place from "./place/Place.ts"

/** The file can be read as long as the scope lasts. */
export const open = (name: string, options?: Format.FormatOptions) =>
  Effect.flatMap(Place.open(name), (input) => Format.open(input, options))

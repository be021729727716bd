/**
 * Reads files of prompt items with gold answers, to be mixed in among others, or to answer by.
 *
 * Guarantees: an invalid record is a failure with file, line and field. `read` holds all items in memory.
 */
import { Effect, Schema, Stream } from "effect"
import { describe, Origin } from "../domain/Origin.ts"
import { originOf } from "./record/Row.ts"
import * as Files from "./Files.ts"

/** A gold file can't be used as it is. */
export class UnusableGoldFile extends Schema.TaggedError<UnusableGoldFile>()("UnusableGoldFile", {
  /** Without line and row the whole file is meant. */
  ...Origin.fields,
  /** What was expected there, and what was found. */
  problem: Schema.String,
}) {
  override get message() {
    return `gold file ${describe(this)}: ${this.problem}`
  }
}

/** How gold files are read, in any format and layout that `Files.files` reads. */
export type GoldFileOptions = Pick<Files.FilesOptions, "ignore">

/** The items of a file, with gold answers or without. */
export const items = (file: string, options?: GoldFileOptions) =>
  Files.files(file, options).records.pipe(
    Stream.mapError(
      ({ reason }) =>
        new UnusableGoldFile({ file, problem: "problem" in reason ? reason.problem : "there is no such file" }),
    ),
    Stream.mapEffect((record) =>
      Effect.mapError(
        Effect.fromResult(record),
        ({ reason, ...place }) => new UnusableGoldFile({ ...originOf(place), problem: reason }),
      ),
    ),
  )

/** Reads the whole of a file in which all items have gold answers. */
export const read = Effect.fn("GoldFile.read")(function* (file: string, options?: GoldFileOptions) {
  const all = yield* Stream.runCollect(items(file, options))
  if (all.length === 0) return yield* new UnusableGoldFile({ file, problem: "expected items, found none" })
  const without = all.find(({ item }) => item.gold === undefined)
  if (without === undefined) return all
  const problem =
    'gold: expected the right answer, found nothing; set "gold" to {"best_completion_index": N}, or a column "winner" to the name of the best completion\'s column'
  return yield* new UnusableGoldFile({ ...without.origin, problem })
})

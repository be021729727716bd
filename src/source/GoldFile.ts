/**
 * Reads files of prompt items that all have a gold answer, to be mixed in among others.
 *
 * Guarantees: an invalid record is a failure with file, line and field. All items are held in memory.
 */
import { Effect, Result, Schema, Stream } from "effect"
import { describe, Origin } from "../domain/Origin.ts"
import type { SourceItem } from "../domain/PromptItem.ts"
import { originOf } from "./record/Row.ts"
import * as Files from "./Files.ts"

/** A gold file can't be used as it is. */
export class UnusableGoldFile extends Schema.TaggedError<UnusableGoldFile>()("UnusableGoldFile", {
  /** Without line and row the whole file is meant. */
  ...Origin.fields,
  problem: Schema.String,
}) {
  override get message() {
    return `gold file ${describe(this)}: ${this.problem}`
  }
}

/** Reads the whole of a file, of any format and layout in which `Files.files` finds gold answers. */
export const read = Effect.fn("GoldFile.read")(function* (file: string) {
  const items: Array<SourceItem> = []
  yield* Stream.runForEachArray(
    Files.files(file).records,
    Effect.forEach(
      Effect.fnUntraced(function* (record) {
        if (Result.isFailure(record)) {
          const { reason, ...place } = record.failure
          return yield* new UnusableGoldFile({ ...originOf(place), problem: reason })
        }
        const { item, origin } = record.success
        if (item.gold === undefined) {
          const problem =
            'gold: expected the right answer, found nothing; set "gold" to {"best_completion_index": N}, or a column "winner" to the name of the best completion\'s column'
          return yield* new UnusableGoldFile({ ...origin, problem })
        }
        items.push(record.success)
      }),
      { discard: true },
    ),
  )
  if (items.length === 0) return yield* new UnusableGoldFile({ file, problem: "expected items, found none" })
  return items
})

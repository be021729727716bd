/**
 * Files of prompt items that all have a gold answer, to be mixed in among others.
 *
 * Guarantees: a record that can't be used is a failure that names file, line and field; none
 * is left out in silence. The whole is held in memory.
 */
import { Effect, Result, Schema, Stream } from "effect"
import type { SourceItem } from "../domain/PromptItem.ts"
import * as JsonLines from "./JsonLines.ts"

/** A gold file can't be used as it is. */
export class UnusableGoldFile extends Schema.TaggedError<UnusableGoldFile>()("UnusableGoldFile", {
  file: Schema.String,
  /** One-based; absent where the whole file is meant. */
  line: Schema.optionalKey(Schema.Int),
  problem: Schema.String,
}) {
  override get message() {
    return `gold file ${this.file}${this.line === undefined ? "" : `, line ${this.line}`}: ${this.problem}`
  }
}

/** Reads the whole of a JSONL file of `{prompt, completions, gold}`. */
export const read = Effect.fn("GoldFile.read")(function* (file: string) {
  const items: Array<SourceItem> = []
  yield* Stream.runForEachArray(
    JsonLines.jsonl(file).records,
    Effect.forEach(
      Effect.fnUntraced(function* (record) {
        if (Result.isFailure(record)) {
          const { line, reason } = record.failure
          return yield* new UnusableGoldFile({ file, line, problem: reason })
        }
        const { item, origin } = record.success
        if (item.gold === undefined) {
          const problem = "gold: expected the right answer, found nothing"
          return yield* new UnusableGoldFile({ file, line: origin.line, problem })
        }
        items.push(record.success)
      }),
      { discard: true },
    ),
  )
  if (items.length === 0) return yield* new UnusableGoldFile({ file, problem: "expected items, found none" })
  return items
})

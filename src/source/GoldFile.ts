/** Reads prompt items with gold answers into memory. An invalid record is an error with file, line, and field. */
import { Effect, Schema, Stream } from "effect"
import { describeValue } from "../io/Values.ts"
import { describe, Origin } from "../domain/Origin.ts"
import { originOf } from "./record/Row.ts"
import * as Files from "./Files.ts"

/** A gold file cannot be used. */
export class UnusableGoldFile extends Schema.TaggedError<UnusableGoldFile>()("UnusableGoldFile", {
  /** Without line and row, the error is about the whole file. */
  ...Origin.fields,
  /** Describes the expected and the actual value. */
  problem: Schema.String,
}) {
  override get message() {
    return `gold file ${describe(this)}: ${this.problem}`
  }
}

/** Options of `gold`. */
export type GoldFileOptions = Pick<Files.FilesOptions, "ignore">

export const items = (file: string, options?: GoldFileOptions) =>
  Files.files(file, options).records.pipe(
    Stream.mapError(
      ({ reason }) =>
        new UnusableGoldFile({
          file: typeof file === "string" ? file : describeValue(file),
          problem: "problem" in reason ? reason.problem : "there is no such file; check the path",
        }),
    ),
    Stream.mapEffect((record) =>
      Effect.mapError(
        Effect.fromResult(record),
        ({ reason, ...place }) => new UnusableGoldFile({ ...originOf(place), problem: reason }),
      ),
    ),
  )

/** Each item must have a gold answer. */
export const read = Effect.fn("GoldFile.read")(function* (file: string, options?: GoldFileOptions) {
  const goldItems = yield* Stream.runCollect(items(file, options))
  if (goldItems.length === 0) return yield* new UnusableGoldFile({ file, problem: "expected items, found none" })
  const itemWithoutGold = goldItems.find(({ item }) => item.gold === undefined)
  if (itemWithoutGold === undefined) return goldItems
  const problem =
    'gold: expected the right answer, found nothing; set "gold" to {"best_completion_index": N}, or add a column "winner" with the name of the best completion\'s column'
  return yield* new UnusableGoldFile({ ...itemWithoutGold.origin, problem })
})

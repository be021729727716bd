import { Result, Stream } from "effect"
import type { PromptItem, SourceItem } from "../../src/domain/PromptItem.ts"
import type { Reject } from "../../src/domain/Reject.ts"

/** `n` different items with two completions each. */
export const items = (n: number, of: (i: number) => Partial<PromptItem> = () => ({})): ReadonlyArray<SourceItem> =>
  Array.from({ length: n }, (_, i) => ({
    item: { prompt: `prompt ${i}`, completions: [`first ${i}`, `second ${i}`], ...of(i) },
    origin: { file: "memory", line: i + 1 },
  }))

export const records = (items: ReadonlyArray<SourceItem>): Stream.Stream<Result.Result<SourceItem, Reject>> =>
  Stream.fromIterable(items.map((item) => Result.succeed(item)))

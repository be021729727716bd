/**
 * Items that a program has already, as a source.
 *
 * Guarantees: they pass the same gate as items from files. In records and rejects
 * their file is `memory` and their line is their ordinal, from 1.
 */
import { Array, Option, Result, Stream } from "effect"
import type { PromptItem } from "../domain/PromptItem.ts"
import * as ItemDecoder from "./item/ItemDecoder.ts"
import type { Source } from "./record/SourceRecord.ts"

export const fromIterable = (items: Iterable<PromptItem>): Source<never, never> =>
  fromStream(Stream.fromIterable(items))

export const fromStream = <E, R>(items: Stream.Stream<PromptItem, E, R>): Source<E, R> => ({
  description: "items in memory",
  records: Stream.mapAccumArray(
    items,
    () => 0,
    (read, array) => [
      read + array.length,
      Array.map(array, (item, index) =>
        ItemDecoder.decode(item, {
          file: "memory",
          line: read + index + 1,
          get raw() {
            return toJson(item)
          },
        }),
      ),
    ],
  ),
})

/** Nothing where the value is none that JSON has. */
const toJson = (value: unknown): string | undefined =>
  Option.getOrUndefined(Result.getSuccess(Result.try(() => JSON.stringify(value))))

/**
 * Writes the items on which scores and experts disagree, greatest difference first, as records that `run` reads. Items
 * with tools are left out, because datasets lack their messages with tool calls. Memory: 16 bytes per item.
 */
import { Effect, FileSystem, Option, Stream } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import * as ScratchFile from "../../node/ScratchFile.ts"

const itemOf = ([first, ...others]: ReadonlyArray<PreferencePair>): Option.Option<object> => {
  if (first === undefined || first.tools !== undefined) return Option.none()
  const sides = new Map<number, readonly [completion: string, model: string | null]>()
  for (const pair of [first, ...others]) {
    sides.set(pair.chosen_index, [pair.chosen, pair.chosen_model])
    sides.set(pair.rejected_index, [pair.rejected, pair.rejected_model])
  }
  const completions = [...sides].toSorted(([a], [b]) => a - b).map(([, side]) => side)
  const models = completions.map(([, model]) => model)
  return Option.some({
    id: first.item_id,
    prompt: first.prompt,
    completions: completions.map(([completion]) => completion),
    ...(models.every((model) => model !== null) && { models }),
    ...(first.metadata !== null && { metadata: JSON.parse(first.metadata) as unknown }),
  })
}

export const make = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const scratch = yield* ScratchFile.temporary()
  const differences: Array<number> = []
  const ends: Array<number> = [0]
  return {
    add: (pairs: ReadonlyArray<PreferencePair>, difference: number) =>
      ScratchFile.attempt(() => {
        const item = itemOf(pairs)
        if (Option.isNone(item)) return
        const bytes = Buffer.from(`${JSON.stringify(item.value)}\n`)
        ends.push(scratch.append(bytes) + bytes.length)
        differences.push(difference)
      }),
    write: Effect.suspend(() => {
      const order = Uint32Array.from(differences.keys()).toSorted((a, b) => differences[b]! - differences[a]! || a - b)
      return Stream.fromIterable(order).pipe(
        Stream.mapEffect((i) => ScratchFile.attempt(() => scratch.read(ends[i]!, ends[i + 1]! - ends[i]!))),
        Stream.run(fs.sink(file)),
      )
    }),
  }
})

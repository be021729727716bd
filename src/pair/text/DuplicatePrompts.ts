/** Finds prompts that nearly repeat an earlier one, and returns the first few. Examples are kept in a scratch file. */
import { Effect, Schema } from "effect"
import type { Check } from "../../domain/QualityReport.ts"
import * as ScratchFile from "../../node/ScratchFile.ts"
import * as NearDuplicates from "./NearDuplicates.ts"

type Example = Check["examples"][number]

export interface Found {
  readonly isDuplicate: (ordinal: number) => boolean
  readonly count: number
  readonly of: number
  readonly examples: ReadonlyArray<Example>
}

const perBlock = 4096

const decodeBlock = Schema.decodeSync(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ item_id: Schema.String, detail: Schema.String }))),
)

export const make = Effect.fnUntraced(function* (
  maxExamples: number,
  excerptOf: (prompt: string) => string,
  directory?: string,
) {
  const prompts = yield* NearDuplicates.make(undefined, directory)
  const texts = yield* ScratchFile.temporary(directory)
  const blocks: Array<readonly [start: number, size: number]> = []
  let waiting: Array<Example> = []

  const exampleOf = (ordinal: number): Example => {
    const block = blocks[Math.floor(ordinal / perBlock)]
    const examples = block === undefined ? waiting : decodeBlock(new TextDecoder().decode(texts.read(...block)))
    return examples[ordinal % perBlock]!
  }

  return {
    /** May throw, so call this function inside `ScratchFile.attempt`. Run `room` after every few prompts. */
    add: (prompt: string, item_id: string): void => {
      prompts.add(prompt)
      if (waiting.length === perBlock) {
        const bytes = new TextEncoder().encode(JSON.stringify(waiting))
        blocks.push([texts.append(bytes), bytes.length])
        waiting = []
      }
      waiting.push({ item_id, detail: excerptOf(prompt) })
    },
    room: prompts.room,
    find: Effect.gen(function* () {
      const earliest = yield* prompts.earliest
      const isDuplicate = (ordinal: number) => earliest[ordinal] !== ordinal
      const first: Array<number> = []
      let count = 0
      earliest.forEach((_, ordinal) => {
        if (isDuplicate(ordinal) && count++ < maxExamples) first.push(ordinal)
      })
      const examples = yield* ScratchFile.attempt(() => first.map(exampleOf))
      return { isDuplicate, count, of: earliest.length, examples } satisfies Found
    }),
  }
})

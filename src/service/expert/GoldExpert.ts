/**
 * An expert that knows the answers from a file of prompt items with `gold`, in any order of the completions. An invalid
 * record is an error at the start. Memory contains a hash and a rationale per record.
 */
import { Effect, type FileSystem, Option, type Path, Stream } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import type { GoldFileOptions, UnusableGoldFile } from "../../source/GoldFile.ts"
import type { GoldItem } from "../store/Qualification.ts"
import type { Expert } from "./Expert.ts"

export interface Gold {
  readonly answerTo: (
    prompt: TaskPrompt,
  ) => Option.Option<{ readonly best_completion_index: number; readonly rationale: string }>
  /** The first 1,000 distinct items that have at least two distinct completions. */
  readonly items: ReadonlyArray<GoldItem>
}

const maxItems = 1_000

export const read = Effect.fn("GoldExpert.read")(function* (
  file: string,
  options?: GoldFileOptions,
): Effect.fn.Return<Gold, UnusableGoldFile, FileSystem.FileSystem | Path.Path> {
  const GoldFile = yield* Effect.promise(() => import("../../source/GoldFile.ts"))
  /** `rank` is the index of the best completion in the list that `sortDistinct` returns. */
  const answers = new Map<string, { readonly rank: number; readonly rationale: string }>()
  const items: Array<GoldItem> = []
  yield* Stream.runForEach(GoldFile.items(file, options), ({ item: { completions, gold, prompt }, origin }) => {
    if (gold === undefined) return Effect.void
    const sorted = sortDistinct(completions)
    const text = Conversation.render(prompt)
    const key = identify(text, sorted)
    const rank = sorted.indexOf(completions[gold.best_completion_index]!)
    const earlier = answers.get(key)
    if (earlier !== undefined && earlier.rank !== rank) {
      const problem =
        "gold.best_completion_index: an earlier record has the same prompt and completions, but another best completion; correct one of the two records"
      return new GoldFile.UnusableGoldFile({ ...origin, problem })
    }
    if (earlier === undefined && sorted.length > 1 && items.length < maxItems) {
      items.push({ key, prompt: text, completions: sorted, best: rank })
    }
    answers.set(key, { rank, rationale: gold.rationale ?? "The gold answer." })
    return Effect.void
  })
  if (answers.size === 0) return yield* new GoldFile.UnusableGoldFile({ file, problem: "no record has a gold answer" })

  const answerTo: Gold["answerTo"] = ({ prompt, completions }) => {
    const sorted = sortDistinct(completions)
    const answer = answers.get(identify(prompt, sorted))
    if (answer === undefined) return Option.none()
    const { rank, rationale } = answer
    return Option.some({ best_completion_index: completions.indexOf(sorted[rank]!), rationale })
  }
  return { answerTo, items }
})

export const gold = (
  file: string,
  options?: GoldFileOptions,
): Effect.Effect<Expert, UnusableGoldFile, FileSystem.FileSystem | Path.Path> =>
  Effect.map(read(file, options), ({ answerTo }) => ({
    name: `gold:${file}`,
    judge: (prompt) => Effect.sync(() => answerTo(prompt)),
  }))

const identify = (prompt: string, sorted: ReadonlyArray<string>): string => Sha256.hex(JSON.stringify([prompt, sorted]))

const sortDistinct = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].toSorted()

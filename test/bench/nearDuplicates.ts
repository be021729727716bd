/**
 * Near-duplicate prompts, beside the loop that compares each prompt with all before it:
 * `node test/bench/nearDuplicates.ts [prompts] [rounds]`.
 *
 * The loop keeps the set of each prompt's shingles, and computes the exact Jaccard index. Every fourth prompt is an earlier
 * one with some letters replaced. Both go through the same prompts in turns; the medians are compared. Exits with 1 where
 * prefstream is less than 20 times as fast, or finds less than 99% of those of index 0.9 or more.
 */
import { Effect } from "effect"
import * as NearDuplicates from "../../src/pair/text/NearDuplicates.ts"
import * as NormalizedPrompt from "../../src/pair/text/NormalizedPrompt.ts"
import { edited, words } from "../pair/text/support.ts"
import { median, numbers } from "./setup.ts"

const [count, rounds] = numbers(1_000, 3)
const threshold = 0.8
const surely = 0.9
const surelyNot = 0.7
const shingleLength = 5

const { below, text } = words(1)
const prompts: Array<string> = []
for (let i = 0; i < count; i++) {
  prompts.push(
    i % 4 === 3 ? edited(prompts[below(i)]!, below(16), below) : NormalizedPrompt.ofText(text(40 + below(80))),
  )
}

const shinglesOf = (prompt: string): ReadonlySet<string> =>
  new Set(Array.from({ length: prompt.length - shingleLength + 1 }, (_, i) => prompt.slice(i, i + shingleLength)))

/** Of each prompt, the highest Jaccard index with any before it. */
const naive = (): ReadonlyArray<number> => {
  const before: Array<ReadonlySet<string>> = []
  return prompts.map((prompt) => {
    const shingles = shinglesOf(prompt)
    let highest = 0
    for (const other of before) {
      const [less, more] = shingles.size < other.size ? [shingles, other] : [other, shingles]
      if (less.size < highest * more.size) continue
      let shared = 0
      for (const shingle of less) if (more.has(shingle)) shared++
      highest = Math.max(highest, shared / (less.size + more.size - shared))
    }
    before.push(shingles)
    return highest
  })
}

const prefstream = (): Promise<ReadonlyArray<boolean>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { add, earliest, room } = yield* NearDuplicates.make(threshold)
        for (const prompt of prompts) add(prompt)
        yield* room
        return Array.from(yield* earliest, (first, ordinal) => first !== ordinal)
      }),
    ),
  )

const timed = async <A>(run: () => A | Promise<A>): Promise<readonly [A, number]> => {
  const begun = performance.now()
  return [await run(), (performance.now() - begun) / 1000]
}

const times = { naive: [] as Array<number>, prefstream: [] as Array<number> }
let [indices, found]: [ReadonlyArray<number>, ReadonlyArray<boolean>] = [[], []]
// The first round warms up.
for (let round = 0; round <= rounds; round++) {
  const [slow, slowTime] = await timed(naive)
  const [fast, fastTime] = await timed(prefstream)
  ;[indices, found] = [slow, fast]
  if (round > 0) {
    times.naive.push(slowTime)
    times.prefstream.push(fastTime)
  }
}
const sure = indices.flatMap((index, i) => (index >= surely ? [found[i]!] : []))
const recall = sure.filter(Boolean).length / sure.length
const wrong = indices.filter((index, i) => found[i] && index < surelyNot).length
const ratio = median(times.naive) / median(times.prefstream)
console.log(`${count} prompts, ${sure.length} of them near-duplicates of Jaccard index ${surely} or more`)
console.log(`loop ${median(times.naive).toFixed(2)} s, prefstream ${median(times.prefstream).toFixed(3)} s`)
console.log(
  `${ratio.toFixed(0)} times as fast (at least 20), ${(recall * 100).toFixed(1)}% found (at least 99%), ${wrong} below index ${surelyNot}`,
)
process.exitCode = ratio >= 20 && recall >= 0.99 ? 0 : 1

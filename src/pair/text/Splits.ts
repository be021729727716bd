/**
 * Assigns each prompt to a split: train, validation or test.
 *
 * Guarantees: the split depends on the seed, the shares and earlier prompts only, so adding items never changes it. No
 * normal form is in two splits. A near-duplicate is in the split of the earliest prompt that it repeats;
 * `crossSplitNearDuplicates` counts those that repeat prompts of several splits. A larger share keeps its prompts.
 * Not guaranteed: exact shares. Each prompt has a number from 0 to 1 by a hash of seed and normal form.
 */
import { Effect, Schema } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import { Split, splits } from "../../domain/Split.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as NearDuplicates from "./NearDuplicates.ts"
import * as NormalizedPrompt from "./NormalizedPrompt.ts"

/** The shares of the prompts, which add up to 1, such as `{ train: 0.9, test: 0.1 }`. A split without a share stays empty. */
export type Shares = { readonly [split in Split]?: number | undefined }

/** An option is not what it must be. */
export class SplitsInvalid extends Schema.TaggedError<SplitsInvalid>()("SplitsInvalid", {
  field: Schema.String,
  expected: Schema.String,
  found: Schema.String,
}) {
  override get message() {
    return `${this.field}: expected ${this.expected}, found ${this.found}`
  }
}

/** The split of a prompt, and the earlier prompt that it follows. */
export interface Assignment {
  readonly split: Split
  /** The zero-based ordinal of the earliest prompt that this one nearly repeats; its own where it repeats none. */
  readonly earliest: number
  /** The estimated Jaccard index with that prompt: 1 where they are equal, or where it is its own. */
  readonly similarity: number
}

/** Assigns prompts to splits, one after the other. */
export interface Splits {
  /** Takes the next prompt. */
  readonly add: (prompt: Prompt) => Assignment
  /** The split of a prompt that was added, by its zero-based ordinal. */
  readonly splitOf: (ordinal: number) => Split | undefined
  /** Prompts that nearly repeat prompts of more than one split. */
  readonly crossSplitNearDuplicates: () => number
}

/** Options of `make`. */
export interface SplitsOptions {
  readonly shares: Shares
  /** An integer. */
  readonly seed?: number | undefined
  /** Minimum estimated Jaccard index of near-duplicates: above 0, at most 1. */
  readonly threshold?: number | undefined
}

/** Tolerance for sums of shares such as 0.7 + 0.2 + 0.1. */
const rounding = 1e-9

/** Fails with `SplitsInvalid` where an option is out of its range. */
export const make = Effect.fnUntraced(function* ({ seed = 0, shares, threshold = 0.8 }: SplitsOptions) {
  const refuse = (field: string, expected: string, found: unknown) =>
    new SplitsInvalid({ field, expected, found: String(found) })

  const { test = 0, train = 0, validation = 0 } = shares
  for (const [name, share] of Object.entries(shares)) {
    if (!Schema.is(Split)(name)) return yield* refuse(`shares.${name}`, `one of ${splits.join(", ")}`, name)
    if (share !== undefined && !(share > 0 && share <= 1 + rounding)) {
      return yield* refuse(`shares.${name}`, "a share above 0, at most 1", share)
    }
  }
  const sum = train + validation + test
  if (!(Math.abs(sum - 1) <= rounding)) return yield* refuse("shares", "shares that add up to 1", sum)
  if (!Number.isSafeInteger(seed)) return yield* refuse("seed", "a whole number", seed)
  if (!(threshold > 0 && threshold <= 1)) return yield* refuse("threshold", "a number above 0, at most 1", threshold)

  const splitAt = (place: number): Split =>
    place < test ? "test" : train === 0 || place >= 1 - validation ? lastSplit : "train"
  const lastSplit: Split = validation > 0 ? "validation" : train > 0 ? "train" : "test"

  const nearDuplicates = NearDuplicates.make(threshold)
  let assigned = new Uint8Array(1024)
  let size = 0
  let crossSplit = 0

  const result: Splits = {
    add: (prompt) => {
      const normal = NormalizedPrompt.ofPrompt(prompt)
      const ordinal = size++
      const { earlier, similarity } = nearDuplicates.add(normal)
      const earliest = earlier[0]
      const code = earliest === undefined ? splits.indexOf(splitAt(placeOf(seed, normal))) : assigned[earliest]!
      if (earlier.some((other) => assigned[other] !== code)) crossSplit++
      if (ordinal === assigned.length) {
        const larger = new Uint8Array(2 * ordinal)
        larger.set(assigned)
        assigned = larger
      }
      assigned[ordinal] = code
      return earliest === undefined
        ? { split: splits[code]!, earliest: ordinal, similarity: 1 }
        : { split: splits[code]!, earliest, similarity }
    },
    splitOf: (ordinal) => (ordinal < size ? splits[assigned[ordinal]!] : undefined),
    crossSplitNearDuplicates: () => crossSplit,
  }
  return result
})

/** Maps a prompt to a number, uniform in [0, 1), by the first 52 bits of a hash. */
const placeOf = (seed: number, normal: string): number =>
  Number.parseInt(Sha256.hex(`${seed}\n${normal}`).slice(0, 13), 16) / 2 ** 52

/**
 * Assigns each prompt to a split by a hash of the seed and the prompt's normal form. The sizes of the splits are
 * therefore not exact. A near-duplicate of earlier prompts gets the split of the earliest of them. Additional prompts
 * never change the splits of earlier prompts. If the share of `test` or `validation` is raised, no prompt leaves
 * that split. If prompts have groups, `SplitGroups` assigns them by other rules.
 */
import { Effect, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { Prompt } from "../../domain/Message.ts"
import { Split, splits } from "../../domain/Split.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as NumberList from "../stats/NumberList.ts"
import * as NearDuplicates from "./NearDuplicates.ts"
import * as NormalizedPrompt from "./NormalizedPrompt.ts"
import * as SplitGroups from "./SplitGroups.ts"

/** The shares of the prompts, which add up to 1: `{ train: 0.9, test: 0.1 }`. A split without a share is empty. */
export type Shares = { readonly [split in Split]?: number | undefined }

/** An option has an invalid value. */
export class SplitsInvalid extends Schema.TaggedError<SplitsInvalid>()("SplitsInvalid", {
  /** The option's name in `SplitsOptions`, such as `shares.test`. */
  field: Schema.String,
  /** A description of the allowed values. */
  expected: Schema.String,
  /** The value that was set, as text. */
  found: Schema.String,
}) {
  override get message() {
    return `${this.field}: expected ${this.expected}, found ${this.found}`
  }
}

/** Assigns prompts to splits. */
export interface Splits {
  /** Adds the next prompts. `groups` has the group of each prompt. A prompt with null is a group of its own. */
  readonly add: (
    prompts: ReadonlyArray<Prompt>,
    groups?: ReadonlyArray<string | null>,
  ) => Effect.Effect<void, NearDuplicates.SearchFailed>
  /** Returns the splits of all prompts so far. Prompts that are added later do not change them. */
  readonly assign: Effect.Effect<Assignment, NearDuplicates.SearchFailed>
}

/** The result of an assignment. Prompts are identified by their zero-based ordinals. */
export interface Assignment {
  /** Returns the split of a prompt. Undefined for an ordinal that was not added. */
  readonly splitOf: (ordinal: number) => Split | undefined
  /** Returns the earliest prompt that this prompt nearly repeats, or the prompt's own ordinal if it repeats none. */
  readonly earliestOf: (ordinal: number) => number | undefined
  /** Number of prompts that nearly repeat an earlier prompt of another split. Always 0 if prompts have groups. */
  readonly crossSplitNearDuplicates: number
  /** The sizes of the groups; undefined if no prompt has a group. */
  readonly groups: (SplitGroups.GroupSizes & { readonly ungrouped: number }) | undefined
}

/** Options of `make`. */
export interface SplitsOptions {
  /** Shares of the prompts, each above 0 and at most 1. They add up to 1. */
  readonly shares: Shares
  /** The seed, an integer. Default: 0. */
  readonly seed?: number | undefined
  /** Minimum estimated Jaccard index of near-duplicates, above 0 and at most 1. Default: 0.8. */
  readonly threshold?: number | undefined
  /** The directory for a scratch file. Default: the system's temporary directory. */
  readonly scratchDirectory?: string | undefined
}

const rounding = 1e-9

const kinds = { shares: Kinds.shares, scratchDirectory: Kinds.text, ...Kinds.all(Kinds.number, "seed threshold") }

/** Fails with `SplitsInvalid` if an option is out of its range. */
export const make = Effect.fnUntraced(function* (options: SplitsOptions) {
  const wrong = Kinds.wrongIn(options, kinds, ["shares"])
  if (wrong !== undefined) return yield* new SplitsInvalid({ ...wrong, field: wrong.setting })
  const { scratchDirectory, seed = 0, shares, threshold = NearDuplicates.defaultThreshold } = options
  const refuse = (field: string, expected: string, value: unknown) =>
    new SplitsInvalid({ field, expected, found: String(value) })

  const { test = 0, train = 0, validation = 0 } = shares
  for (const [name, share] of Object.entries(shares)) {
    if (!Schema.is(Split)(name)) return yield* refuse(`shares.${name}`, `one of ${splits.join(", ")}`, name)
    if (share !== undefined && !(share > 0 && share <= 1 + rounding)) {
      return yield* refuse(`shares.${name}`, "a share above 0 and at most 1", share)
    }
  }
  const sum = train + validation + test
  if (!(Math.abs(sum - 1) <= rounding)) return yield* refuse("shares", "shares that add up to 1", sum)
  if (!Number.isSafeInteger(seed)) return yield* refuse("seed", "a whole number", seed)
  if (!(threshold > 0 && threshold <= 1)) return yield* refuse("threshold", "a number above 0 and at most 1", threshold)

  const splitAt = (place: number): Split =>
    place < test ? "test" : train === 0 || place >= 1 - validation ? lastSplit : "train"
  const lastSplit: Split = validation > 0 ? "validation" : train > 0 ? "train" : "test"

  const nearDuplicates = yield* NearDuplicates.make(threshold, scratchDirectory)
  /** For each prompt, an index in `splits`, from the prompt's hash. `assign` may give near-duplicates another split. */
  const splitsByHash = NumberList.make(Uint8Array)
  const keys = NumberList.make(Float64Array)
  let ungrouped = 0

  const assignGroups = Effect.gen(function* () {
    const ofPrompts = keys.view()
    const sets = SplitGroups.disjointSets(ofPrompts.length)
    SplitGroups.joinEqual(ofPrompts, sets.join)
    yield* nearDuplicates.search((earlier, later) => sets.rootOf(earlier) !== sets.rootOf(later), sets.join)
    const roots = Uint32Array.from(ofPrompts, (_, ordinal) => sets.rootOf(ordinal))
    // The random number of a set depends on the seed and on the set's smallest key, but not on the order of prompts.
    const draws = ofPrompts.slice()
    roots.forEach((root, ordinal) => (draws[root] = Math.min(draws[root]!, draws[ordinal]!)))
    roots.forEach((root, ordinal) => (draws[ordinal] = root === ordinal ? placeOf(seed, String(draws[root])) : 0))
    const targets = splits.flatMap((split) => (shares[split] === undefined ? [] : [[split, shares[split]] as const]))
    const { splitOf, ...sizes } = SplitGroups.assign(roots, targets, draws)
    return {
      splitOf: (ordinal) => (ordinal in roots ? splitOf(roots[ordinal]!) : undefined),
      earliestOf: (ordinal) => roots[ordinal],
      crossSplitNearDuplicates: 0,
      groups: { ...sizes, ungrouped },
    } satisfies Assignment
  })

  const result: Splits = {
    add: (prompts, groups) =>
      Effect.suspend(() => {
        for (const [i, prompt] of prompts.entries()) {
          const text = Conversation.toText(prompt)
          nearDuplicates.add(text)
          const normal = NormalizedPrompt.ofText(text)
          splitsByHash.push(splits.indexOf(splitAt(placeOf(seed, normal))))
          if (groups === undefined) continue
          const group = groups[i]!
          if (group === null) ungrouped++
          keys.push(Sha256.leading52Bits(group === null ? `prompt ${normal}` : `group ${group}`))
        }
        return nearDuplicates.room
      }),
    assign: Effect.gen(function* () {
      if (ungrouped < keys.length()) return yield* assignGroups
      const earliest = yield* nearDuplicates.earliest
      const assigned = splitsByHash.view().slice()
      earliest.forEach((first, ordinal) => (assigned[ordinal] = assigned[first]!))
      const crosses = new Uint8Array(assigned.length)
      if (earliest.some((first, ordinal) => first !== ordinal)) {
        yield* nearDuplicates.search(
          (earlier, later) => assigned[earlier] !== assigned[later] && crosses[later] === 0,
          (_, later) => void (crosses[later] = 1),
        )
      }
      return {
        splitOf: (ordinal) => splits[assigned[ordinal]!],
        earliestOf: (ordinal) => earliest[ordinal],
        crossSplitNearDuplicates: crosses.reduce((sum, one) => sum + one, 0),
        groups: undefined,
      } satisfies Assignment
    }),
  }
  return result
})

const placeOf = (seed: number, normal: string): number => Sha256.leading52Bits(`${seed}\n${normal}`) / 2 ** 52

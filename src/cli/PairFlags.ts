/** The flags that say how judgments become pairs. */
import { Effect, Option, Struct } from "effect"
import { Flag } from "effect/cli"
import { bestAgainstOne } from "../pair/BestAgainstOne.ts"
import { bestAgainstRest } from "../pair/BestAgainstRest.ts"
import { fullRanking } from "../pair/FullRanking.ts"
import type { PairStrategy } from "../pair/Pairs.ts"
import { UsageError } from "./ExitStatus.ts"

/** By a seed, for those that draw. */
const strategies = {
  "best-against-rest": () => bestAgainstRest,
  "best-against-one": bestAgainstOne,
  "full-ranking": () => fullRanking,
} as const satisfies { readonly [name: string]: (seed?: number) => PairStrategy }

export const pairFlags = {
  pairs: Flag.Literals("pairs", Struct.keys(strategies)).pipe(
    Flag.withDescription(
      "Pairs of an item: the best completion against each of the rest, or against one that is drawn; or, where the experts ranked, each two of which one is ranked higher (default: best-against-rest)",
    ),
    Flag.optional,
  ),
  pairSeed: Flag.Int("pair-seed").pipe(
    Flag.withDescription("With best-against-one: another whole number is another draw (default: 0)"),
    Flag.optional,
  ),
}

interface PairFlags {
  readonly pairs: Option.Option<keyof typeof strategies>
  readonly pairSeed: Option.Option<number>
}

/** The strategy that the flags name, or else a pipeline's own. */
export const pairsOf = Effect.fnUntraced(function* (
  { pairs, pairSeed }: PairFlags,
  pipeline: PairStrategy | undefined,
): Effect.fn.Return<PairStrategy | undefined, UsageError> {
  if (Option.isSome(pairSeed) && !Option.contains(pairs, "best-against-one")) {
    return yield* new UsageError({ message: "--pair-seed: only with --pairs best-against-one, which draws" })
  }
  return Option.match(pairs, {
    onNone: () => pipeline,
    onSome: (name) => strategies[name](Option.getOrUndefined(pairSeed)),
  })
})

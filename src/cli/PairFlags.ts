/** The flags that say how judgments become pairs. */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { bestAgainstOne } from "../pair/BestAgainstOne.ts"
import { bestAgainstRest } from "../pair/BestAgainstRest.ts"
import { fullRanking } from "../pair/FullRanking.ts"
import type { PairStrategy } from "../pair/Pairs.ts"
import { UsageError } from "./ExitStatus.ts"

export const pairFlags = {
  pairs: Flag.Literals("pairs", ["best-against-rest", "best-against-one", "full-ranking"]).pipe(
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
  readonly pairs: Option.Option<"best-against-rest" | "best-against-one" | "full-ranking">
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
  switch (Option.getOrUndefined(pairs)) {
    case undefined:
      return pipeline
    case "best-against-rest":
      return bestAgainstRest
    case "best-against-one":
      return bestAgainstOne(Option.getOrUndefined(pairSeed))
    case "full-ranking":
      return fullRanking
  }
})

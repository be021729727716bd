/**
 * A pair for each two completions of which the experts ranked one above the other: up to
 * K (K − 1) / 2 pairs of K completions.
 */
import { Option } from "effect"
import { bestAgainstRest } from "./BestAgainstRest.ts"
import * as Pairs from "./Pairs.ts"

/**
 * In the order of the ranking. Completions that are ranked together make no pair. Where there is
 * no ranking, the best one against each of the rest.
 */
export const fullRanking = Pairs.named({ strategy: "full-ranking" }, (judgment) =>
  Option.match(Pairs.rankingOf(judgment), {
    onNone: () => bestAgainstRest(judgment),
    onSome: (groups) =>
      Pairs.make(
        judgment,
        groups.flatMap((better, i) => {
          const worse = groups.slice(i + 1).flat()
          return better.flatMap((chosen) => worse.map((rejected): Pairs.IndexPair => [chosen, rejected]))
        }),
      ),
  }),
)

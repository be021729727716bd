/** One pair for each completion that was not preferred: the best against each of the rest. */
import * as Pairs from "./Pairs.ts"

/** At most `completions.length - 1` pairs, in the order of the completions; none against one that is ranked as equally good. */
export const bestAgainstRest = Pairs.named({ strategy: "best-against-rest" }, (judgment) =>
  Pairs.make(
    judgment,
    Pairs.restOf(judgment).map((rejected) => [judgment.bestCompletionIndex, rejected]),
  ),
)

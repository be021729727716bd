/**
 * One pair per item: the best against one of the rest, drawn by a seed.
 *
 * Guarantees: what is drawn follows from the seed, the item's id and the completions' texts
 * alone: it stays the same when data grow, and in whatever order the completions stand.
 */
import { Array as Arr, Order } from "effect"
import * as Sha256 from "../node/Sha256.ts"
import * as Pairs from "./Pairs.ts"

/** @param seed a whole number; each gives another draw */
export const bestAgainstOne = (seed = 0) =>
  Pairs.named({ strategy: "best-against-one", seed }, (judgment) => {
    const { bestCompletionIndex, completions, itemId } = judgment
    const candidates = Pairs.restOf(judgment)
      .map((rejected): Pairs.IndexPair => [bestCompletionIndex, rejected])
      .filter((pair) => Pairs.differ(judgment, pair))
    const draw = ([, rejected]: Pairs.IndexPair) => Sha256.hex(JSON.stringify([seed, itemId, completions[rejected]]))
    return Arr.isReadonlyArrayNonEmpty(candidates)
      ? Pairs.make(judgment, [Arr.min(candidates, Order.mapInput(Order.String, draw))])
      : []
  })

/** Groups models that were compared directly or via other models. A tie is a win for both, unless ties are dropped. */
import type { LeaderboardMethod, LeaderboardRow } from "../../domain/Leaderboard.ts"
import * as Components from "../stats/Components.ts"
import { type Comparisons, outcomes } from "./Comparisons.ts"

/** In `groups`, each model has the number of its group. The largest group has the number 1. */
export const of = ({ cells, entries, models, weights }: Comparisons, ties: LeaderboardMethod["ties"]) => {
  const edges = new Map<string, Components.Edge>()
  const add = (...edge: Components.Edge) => edges.set(edge.join(" "), edge)
  for (const [i, entry] of entries.entries()) {
    const { one, other } = cells[Math.floor(entry / outcomes)]!
    const outcome = entry % outcomes
    if (weights[i] === 0 || (outcome === 1 && ties === "drop")) continue
    if (outcome < 2) add(one, other)
    if (outcome > 0) add(other, one)
  }
  const wins = [...edges.values()]
  const weak = Components.weak(models.length, wins)
  const strong = Components.strong(models.length, wins)
  const sizes = new Map<number, number>()
  for (const component of weak) sizes.set(component, (sizes.get(component) ?? 0) + 1)
  const order = [...sizes].toSorted(([, a], [, b]) => b - a).map(([component]) => component)
  const [lost, won] = [new Set<number>(), new Set<number>()]
  for (const [winner, loser] of wins) {
    if (strong[winner] === strong[loser]) continue
    won.add(strong[winner]!)
    lost.add(strong[loser]!)
  }
  const extremes = models.map((_, number): LeaderboardRow["extreme"] => {
    const component = strong[number]!
    const [hasLost, hasWon] = [lost.has(component), won.has(component)]
    return hasWon && !hasLost ? "never_lost" : hasLost && !hasWon ? "never_won" : null
  })
  return { groups: models.map((_, number) => 1 + order.indexOf(weak[number]!)), extremes }
}

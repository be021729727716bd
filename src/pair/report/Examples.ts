/** Draws pairs for the report: those with the smallest keys. So the order of the items does not matter. */
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Example } from "../../domain/QualityReport.ts"

const maxExamples = 8

export const make = () => {
  let drawn: Array<{ readonly key: string; readonly example: Example }> = []
  return {
    add: (pair: PreferencePair, key: string): void => {
      if (drawn.length === maxExamples && key >= drawn.at(-1)!.key) return
      const { agreement, chosen, item_id, prompt, rationale, rejected, votes } = pair
      drawn.push({ key, example: { prompt, chosen, rejected, rationale, item_id, agreement, votes } })
      drawn = drawn.toSorted((a, b) => (a.key < b.key ? -1 : 1)).slice(0, maxExamples)
    },
    finish: () => drawn.map(({ example }) => example),
  }
}

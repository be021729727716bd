/**
 * How the models that wrote the completions fare: how often what each wrote was chosen, and rejected.
 *
 * Guarantees: counts pairs of the dataset whose completions are of two models, no others: a pair of one model's
 * says nothing of it beside the others. A text that several models wrote counts for each of them. The share of pairs won is the mean, over a model's items, of
 * its share in the item's pairs, so that each item counts once, however many pairs it gives. Where all completions
 * of an item are paired, it is above a half for what is better than the others; where only the best is paired with
 * the rest, models of equal worth win 1 of K among K.
 *
 * Memory grows with the number of models; the rows of those with most items are given.
 */
import type { JudgedItem } from "../../domain/JudgedItem.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { ModelRow } from "../../domain/QualityReport.ts"

interface Row {
  items: number
  chosen: number
  rejected: number
  /** Sum over the items of the share of the item's pairs that it won. */
  won: number
}

/** Names that are no models, but of each completion its own, would make a report of any size. */
const mostRows = 100

export const make = () => {
  const rows = new Map<string, Row>()
  return {
    /** The pairs of one item. */
    add: (
      pairs: ReadonlyArray<PreferencePair>,
      { completions, models = [] }: Pick<JudgedItem, "completions" | "models">,
    ): void => {
      const modelsOf = (text: string) => models.filter((_, index) => completions[index] === text)
      const inItem = new Map<string, { chosen: number; rejected: number }>()
      const count = (model: string, as: "chosen" | "rejected") => {
        const counts = inItem.get(model) ?? { chosen: 0, rejected: 0 }
        counts[as]++
        inItem.set(model, counts)
      }
      for (const { chosen, rejected } of pairs) {
        const losers = modelsOf(rejected)
        for (const winner of modelsOf(chosen)) {
          for (const loser of losers) {
            if (winner === loser) continue
            count(winner, "chosen")
            count(loser, "rejected")
          }
        }
      }
      for (const [model, { chosen, rejected }] of inItem) {
        const row = rows.get(model) ?? { items: 0, chosen: 0, rejected: 0, won: 0 }
        row.items++
        row.chosen += chosen
        row.rejected += rejected
        row.won += chosen / (chosen + rejected)
        rows.set(model, row)
      }
    },
    finish: (): ReadonlyArray<ModelRow> =>
      [...rows]
        .map(([model, { won, ...row }]) => ({ model, ...row, share_won: won / row.items }))
        .toSorted((a, b) => b.items - a.items || (a.model < b.model ? -1 : 1))
        .slice(0, mostRows)
        .toSorted((a, b) => b.share_won - a.share_won || b.items - a.items || (a.model < b.model ? -1 : 1)),
  }
}

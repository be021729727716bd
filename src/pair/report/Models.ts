/** Win rates of models; each item counts once. If each item has K models and one winner, the mean win rate is 1/K. */
import { firstOfText } from "../../domain/CompletionTexts.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { ModelRow } from "../../domain/QualityReport.ts"

interface ModelTally {
  items: number
  chosen: number
  rejected: number
  won: number
}

/** Maximum number of rows. If each completion had its own model name, the report would grow with the input. */
const maxRows = 100

export const make = () => {
  const rows = new Map<string, ModelTally>()
  return {
    add: (
      pairs: ReadonlyArray<PreferencePair>,
      { completions, models = [] }: Pick<JudgedItem, "completions" | "models">,
    ): void => {
      if (models.length === 0) return
      const first = firstOfText(completions)
      const modelsOf = (completion: number) => models.filter((_, index) => first[index] === first[completion])
      const inItem = new Map<string, { chosen: number; rejected: number }>()
      const count = (model: string, as: "chosen" | "rejected") => {
        const counts = inItem.get(model) ?? { chosen: 0, rejected: 0 }
        counts[as]++
        inItem.set(model, counts)
      }
      for (const { chosen_index: chosen, rejected_index: rejected } of pairs) {
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
    count: (): number => rows.size,
    finish: (): ReadonlyArray<ModelRow> =>
      [...rows]
        .map(([model, { won, ...row }]) => ({ model, ...row, win_rate: won / row.items }))
        .toSorted((a, b) => b.items - a.items || (a.model < b.model ? -1 : 1))
        .slice(0, maxRows)
        .toSorted((a, b) => b.win_rate - a.win_rate || b.items - a.items || (a.model < b.model ? -1 : 1)),
  }
}

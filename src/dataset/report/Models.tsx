/** Each model's share of pairs won, highest first. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, plural, share } from "./format.ts"
import { Name, Section, Table, textColumn } from "./parts.tsx"

const columns = [textColumn("Model"), "Items", "Chosen", "Rejected", "Share of pairs won"]

export const Models = ({ report: { model_count, models } }: { readonly report: QualityReport }) => {
  const [first] = models
  if (first === undefined) {
    return (
      <Section
        id="models"
        title="Models"
        lead="The input has no model names, or no pair has completions from two models."
      />
    )
  }
  return (
    <Section
      id="models"
      title="Models"
      lead={
        <>
          {plural(model_count, "model")}
          {model_count > models.length && ` (the ${count(models.length)} with the most items are listed)`};{" "}
          <Name text={first.model} chars={40} /> has the highest share of pairs won: {share(first.win_rate)}.
        </>
      }
    >
      <Table
        label="Share of pairs that each model won"
        columns={columns}
        rows={models.map(({ chosen, items, model, rejected, win_rate }) => [
          <Name text={model} chars={60} />,
          count(items),
          count(chosen),
          count(rejected),
          share(win_rate),
        ])}
      />
      <p class="muted small">
        The table includes only pairs with completions from two different models. Chosen and Rejected are numbers of
        pairs. For each item, the share of pairs that the model won is computed. The last column is the mean of these
        shares. If an item’s best completion is paired with the k − 1 other completions, equally good models have a
        share of 1/k. The leaderboard has a different number, the win rate, which is computed from votes.
      </p>
    </Section>
  )
}

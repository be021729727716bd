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
        Only pairs with completions from two different models count. The columns Chosen and Rejected count pairs. The
        share of pairs won is computed for each item of the model; the table shows the mean. The win rate in the
        leaderboard is a different number, because it is computed from votes. If the best of k completions is paired
        with each of the others, models that are equally good each have a share of 1/k.
      </p>
    </Section>
  )
}

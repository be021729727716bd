/** Example pairs of the dataset, with their rationales. */
import { useState } from "preact/hooks"
import type { Example, QualityReport } from "../../domain/QualityReport.ts"
import { Button } from "../../service/pages/shared/Button.tsx"
import { count, plural, share } from "./format.ts"
import { Name, Section } from "./parts.tsx"
import { Comparison } from "./Texts.tsx"

const firstExamples = 6

const voteSummary = ({ agreement, votes }: Example): string =>
  agreement === null ? plural(votes, "vote") : `${plural(votes, "vote")}, ${share(agreement)} for the best`

export const Examples = ({ report: { examples } }: { readonly report: QualityReport }) => {
  const [isAll, setAll] = useState(false)
  const shown = isAll ? examples : examples.slice(0, firstExamples)
  const withReason = examples.filter(({ rationale }) => rationale !== null).length
  return (
    <Section
      id="examples"
      title="Examples"
      lead={
        examples.length === 0
          ? "There are no pairs to show."
          : `${plural(examples.length, "pair")} from the dataset, ${
              withReason === 0 ? "without a rationale" : `${count(withReason)} with a rationale`
            }.`
      }
    >
      {shown.map((example, i) => (
        <article key={i} class="stack example" aria-labelledby={`example-${i + 1}`}>
          <div class="row example-head">
            <h3 id={`example-${i + 1}`}>Example {count(i + 1)}</h3>
            <span class="code muted">
              <Name text={example.item_id} />
            </span>
            <span class="badge">{voteSummary(example)}</span>
          </div>
          <Comparison
            label={`example ${i + 1}`}
            prompt={example.prompt}
            rationale={example.rationale}
            answers={[
              { title: "Chosen", text: example.chosen, tone: "chosen" },
              { title: "Rejected", text: example.rejected, tone: "rejected" },
            ]}
          />
        </article>
      ))}
      {examples.length > firstExamples && (
        <Button
          look="start"
          text={isAll ? `Show the first ${firstExamples} only` : `Show all ${count(examples.length)} examples`}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        />
      )}
    </Section>
  )
}

/** Agreement of experts on the same items. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { type Fact, Facts } from "../../service/pages/shared/Facts.tsx"
import { count, decimal, plural, share, shareOf } from "./format.ts"
import { drawBars } from "./charts.ts"
import { Figure } from "./Figure.tsx"
import { drawHistogram, rowsOf } from "./histogram.ts"
import { Section } from "./parts.tsx"
import { describeKappa, list } from "./wording.ts"

type AgreementReport = QualityReport["agreement"]

const methods: Record<AgreementReport["method"], string> = {
  majority: "the majority of the votes",
  "dawid-skene": "votes weighted by expert reliability (Dawid–Skene)",
}

export const choiceBy = ({ items, method, not_majority }: AgreementReport): string => {
  const itemsChosenBy = (by: AgreementReport["not_majority"][number]["by"]) =>
    not_majority.find((each) => each.by === by)?.items ?? 0
  const [service, lead] = [itemsChosenBy("service"), itemsChosenBy("lead")]
  const different = service + lead + itemsChosenBy("reliability")
  const sources = [
    { words: methods[method] ?? method, items: items - service - lead },
    { words: "the service", items: service },
    { words: "a lead", items: lead },
  ].filter((way) => way.items > 0)
  const words = list(sources.map((way) => (sources.length === 1 ? way.words : `${way.words} on ${count(way.items)}`)))
  return different === 0 ? words : `${words}; on ${plural(different, "item")}, the choice differs from the majority`
}

const unknownAgreement = ({ votes_per_item }: AgreementReport): string => {
  const items = votes_per_item.reduce((sum, each) => sum + each.items, 0)
  if (items === 0) return "Agreement is unknown, because no item was judged."
  return "Agreement is unknown, because each item has one vote."
}

const facts = (agreement: AgreementReport): ReadonlyArray<Fact> => {
  const {
    compared_items,
    free_marginal_kappa: kappa,
    items,
    krippendorff_alpha: alpha,
    mean_agreement: mean,
    ties,
    unanimous,
  } = agreement
  return [
    [
      "Free-marginal kappa (Randolph)",
      kappa === null ? "–" : decimal(kappa),

      kappa === null
        ? "unknown"
        : `${describeKappa(kappa)}; computed from ${plural(compared_items, "item")} with at least two votes that each prefer one completion. Kappa counts agreement beyond chance. By chance, two votes on K different completions agree with probability 1/K`,
    ],
    [
      "Krippendorff’s alpha",
      alpha === null ? "–" : decimal(alpha),
      "alpha counts agreement beyond chance. If most votes choose, say, the first completion of each item, chance explains their agreement, and alpha is low",
    ],
    ["Mean share of votes for the chosen completion", mean === null ? "–" : share(mean)],
    ["Unanimous", shareOf(unanimous, items), plural(unanimous, "item")],
    ["Ties", shareOf(ties, items), plural(ties, "item")],
  ]
}

const drawVotes = (votes: AgreementReport["votes_per_item"]) =>
  drawBars(
    votes.map(({ items, votes }) => ({ label: plural(votes, "vote"), value: items, words: count(items) })),
    28,
    64,
    64,
  )

export const Agreement = ({ report: { agreement } }: { readonly report: QualityReport }) => {
  const { items, votes_per_item } = agreement
  if (items === 0) return <Section id="agreement" title="Agreement" lead={unknownAgreement(agreement)} />
  const judgedItems = votes_per_item.reduce((sum, each) => sum + each.items, 0)
  const largest = votes_per_item.reduce((a, b) => (b.items > a.items ? b : a), { votes: 0, items: 0 })
  const hasHistogram = agreement.agreement.counts.length > 0
  return (
    <Section
      id="agreement"
      title="Agreement"
      lead={`${plural(items, "item")} of ${count(judgedItems)} ${items === 1 ? "has" : "have"} several votes. The best completion was chosen by ${choiceBy(agreement)}.`}
    >
      <Facts facts={facts(agreement)} />
      <div class="grid columns">
        <Figure
          plots={[
            {
              title: "Votes per item",
              description: `Bar chart of items by number of votes; the most common number of votes is ${count(largest.votes)} (${plural(largest.items, "item")}).`,
              draw: drawVotes(votes_per_item),
            },
          ]}
          caption={`The most common number of votes per item is ${count(largest.votes)} (${shareOf(largest.items, judgedItems)} of the items).`}
          label="Votes per item"
          columns={["Votes", "Items", "Share"]}
          rows={votes_per_item.map((each) => [count(each.votes), count(each.items), shareOf(each.items, judgedItems)])}
        />
        {hasHistogram && (
          <Figure
            plots={[
              {
                title: "Share of an item’s votes that prefer the chosen completion",
                description: `Histogram of agreement; ${shareOf(agreement.unanimous, items)} of the items are unanimous.`,
                draw: drawHistogram(agreement.agreement, {
                  unit: "share",
                  label: "share of the item’s votes →",
                  fill: "var(--accent)",
                }),
              },
            ]}
            caption={`${shareOf(agreement.unanimous, items)} of the items are unanimous. Bars: share of the items.`}
            label="Agreement"
            columns={["Share of votes", "Items", "Share of items"]}
            rows={rowsOf(agreement.agreement, "share")}
          />
        )}
      </div>
    </Section>
  )
}

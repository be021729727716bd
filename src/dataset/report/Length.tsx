/** Shows whether experts prefer longer completions, and how long texts are. */
import type { Distribution } from "../../domain/Distribution.ts"
import type { Length, QualityReport } from "../../domain/QualityReport.ts"
import { Facts } from "../../service/pages/shared/Facts.tsx"
import { decimal, length, plural, share, shareOf } from "./format.ts"
import { Figure } from "./Figure.tsx"
import { drawHistogram, isSpread, leftOut, rowsOf } from "./histogram.ts"
import { Section, Table, textColumn } from "./parts.tsx"
import { describeEffect } from "./wording.ts"

const lead = ({ cohens_d, share_longer }: Length): string => {
  if (share_longer === null) return "Length bias is unknown, because no pair has completions of different lengths."
  const effect =
    cohens_d === null ? "" : ` The difference is ${describeEffect(cohens_d)} (Cohen’s d ${decimal(cohens_d)}).`
  return `The longer completion was chosen in ${share(share_longer)} of the pairs with different lengths (50% would mean no preference). If an item has k pairs, each of these pairs counts as 1/k.${effect}`
}

const items = (n: number): string =>
  Number.isInteger(n)
    ? plural(n, "item")
    : `${decimal(n, 1)} items (a fraction, because each of an item’s k pairs counts as 1/k)`

const binColumns = (unit: string) => ["Characters", unit, "Share"]

export const LengthDifference = ({ report: { length: lengths } }: { readonly report: QualityReport }) => {
  const { difference } = lengths
  const all = lengths.longer_chosen + lengths.equal + lengths.shorter_chosen
  const median = difference.p50 === null ? "" : `The median difference is ${length(difference.p50)} characters.`
  return (
    <Section id="length" title="Length of chosen and rejected" lead={lead(lengths)}>
      {all > 0 && (
        <Facts
          facts={[
            ["Chosen is longer", shareOf(lengths.longer_chosen, all), items(lengths.longer_chosen)],
            ["Equally long", shareOf(lengths.equal, all), items(lengths.equal)],
            ["Chosen is shorter", shareOf(lengths.shorter_chosen, all), items(lengths.shorter_chosen)],
          ]}
        />
      )}
      {isSpread(difference) && (
        <Figure
          plots={[
            {
              description: `Histogram of the length of the chosen completion minus the length of the rejected completion. ${median}`,
              draw: drawHistogram(difference.histogram, {
                unit: "characters",
                label: "← rejected is longer · chosen is longer →",
                fill: "var(--accent)",
                height: 230,
                marks: [{ at: 0, words: "equally long" }],
              }),
            },
          ]}
          caption={`Length of the chosen completion minus length of the rejected completion, in characters. ${median}${leftOut(difference.histogram, "characters")}`}
          label="Differences in length"
          columns={binColumns("Pairs")}
          rows={rowsOf(difference.histogram, "characters")}
        />
      )}
    </Section>
  )
}

interface Side {
  readonly title: string
  readonly fill: string
  readonly sizes: Distribution
}

const sidesOf = ({ chosen, prompt, rejected }: Length): ReadonlyArray<Side> =>
  [
    { title: "Prompt", fill: "var(--line-strong)", sizes: prompt },
    { title: "Chosen", fill: "var(--accent)", sizes: chosen },
    { title: "Rejected", fill: "var(--rejected)", sizes: rejected },
  ].filter(({ sizes }) => sizes.count > 0)

const quantiles = ["p05", "p50", "p95", "p99", "max"] as const

export const Sizes = ({ report }: { readonly report: QualityReport }) => {
  const sides = sidesOf(report.length)
  if (sides.length === 0)
    return <Section id="sizes" title="Sizes" lead="Sizes are unknown, because there are no pairs." />
  const drawn = sides.filter(({ sizes }) => isSpread(sizes))
  const sharedAxis = drawn.map(({ sizes }) => sizes.histogram)
  const largest = sides.reduce((a, b) => ((b.sizes.p99 ?? 0) > (a.sizes.p99 ?? 0) ? b : a))
  return (
    <Section
      id="sizes"
      title="Sizes"
      lead={`The longest texts are in “${largest.title.toLowerCase()}”; 99% of these texts have at most ${length(largest.sizes.p99)} characters. An English token has about 4 characters.`}
    >
      <Table
        label="Sizes in characters"
        columns={[
          textColumn("Characters"),
          "mean",
          ...quantiles.map((title) => ({ title: title === "p50" ? "p50 (median)" : title })),
        ]}
        rows={sides.map(({ sizes, title }) => [
          title,
          length(sizes.mean),
          ...quantiles.map((key) => length(sizes[key])),
        ])}
      />
      {drawn.length > 0 && (
        <Figure
          plots={drawn.map(({ fill, sizes, title }, i) => ({
            title,
            description: `Histogram of the sizes of ${title.toLowerCase()}; the median is ${length(sizes.p50)} characters.`,
            draw: drawHistogram(sizes.histogram, {
              unit: "characters",
              label: i === drawn.length - 1 ? "characters →" : null,
              fill,
              height: i === drawn.length - 1 ? 138 : 120,
              sharedAxis,
              marks: sizes.p50 === null ? [] : [{ at: sizes.p50, words: `median ${length(sizes.p50)}`, dashed: true }],
            }),
          }))}
          caption={`Sizes in characters (Unicode code points). Bars: share of the texts.${drawn
            .map(({ sizes, title }) =>
              leftOut(sizes.histogram, "characters").replace(" Chart range", ` ${title}, chart range`),
            )
            .join("")}`}
          label="Sizes"
          columns={[textColumn("Side"), ...binColumns("Texts")]}
          rows={sides.flatMap(({ sizes, title }) =>
            rowsOf(sizes.histogram, "characters").map((row) => [title, ...row]),
          )}
        />
      )}
    </Section>
  )
}

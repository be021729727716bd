/** Answers to the rubric's questions. The section is omitted if there are no answers. */
import type { Distribution } from "../../domain/Distribution.ts"
import type { QualityReport } from "../../domain/QualityReport.ts"
import type { AspectReport, RubricReport, StrengthReport } from "../../domain/RubricReport.ts"
import { type Fact, Facts } from "../../service/pages/shared/Facts.tsx"
import { count, decimal, length, name, plural, shareOf } from "./format.ts"
import { Figure, type FigureProps } from "./Figure.tsx"
import { drawHistogram, isSpread, leftOut, rowsOf } from "./histogram.ts"
import { More, Name, Section, Table, textColumn } from "./parts.tsx"
import { drawSteps, type Series, stepsOf } from "./steps.ts"
import { list } from "./wording.ts"

const maxDrawn = 12
const maxModels = 30

const mean = (value: number | null): string => (value === null ? "–" : decimal(value))

const signed = (value: number): string => `${value > 0 ? "+" : ""}${decimal(value)}`

const lead = (
  { all_bad, aspect_count, aspects, edited, items, strength, votes }: RubricReport,
  judged: number,
): string => {
  const parts = [
    ...(strength === null ? [] : [`a mean strength of ${mean(strength.votes.mean)}`]),
    ...(all_bad.answered === 0 ? [] : [`${plural(all_bad.items, "item")} without a good completion`]),
    ...(edited.items === 0 ? [] : [plural(edited.items, "edit")]),
    ...(aspects.length === 0 ? [] : [`ratings of ${plural(aspect_count, "aspect")}`]),
  ]
  return `Rubric questions are answered in ${plural(votes, "vote")} on ${count(items)} of ${plural(judged, "judged item")}${parts.length === 0 ? "" : `: ${list(parts)}`}.`
}

const facts = ({ all_bad, edited, items, strength }: RubricReport): ReadonlyArray<Fact | false> => {
  const { krippendorff_alpha: alpha = null, votes } = strength ?? {}
  const { p50: medianChange } = edited.length_change
  return [
    votes !== undefined && [
      "Mean strength",
      mean(votes.mean),
      `from ${plural(votes.count, "vote")}; a strength of 1 means the weakest preference`,
    ],
    votes !== undefined && [
      "Agreement on strength",
      mean(alpha),
      alpha === null
        ? "unknown, because no item has several strengths for its best completion, or because all strengths are equal"
        : "Krippendorff’s alpha for numbers (interval data), computed from the votes for each item’s best completion",
    ],
    all_bad.answered > 0 && [
      "All completions bad",
      shareOf(all_bad.items, all_bad.answered),
      `${count(all_bad.items)} of ${plural(all_bad.answered, "item")} on which experts answered this question`,
    ],
    [
      "Best completion edited",
      shareOf(edited.items, items),
      medianChange === null
        ? "0 items"
        : `${count(edited.items)} of ${plural(items, "item")} with rubric answers; median change in length: ${describeChange(medianChange)}`,
    ],
  ]
}

const describeChange = (characters: number): string => {
  const size = Math.round(Math.abs(characters))
  const sign = size === 0 ? "" : characters > 0 ? "+" : "−"
  return `${sign}${plural(size, "character")}`
}

interface ScaleOptions {
  readonly caption: FigureProps["caption"]
  readonly label: string
  readonly title?: string
}

const scaleFigure = (
  scale: string,
  series: ReadonlyArray<Series>,
  { caption, label, title }: ScaleOptions,
): FigureProps | undefined => {
  const seriesWithAnswers = series.filter(({ values }) => values.count > 0)
  if (seriesWithAnswers.length === 0) return undefined
  const steps = stepsOf(seriesWithAnswers)
  const description = `Distribution of ${scale}: ${list(seriesWithAnswers.map((each) => `the mean for ${each.title.toLowerCase()} is ${mean(each.values.mean)}`))}.`
  const titleOption = title === undefined ? {} : { title }
  if (steps !== undefined) {
    return {
      plots: [{ ...titleOption, description, draw: drawSteps(seriesWithAnswers, steps, label) }],
      caption,
      label: scale,
      columns: [textColumn("Answer"), ...seriesWithAnswers.flatMap((each) => [each.title, "Share"])],
      rows: steps.map(({ counts, step }) => [
        count(step),
        ...counts.flatMap((answers, i) => [count(answers), shareOf(answers, seriesWithAnswers[i]!.values.count)]),
      ]),
    }
  }
  const drawn = seriesWithAnswers.filter(({ values }) => isSpread(values))
  const sharedAxis = drawn.map(({ values }) => values.histogram)
  return drawn.length === 0
    ? undefined
    : {
        plots: drawn.map((each) => ({
          title: [title, each.title].filter((part) => part !== undefined).join(": "),
          description,
          draw: drawHistogram(each.values.histogram, {
            unit: "number",
            label,
            fill: each.fill,
            height: 140,
            sharedAxis,
          }),
        })),
        caption,
        label: scale,
        columns: [textColumn("Side"), "Answers", "Count", "Share"],
        rows: drawn.flatMap((each) => rowsOf(each.values.histogram, "number").map((row) => [each.title, ...row])),
      }
}

const outcomeNames: Record<StrengthReport["by_outcome"][number]["outcome"], string> = {
  one_vote: "one vote",
  unanimous: "all votes for the same completion",
  divided: "votes divided",
  tie: "tie",
}

const Strength = ({ strength }: { readonly strength: StrengthReport }) => {
  const figure = scaleFigure("strengths", [{ title: "Votes", fill: "var(--accent)", values: strength.votes }], {
    label: "strength: how much better the best completion is →",
    caption: "Bars: share of the votes with a strength.",
  })
  return (
    <>
      <h3>Strength</h3>
      <div class="grid columns">
        {figure !== undefined && <Figure {...figure} />}
        <div>
          <Table
            label="Mean strength by vote outcome"
            columns={[textColumn("Outcome"), "Items", "Mean strength"]}
            rows={strength.by_outcome.map(({ items, mean, outcome }) => [
              outcomeNames[outcome] ?? outcome,
              count(items),
              decimal(mean),
            ])}
          />
          <p class="muted small">
            The strength of an item is the mean strength in the votes for its best completion. The dataset contains this
            mean. A higher strength is expected if all votes are for the same completion.
          </p>
        </div>
      </div>
    </>
  )
}

const difference = ({ chosen, rejected }: AspectReport): string =>
  chosen.mean === null || rejected.mean === null ? "–" : signed(chosen.mean - rejected.mean)

const sides = ({ chosen, rejected }: AspectReport): ReadonlyArray<Series> => [
  { title: "Chosen", fill: "var(--accent)", values: chosen },
  { title: "Rejected", fill: "var(--rejected)", values: rejected },
]

const AspectsByModel = ({ aspects }: { readonly aspects: ReadonlyArray<AspectReport> }) => {
  const models = [...new Set(aspects.flatMap((aspect) => aspect.models.map(({ model }) => model)))]
  if (models.length === 0) return null
  const rows = models.map((model) => aspects.map((aspect) => aspect.models.find((row) => row.model === model)))
  return (
    <>
      <h3>Aspects by model</h3>
      <Table
        label="Mean rating of each aspect by model"
        class="aspects"
        columns={[textColumn("Model"), ...aspects.map(({ aspect }) => ({ title: <Name text={aspect} /> }))]}
        rows={rows
          .slice(0, maxModels)
          .map((row, i) => [<Name text={models[i]!} />, ...row.map((cell) => mean(cell?.mean ?? null))])}
      />
      <More shown={maxModels} of={models.length} what="models" />
      <p class="muted small">The mean of all ratings of a model’s completions, whether or not they are in a pair.</p>
    </>
  )
}

const Aspects = ({ aspects, of }: { readonly aspects: ReadonlyArray<AspectReport>; readonly of: number }) => (
  <>
    <h3>Aspects</h3>
    <Table
      label="Ratings by aspect"
      class="aspects"
      columns={[textColumn("Aspect"), "Chosen", "Rejected", "Difference", "Ratings", "Alpha"]}
      rows={aspects.map((aspect) => [
        <Name text={aspect.aspect} />,
        mean(aspect.chosen.mean),
        mean(aspect.rejected.mean),
        difference(aspect),
        count(aspect.chosen.count + aspect.rejected.count),
        mean(aspect.krippendorff_alpha),
      ])}
    />
    <p class="muted small">
      Chosen and Rejected are mean ratings of the chosen and the rejected completions in the dataset’s pairs. Alpha is
      Krippendorff’s alpha (interval data) between experts’ ratings of the same completion.
    </p>
    <div class="grid columns">
      {aspects.slice(0, maxDrawn).map((aspect) => {
        const figure = scaleFigure(`ratings of ${name(aspect.aspect)}`, sides(aspect), {
          title: name(aspect.aspect),
          label: "rating →",
          caption: (
            <>
              <span class="key chosen">Chosen</span> {mean(aspect.chosen.mean)},{" "}
              <span class="key rejected">rejected</span> {mean(aspect.rejected.mean)} on average. Bars: share of the
              ratings, separately for chosen and rejected completions.
            </>
          ),
        })
        return figure === undefined ? null : <Figure key={aspect.aspect} {...figure} />
      })}
    </div>
    <More shown={maxDrawn} of={of} what="aspects are shown in charts" />
    <More shown={aspects.length} of={of} what="aspects with the most ratings are listed" />
    <AspectsByModel aspects={aspects} />
  </>
)

const Edits = ({ change }: { readonly change: Distribution }) => (
  <>
    <h3>Edits</h3>
    <Figure
      plots={[
        {
          title: "Change in length (edit minus completion)",
          description: `Histogram of how much edits changed the length; the median is ${length(change.p50)} characters.`,
          draw: drawHistogram(change.histogram, {
            unit: "characters",
            label: "← shorter · longer →",
            fill: "var(--accent)",
            marks: [{ at: 0, words: "equally long" }],
          }),
        },
      ]}
      caption={`Change in the length of the best completion by an edit, in characters; on average ${(change.mean ?? 0) > 0 ? "+" : ""}${length(change.mean)}.${leftOut(change.histogram, "characters")}`}
      label="Change in length (edit minus completion)"
      columns={["Characters", "Items", "Share"]}
      rows={rowsOf(change.histogram, "characters")}
    />
  </>
)

const Flags = ({ flags: { items, kinds } }: Pick<QualityReport, "flags">) => (
  <>
    <h3>Flags</h3>
    <Table
      label="Flags"
      columns={[textColumn("Flag"), "Count"]}
      rows={kinds.map(({ flags, kind }) => [<Name text={kind.replaceAll("_", " ")} />, count(flags)])}
    />
    <p class="muted small">
      From {plural(items, "judged item")} with flags. If several experts set the same flag on an item, each of these
      flags counts.
    </p>
  </>
)

export const Rubric = ({ report: { flags, funnel, rubric } }: { readonly report: QualityReport }) => {
  if (rubric === undefined) return null
  const { aspect_count, aspects, edited, strength } = rubric
  const judged = funnel.find(({ step }) => step === "judged")?.count ?? rubric.items
  return (
    <Section id="rubric" title="Rubric" lead={lead(rubric, judged)}>
      <Facts facts={facts(rubric)} />
      {strength !== null && <Strength strength={strength} />}
      {aspects.length > 0 && <Aspects aspects={aspects} of={aspect_count} />}
      {isSpread(edited.length_change) && <Edits change={edited.length_change} />}
      {flags.kinds.length > 0 && <Flags flags={flags} />}
    </Section>
  )
}

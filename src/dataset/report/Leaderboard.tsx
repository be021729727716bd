/** Shows the ratings of models with intervals, and how agreement and win rates converge with more votes. */
import { areaY, axisX, axisY, dot, lineY, ruleX, ruleY } from "@observablehq/plot"
import type { Estimate, Leaderboard as Board, LeaderboardRow } from "../../domain/Leaderboard.ts"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { Facts } from "../../service/pages/shared/Facts.tsx"
import { chart } from "./charts.ts"
import { count, decimal, name, plural, share, short, shortShare } from "./format.ts"
import { Figure, type PlotSpec } from "./Figure.tsx"
import { Name, ScreenReaderText, Section, textColumn } from "./parts.tsx"

const maxDrawn = 40
const maxCurves = 5

const points = (rating: number): string => count(Math.round(rating))

const interval = ({ high, low }: Estimate, form: (value: number) => string, open: readonly [string, string]): string =>
  low === null && high === null
    ? "–"
    : `${low === null ? open[0] : form(low)} – ${high === null ? open[1] : form(high)}`

const lead = ({ groups, top_two, models }: Board) => {
  const [first] = models
  if (first === undefined) return undefined
  const rated = `${plural(models.length, "model")}${groups > 1 ? ` in ${count(groups)} groups; no vote compares models from different groups` : ""}.`
  if (top_two === null) return `${rated} There are too few items for intervals.`
  return (
    <>
      {rated} <Name text={top_two.first} chars={40} /> is better than <Name text={top_two.second} chars={40} /> in{" "}
      {share(top_two.probability)} of the resamples
      {top_two.votes_needed === 0
        ? ": there are enough votes to distinguish the two models."
        : top_two.votes_needed === null
          ? ": the two models have the same rating."
          : `: there are too few votes to distinguish the two models. If their ratings do not change, about ${plural(top_two.votes_needed, "more vote")} would be enough.`}
    </>
  )
}

const drawRatings = (rows: ReadonlyArray<LeaderboardRow>, groups: number) => (width: number) => {
  const labels = rows.map((row, i) => ({
    ...row,
    key: i,
    label: `${groups > 1 ? `${row.group}: ` : ""}${name(row.model, width < 500 ? 16 : 32)}`,
  }))
  const values = rows.flatMap(({ rating: { high, low, value } }) => [low ?? value, value, high ?? value])
  const [minimum, maximum] = [Math.min(...values), Math.max(...values)]
  const room = Math.max(20, (maximum - minimum) * 0.06)
  const domain: [number, number] = [minimum - room, maximum + room]
  const [low, high] = [
    ({ rating }: LeaderboardRow) => rating.low ?? (rating.high === null ? rating.value : domain[0]),
    ({ rating }: LeaderboardRow) => rating.high ?? (rating.low === null ? rating.value : domain[1]),
  ]
  const ticks = Math.max(2, Math.floor(width / 110))
  const longest = Math.max(...labels.map(({ label }) => label.length))
  return chart(width, 52 + 24 * labels.length, [8, 16, 40, Math.min(width * 0.45, 16 + 7 * longest)], {
    x: { domain, label: null, grid: true, ticks },
    y: { type: "band", domain: labels.map(({ key }) => key), label: null },
    marks: [
      axisX({ label: "rating →", ticks, tickFormat: points }),
      axisY({ tickSize: 0, label: null, tickFormat: (key: number) => labels[key]?.label ?? "" }),
      ruleX([1000], { stroke: "var(--line-strong)", strokeDasharray: "4 3" }),
      ruleY(labels, { y: "key", x1: low, x2: high, stroke: "var(--accent)", strokeWidth: 3, strokeOpacity: 0.45 }),
      dot(labels, {
        y: "key",
        x: ({ rating }: LeaderboardRow) => rating.value,
        r: 4.5,
        fill: "var(--accent)",
        title: (row: LeaderboardRow) =>
          `${row.model}\n${points(row.rating.value)} (${interval(row.rating, points, ["−∞", "∞"])})`,
        tip: true,
      }),
    ],
  })
}

interface CurvePoint {
  readonly votes: number
  readonly value: number
  readonly low: number
  readonly high: number
}

const curve = (
  title: string,
  points: ReadonlyArray<readonly [votes: number, estimate: Estimate | null]>,
): PlotSpec | undefined => {
  const drawn = points.flatMap(([votes, estimate]): ReadonlyArray<CurvePoint> =>
    estimate === null || estimate.low === null || estimate.high === null
      ? []
      : [{ votes, value: estimate.value, low: estimate.low, high: estimate.high }],
  )
  const last = drawn.at(-1)
  if (last === undefined || drawn.length < 2) return undefined
  return {
    title: `${title} · ${share(last.value)} ± ${share((last.high - last.low) / 2)}`,
    description: `${title} as votes accrue: after ${plural(last.votes, "vote")}, ${share(last.value)}, with a 95% interval from ${share(last.low)} to ${share(last.high)}.`,
    draw: (width) =>
      chart(width, 170, [12, 16, 40, 44], {
        x: { domain: [0, last.votes], label: null },
        y: { label: null, domain: [0, 1], ticks: 3, tickFormat: shortShare, grid: true },
        marks: [
          axisX({ label: "votes →", tickSpacing: 70, tickFormat: short }),
          areaY(drawn, { x: "votes", y1: "low", y2: "high", fill: "var(--accent)", fillOpacity: 0.2 }),
          lineY(drawn, {
            x: "votes",
            y: "value",
            stroke: "var(--accent)",
            strokeWidth: 2,
            title: (point: CurvePoint) =>
              `${plural(point.votes, "vote")}\n${share(point.value)} (${share(point.low)} – ${share(point.high)})`,
            tip: true,
          }),
        ],
      }),
  }
}

const Accrual = ({ board: { accrual, top_two, votes } }: { readonly board: Board }) => {
  const { models, next, points } = accrual
  const last = points.at(-1)
  const toCurve = (title: string, estimateOf: (point: Board["accrual"]["points"][number]) => Estimate | null) =>
    curve(
      title,
      points.map((point) => [point.votes, estimateOf(point)] as const),
    )
  const plots = [
    toCurve("Agreement", ({ agreement }) => agreement),
    ...models.slice(0, maxCurves).map((model, i) => toCurve(name(model, 28), ({ win_rates }) => win_rates[i] ?? null)),
  ].filter((plot) => plot !== undefined)
  if (plots.length === 0 || last === undefined) return null
  const rowOf = (title: string, estimate: Estimate | null | undefined) => {
    if (estimate === undefined || estimate === null || estimate.low === null || estimate.high === null) return []
    const half = (estimate.high - estimate.low) / 2
    return [
      [
        <Name text={title} />,
        share(estimate.value),
        `± ${share(half)}`,
        `± ${share(half * next.factor)}`,
        count(3 * votes),
      ],
    ]
  }
  return (
    <>
      <h3>Are there enough votes?</h3>
      <Figure
        sideBySide
        plots={plots}
        caption={
          <>
            The charts show how often two votes on an item agree, and the win rates of models. The horizontal axis is
            the number of votes, which are added in the order of the items. The shaded area is the 95% interval. Its
            width is proportional to 1/√votes. With {count(next.votes)} more votes, the width would be{" "}
            {share(next.factor)} of the present width: √({count(votes)} / {count(votes + next.votes)}).
            {top_two !== null &&
              top_two.votes_needed !== null &&
              top_two.votes_needed > 0 &&
              ` About ${plural(top_two.votes_needed, "more vote")} would distinguish the first two models.`}
          </>
        }
        label="95% intervals of agreement and win rates, now and with more votes"
        columns={[
          textColumn(<ScreenReaderText text="What is measured" />),
          "Now",
          "95% interval",
          `With ${count(next.votes)} more votes`,
          "Additional votes needed to halve the interval",
        ]}
        rows={[...rowOf("Agreement", last.agreement), ...models.flatMap((model, i) => rowOf(model, last.win_rates[i]))]}
      />
    </>
  )
}

export const Leaderboard = ({ report: { leaderboard: board } }: { readonly report: QualityReport }) => {
  if (board === null) {
    return (
      <Section
        id="leaderboard"
        title="Leaderboard"
        lead="There are no ratings: no vote compares two models, the input has no model names, or there are more than 500 models."
      />
    )
  }
  const drawn = board.models.slice(0, maxDrawn)
  const open = board.models.filter(({ extreme }) => extreme !== null)
  return (
    <Section id="leaderboard" title="Leaderboard" lead={lead(board)}>
      <Facts
        facts={[
          ["Votes", count(board.votes), `on ${plural(board.items, "item")}`],
          ["Comparisons", count(board.comparisons), plural(board.ties, "tie")],
          board.method.weighted && ["Weights", "by reliability", "the votes of more reliable experts count more"],
        ]}
      />
      <Figure
        plots={[
          {
            description: `Ratings: ${drawn.map(({ model, rating }) => `${name(model, 40)} ${points(rating.value)}, ${interval(rating, points, ["−∞", "∞"])}`).join("; ")}.`,
            draw: drawRatings(drawn, board.groups),
          },
        ]}
        caption={
          <>
            Ratings come from the Bradley–Terry model with ties (Davidson). A difference of 400 points means odds of 10
            to 1. {board.groups > 1 ? "Each group has a mean rating of 1,000." : "The mean rating is 1,000."} The bars
            show 95% intervals, which come from {plural(board.method.resamples, "resample")} of the items.
            {board.models.length > drawn.length && ` The first ${count(drawn.length)} models are shown.`}
            {open.length > 0 &&
              " If a model never lost, its rating has no upper bound, and its bar ends at the right edge. If a model never won, its rating has no lower bound, and its bar ends at the left edge."}
            {board.groups > 1 && " Ratings of different groups cannot be compared."}
          </>
        }
        label="Ratings of models"
        columns={[
          textColumn("Model"),
          "Rank",
          "Rating",
          "95% interval",
          "At equal length",
          "Win rate",
          "95% interval",
          "Won",
          "Tied",
          "Lost",
        ]}
        rows={board.models.map((row) => [
          <Name text={row.model} />,
          count(row.rank),
          points(row.rating.value),
          interval(row.rating, points, ["−∞", "∞"]),
          row.rating_at_equal_length === null ? "–" : points(row.rating_at_equal_length),
          share(row.win_rate.value),
          interval(row.win_rate, share, ["", ""]),
          count(row.wins),
          count(row.ties),
          count(row.losses),
        ])}
      />
      <p class="muted small">
        The rank of a model is 1 plus the number of clearly better models. A model is clearly better than another model
        if its whole 95% interval is above the 95% interval of the other model. “At equal length” estimates the rating
        that a model would have if the two completions of each comparison were equally long. The win rate is the share
        of comparisons that the model won. A tie counts as half a win.
        {board.tie_parameter !== null &&
          ` Two equally good models tie in ${share(board.tie_parameter / (2 + board.tie_parameter))} of their comparisons (ν ${decimal(board.tie_parameter)}).`}{" "}
        The command <code>prefstream leaderboard</code> uses more resamples, and has options that this report lacks.
      </p>
      <Accrual board={board} />
    </Section>
  )
}

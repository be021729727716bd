/** The first page. It shows only the costs of language models, because the service knows no other costs. */
import type { OverviewReport, StuckWork } from "../../pageApi/OverviewApi.ts"
import type { Fact } from "../shared/Facts.tsx"
import { ask } from "./client.ts"
import { FirstTask } from "./FirstTask.tsx"
import { count, day, percent, plural, seconds } from "./format.ts"
import { useResource } from "./hooks.ts"
import { Loaded, Meter, NameLink, PageHeading, Section, shareOf, Summary, Time } from "./parts.tsx"
import { useMay } from "./role.tsx"
import { href } from "./routes.ts"
import { Table } from "./Table.tsx"

const maxListed = 5

export const OverviewPage = () => {
  const resource = useResource("overview", () => ask("GET /overview/report"), 10_000)
  return (
    <>
      <PageHeading title="Overview" />
      <Loaded resource={resource}>
        {(report) => (report.total.items === 0 ? <FirstTask /> : <Report report={report} />)}
      </Loaded>
    </>
  )
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)

const Report = ({ report }: { readonly report: OverviewReport }) => {
  const { days, disagreements, groups, judges, stuck, total } = report
  const mayDecide = useMay("manager")
  const recent = [sum(days.map(({ people }) => people)), sum(days.map(({ automatic }) => automatic))] as const
  const facts: ReadonlyArray<Fact> = [
    [
      "Items done",
      <a href={href("items", { state: "done" })}>{count(total.items_done)}</a>,
      ` of ${count(total.items)}`,
    ],
    ["Items left", <a href={href("items", { state: "open" })}>{count(total.items - total.items_done)}</a>],
    ["Votes", <a href={href("tasks")}>{count(total.votes)}</a>, ` of ${count(total.votes_needed)}`],
    [
      "Open disagreements",
      <a href={mayDecide && disagreements > 0 ? href("adjudicate") : href("items", { state: "disputed" })}>
        {count(disagreements)}
        {disagreements === 1_000 && " or more"}
      </a>,
    ],
    [
      `Votes in ${days.length} days`,
      <a href={href("experts")}>{count(recent[0] + recent[1])}</a>,
      ` (${count(recent[0])} by people, ${count(recent[1])} automatic)`,
    ],
  ]
  return (
    <>
      <Summary facts={facts} />
      <Section id="stuck" title="Stuck">
        <Stuck stuck={stuck} />
      </Section>
      {groups.length > 0 && (
        <Section id="groups" title="Open groups" beside={<a href={href("queue")}>All open work</a>}>
          <Table
            label="Open groups"
            rows={groups}
            keyOf={({ group_id }) => group_id}
            columns={[
              {
                label: "Group",
                class: "anywhere",
                cell: ({ group_id }) => <NameLink to={href("group", { id: group_id })} name={group_id} />,
              },
              {
                label: "Items done",
                cell: (row) => <Meter label={`Items done of ${row.group_id}`} done={row.items_done} of={row.items} />,
              },
              {
                label: "Votes",
                cell: (row) => <Meter label={`Votes on ${row.group_id}`} done={row.votes} of={row.votes_needed} />,
              },
            ]}
          />
        </Section>
      )}
      <Section id="days" title="Votes by day">
        <Bars
          label="Votes by day"
          heads={["Day (UTC)", "Votes"]}
          full={(max) => plural(max, "vote")}
          bars={days.map(({ automatic, day: at, people }) => ({
            name: day(at),
            value: people + automatic,
            words: `${count(people)} by people, ${count(automatic)} automatic`,
          }))}
        />
      </Section>
      <Agreement report={report} />
      {judges.length > 0 && <Judges judges={judges} />}
    </>
  )
}

const interval = (low: number | null, high: number | null, words: (value: number) => string) =>
  low === null || high === null ? null : `${words(low)} to ${words(high)}`
const intervalCell = (...bounds: Parameters<typeof interval>) => <span class="nowrap">{interval(...bounds)}</span>
const share = (value: number) => percent(value, 1) ?? "0 %"

const Agreement = ({ report: { experts, weeks } }: { readonly report: OverviewReport }) => {
  const nameOf = ({ expert_id, name }: OverviewReport["experts"][number]) => (
    <NameLink to={href("expert", { id: expert_id })} name={name} />
  )
  // With few votes, an expert's value can be extreme by chance. The lists are therefore sorted by a bound of the 95%
  // interval: the high bound of the agreement, and the low bound of the time.
  const disagreeing = experts.filter(({ compared }) => compared > 0).toSorted((a, b) => a.high! - b.high!)
  const slow = experts
    .flatMap((expert) => (expert.seconds?.low == null ? [] : [{ ...expert, seconds: expert.seconds }]))
    .toSorted((a, b) => b.seconds.low! - a.seconds.low!)
  return (
    <>
      <Section id="weeks" title="Agreement by week">
        {weeks.length === 0 ? (
          <p class="muted">No two experts have judged the same item yet.</p>
        ) : (
          <Bars
            label="Share of votes that agree with the majority of the other experts"
            heads={["Week from (UTC)", "Agreeing votes"]}
            full={share}
            max={1}
            bars={weeks.map(({ agreed, compared, high, low, week }) => ({
              name: day(week),
              value: agreed / compared,
              words: `${share(agreed / compared)} of ${plural(compared, "vote")} (95%: ${interval(low, high, share)})`,
            }))}
          />
        )}
      </Section>
      <Section id="experts" title="Experts, last 28 days" beside={<a href={href("experts")}>All experts</a>}>
        <div class="grid">
          <Table
            label="Experts who agree least"
            nothing="No votes to compare yet. Two experts must vote on the same item, and the item must have all its votes. At least one of the votes must be from the last 28 days."
            rows={disagreeing.slice(0, maxListed)}
            keyOf={({ expert_id }) => expert_id}
            columns={[
              { label: "Least agreeing", class: "anywhere", cell: nameOf },
              { label: "Agrees with others", cell: ({ agreed, compared }) => shareOf(agreed, compared) },
              { label: "95% interval", cell: ({ high, low }) => intervalCell(low, high, share) },
            ]}
          />
          <Table
            label="Slowest experts"
            nothing="Nobody to list yet. The list shows people with at least 6 votes."
            rows={slow.slice(0, maxListed)}
            keyOf={({ expert_id }) => expert_id}
            columns={[
              { label: "Slowest", class: "anywhere", cell: nameOf },
              { label: "Median time", cell: ({ seconds: { median } }) => seconds(median) },
              { label: "95% interval", cell: ({ seconds: { high, low } }) => intervalCell(low, high, seconds) },
            ]}
          />
        </div>
      </Section>
    </>
  )
}

const Judges = ({ judges }: { readonly judges: OverviewReport["judges"] }) => (
  <Section id="judges" title="Language models">
    <Table
      label="Language models"
      rows={judges}
      keyOf={({ expert_id }) => expert_id}
      columns={[
        {
          label: "Judge",
          class: "anywhere",
          cell: ({ expert_id, name }) => <a href={href("expert", { id: expert_id })}>{name}</a>,
        },
        { label: "Votes", cell: ({ votes }) => count(votes) },
        { label: "Requests", cell: ({ requests }) => count(requests) },
        { label: "Prompt tokens", cell: ({ prompt_tokens }) => count(prompt_tokens) },
        { label: "Completion tokens", cell: ({ completion_tokens }) => count(completion_tokens) },
        { label: "Cost", nothing: "–", cell: ({ cost }) => cost },
      ]}
    />
  </Section>
)

const words: Readonly<Record<StuckWork["kind"], string>> = {
  held: "An expert has held the item for too long",
  deferred: "All active people have seen this item in another task. Invite another expert.",
  unassignable: "Nobody is left who may vote on this item. Invite or assign experts, or add judges.",
  paused: "Paused",
  outage: "The automatic expert has failed. The time in this row is the next attempt.",
  doubt: "The endpoint may already have this batch, so it is not sent again",
  webhook: "Webhook deliveries are failing",
}

const named: ReadonlyArray<StuckWork["kind"]> = ["held", "doubt"]

const linkOf = ({ id, index, kind }: StuckWork) => {
  if (kind === "webhook") return href("developer")
  if (kind === "outage" || kind === "doubt") return href("expert", { id })
  return index === null ? href("group", { id }) : href("task", { id, prompt: index + 1 })
}

const Stuck = ({ stuck }: { readonly stuck: ReadonlyArray<StuckWork> }) => (
  <Table
    label="Stuck"
    nothing="No work is stuck."
    rows={stuck}
    keyOf={(row) => JSON.stringify(row)}
    columns={[
      {
        label: "Where",
        class: "anywhere",
        cell: (row) => (
          <a href={linkOf(row)}>
            {row.kind === "webhook" ? "Webhook" : <bdi>{row.id}</bdi>}
            {row.index !== null && `, prompt ${count(row.index + 1)}`}
          </a>
        ),
      },
      { label: "Why", cell: ({ kind, name }) => (named.includes(kind) ? `${words[kind]}: ${name}` : words[kind]) },
      { label: "Since", nothing: "–", cell: ({ at }) => (at === null ? null : <Time at={at} />) },
    ]}
  />
)

interface BarsProps {
  readonly label: string
  readonly heads: readonly [name: string, value: string]
  readonly full: (max: number) => string
  readonly bars: ReadonlyArray<{ readonly name: string; readonly value: number; readonly words: string }>
  readonly max?: number
}

const barHeight = 60
const minBars = 12

const Bars = ({ label, heads, full, bars, max = Math.max(1, ...bars.map(({ value }) => value)) }: BarsProps) => (
  <figure class="card padded stack tight">
    <figcaption class="muted small">
      {label}, {bars[0]?.name}
      {bars.length > 1 && ` to ${bars.at(-1)!.name}`}. A full bar is {full(max)}.
    </figcaption>
    <svg
      class="bars"
      viewBox={`0 0 ${Math.max(bars.length, minBars) * 10} ${barHeight}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map(({ name, value, words }, i) => (
        <g key={name}>
          <title>{`${name}: ${words}`}</title>
          <rect class="ground" x={i * 10 + 1} y={barHeight - 1} width={8} height={1} />
          <rect x={i * 10 + 1} y={barHeight * (1 - value / max)} width={8} height={(barHeight * value) / max} />
        </g>
      ))}
    </svg>
    <details>
      <summary class="small">As a table</summary>
      <Table
        label={label}
        rows={bars.toReversed()}
        keyOf={({ name }) => name}
        columns={[
          { label: heads[0], cell: ({ name }) => name },
          { label: heads[1], cell: ({ words }) => words },
        ]}
      />
    </details>
  </figure>
)

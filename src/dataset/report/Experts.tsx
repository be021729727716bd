/** The experts and how they voted, in a sortable table. */
import type { ComponentChildren } from "preact"
import { useMemo, useState } from "preact/hooks"
import type { ExpertRow, QualityReport } from "../../domain/QualityReport.ts"
import { Button } from "../../service/pages/shared/Button.tsx"
import { count, decimal, name, plural, seconds, share } from "./format.ts"
import { type Column, Name, Section, Table } from "./parts.tsx"

const firstRows = 25

interface ExpertColumn {
  readonly title: string
  readonly hint: string
  readonly value: (row: ExpertRow) => number | null
  readonly words: (row: ExpertRow) => string
}

const ratio = (part: number, of: number): number | null => (of > 0 ? part / of : null)

const ofShare = (title: string, hint: string, part: keyof ExpertRow, of: keyof ExpertRow): ExpertColumn => {
  const value = (row: ExpertRow) => ratio(Number(row[part]), Number(row[of]))
  const words = (row: ExpertRow) => {
    const exact = value(row)
    return exact === null ? "–" : `${share(exact)} of ${count(Number(row[of]))}`
  }
  return { title, hint, value, words }
}

const columns: ReadonlyArray<ExpertColumn> = [
  { title: "Votes", hint: "votes given", value: (row) => row.votes, words: (row) => count(row.votes) },
  {
    title: "Reliability",
    hint: "estimated probability that a vote is right, from all votes and known answers (Dawid–Skene)",
    value: (row) => row.reliability,
    words: (row) => (row.reliability === null ? "–" : decimal(row.reliability)),
  },
  ofShare(
    "With the majority",
    "share of the expert’s votes that agree with the majority of all other experts; items without such a majority do not count",
    "with_others",
    "compared",
  ),
  ofShare("Gold accuracy", "share of right votes on items with a known answer", "gold_right", "gold_votes"),
  {
    title: "Median time",
    hint: "median time per vote",
    value: (row) => row.median_seconds,
    words: (row) => seconds(row.median_seconds),
  },
  ofShare(
    "Chose first",
    "share of votes for the completion shown first, where the order is known",
    "chose_first",
    "ordered",
  ),
]

const nameOf = (row: ExpertRow): string => row.expert ?? "votes without a name"

const sortRows = (rows: ReadonlyArray<ExpertRow>, by: number, isDescending: boolean): ReadonlyArray<ExpertRow> => {
  const sign = isDescending ? -1 : 1
  const column = columns[by]
  if (column === undefined) {
    const compare = new Intl.Collator("en", { numeric: true }).compare
    return rows.toSorted((a, b) => sign * compare(name(nameOf(a)), name(nameOf(b))))
  }
  return rows.toSorted((a, b) => {
    const [x, y] = [column.value(a), column.value(b)]
    return x === null || y === null ? Number(x === null) - Number(y === null) : sign * (x - y)
  })
}

const lead = (rows: ReadonlyArray<ExpertRow>): ComponentChildren => {
  if (rows.length === 0) return "There are no votes."
  const named = rows.filter(({ expert }) => expert !== null)
  const all = rows.reduce((sum, { votes }) => sum + votes, 0)
  const most = named.toSorted((a, b) => b.votes - a.votes)[0]
  if (most === undefined) return `The service does not say who gave the ${plural(all, "vote")}.`
  const unnamed = rows.find(({ expert }) => expert === null)?.votes ?? 0
  const by = `${plural(all, "vote")} by ${plural(named.length, "expert")}${unnamed === 0 ? "" : `, including ${plural(unnamed, "vote")} without a name`}`
  if (named.length === 1) return `${by}.`
  const busiest = `the most active expert gave ${share(most.votes / Math.max(all, 1))} of the votes`
  const judged = named.flatMap(({ expert, reliability }) => (reliability === null ? [] : [{ expert, reliability }]))
  const least = judged.toSorted((a, b) => a.reliability - b.reliability)[0]
  return (
    <>
      {by}; {busiest}.
      {least !== undefined && (
        <>
          {" "}
          The least reliable expert is <Name text={least.expert ?? ""} chars={40} />, with a reliability of{" "}
          {decimal(least.reliability)}.
        </>
      )}
    </>
  )
}

export const Experts = ({ report: { experts } }: { readonly report: QualityReport }) => {
  const [by, setBy] = useState(0)
  const [isDescending, setDescending] = useState(true)
  const [isAll, setAll] = useState(false)
  const rows = useMemo(() => sortRows(experts, by, isDescending), [experts, by, isDescending])
  const sort = (column: number) => {
    setDescending(column === by ? !isDescending : column !== -1)
    setBy(column)
  }
  const heading = (title: string, column: number, hint?: string): Column => {
    const direction = isDescending ? "descending" : "ascending"
    return {
      isText: column === -1,
      sort: column === by ? direction : "none",
      title: (
        <button type="button" class="bare sort" title={hint} onClick={() => sort(column)}>
          {title}
          <span aria-hidden="true">{column === by ? (isDescending ? " ↓" : " ↑") : " ↕"}</span>
        </button>
      ),
    }
  }
  const shown = isAll ? rows : rows.slice(0, firstRows)
  return (
    <Section id="experts" title="Experts" lead={lead(experts)}>
      {experts.length > 0 && (
        <Table
          label="Experts"
          class="experts"
          columns={[heading("Expert", -1), ...columns.map(({ hint, title }, i) => heading(title, i, hint))]}
          rows={shown.map((row) => [
            <>
              {row.expert === null ? <em>{nameOf(row)}</em> : <Name text={row.expert} chars={40} />}
              {row.kind !== null && row.kind !== "person" && <span class="muted small"> {row.kind}</span>}
            </>,
            ...columns.map(({ words }) => words(row)),
          ])}
        />
      )}
      {rows.length > firstRows && (
        <Button
          look="compact start"
          text={isAll ? `Show the first ${firstRows} only` : `Show all ${count(rows.length)}`}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        />
      )}
      {experts.length > 0 && (
        <p class="muted small">
          The column Reliability estimates the probability that a vote of the expert is right, from all votes and known
          answers (Dawid–Skene). The column With the majority shows how often the expert’s votes agree with the majority
          of all other experts. A dash (–) means that a value is unknown.
        </p>
      )}
    </Section>
  )
}

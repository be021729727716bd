/** A table of votes by day. The newest day is first, and each day has a bar. */
import { count, day } from "./format.ts"
import { Table } from "./Table.tsx"

export const Days = ({
  days,
  nothing = "There are no valid votes.",
}: {
  readonly days: ReadonlyArray<{ readonly day: number; readonly votes: number }>
  readonly nothing?: string
}) => {
  const most = Math.max(1, ...days.map(({ votes }) => votes))
  if (days.length === 0) return <p class="muted">{nothing}</p>
  return (
    <Table
      label="Votes by day"
      rows={days}
      keyOf={({ day }) => String(day)}
      columns={[
        { label: "Day (UTC)", cell: (row) => day(row.day) },
        {
          label: "Votes",
          cell: (row) => (
            <span class="meter">
              <progress aria-label={`Votes on ${day(row.day)}`} value={row.votes} max={most} />
              <span>{count(row.votes)}</span>
            </span>
          ),
        },
      ]}
    />
  )
}

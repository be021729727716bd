/** A small bar chart. A table below the chart has the numbers, and screen readers can read the table. */
import { Table } from "./Table.tsx"

interface BarsProps {
  readonly label: string
  readonly heads: readonly [name: string, value: string]
  readonly full: (max: number) => string
  readonly bars: ReadonlyArray<{ readonly name: string; readonly value: number; readonly words: string }>
  readonly max?: number
}

const height = 60
/** The chart has space for at least this many bars, so that a few bars are not too wide. */
const minPlaces = 12

export const Bars = ({ label, heads, full, bars, max = Math.max(1, ...bars.map(({ value }) => value)) }: BarsProps) => (
  <figure class="card padded stack tight">
    <figcaption class="muted small">
      {label}, {bars[0]?.name}
      {bars.length > 1 && ` to ${bars.at(-1)!.name}`}. A full bar is {full(max)}.
    </figcaption>
    <svg
      class="bars"
      viewBox={`0 0 ${Math.max(bars.length, minPlaces) * 10} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map(({ name, value, words }, i) => (
        <g key={name}>
          <title>{`${name}: ${words}`}</title>
          <rect class="ground" x={i * 10 + 1} y={height - 1} width={8} height={1} />
          <rect x={i * 10 + 1} y={height * (1 - value / max)} width={8} height={(height * value) / max} />
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

/** Tables whose rows become cards on narrow screens. */
import type { ComponentChildren } from "preact"

export interface Column<A> {
  /** Empty: the column of buttons. */
  readonly label: string
  /** Null: there is nothing to show in this row. */
  readonly cell: (row: A) => ComponentChildren
  /** Shown where `cell` is null. Default "none". */
  readonly nothing?: string
  readonly class?: string
}

export interface TableProps<A> {
  readonly label: string
  readonly columns: readonly [Column<A>, ...ReadonlyArray<Column<A>>]
  readonly rows: ReadonlyArray<A>
  readonly keyOf: (row: A) => string
  /** Of a table that is in a card already; any other is a card itself. */
  readonly class?: string
}

/** Rows under column headings; on a narrow page each row is a card. The first column names the row. */
export const Table = <A,>({ label, columns: [head, ...columns], rows, keyOf, class: name = "" }: TableProps<A>) => {
  // Roles, since a table that is laid out as blocks is none to some screen readers.
  const table = (
    <table class={`cards ${name}`} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {[head, ...columns].map(({ label }) => (
            <th key={label} role="columnheader">
              {label === "" ? <span class="unseen">Actions</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            <th role="rowheader" scope="row" class={head.class}>
              {head.cell(row)}
            </th>
            {columns.map(({ cell, class: name = "", label, nothing = "none" }) => {
              const content = cell(row)
              return label === "" ? (
                <td key={label} role="cell" class="actions">
                  {content}
                </td>
              ) : (
                <td key={label} role="cell" data-label={label} class={content === null ? "none" : name}>
                  {content ?? <span class="muted">{nothing}</span>}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
  if (name !== "") return table
  // Where it is wider than the page, it scrolls: by keyboard, too.
  return (
    <div class="card table-card" tabIndex={0} role="group" aria-label={label}>
      {table}
    </div>
  )
}

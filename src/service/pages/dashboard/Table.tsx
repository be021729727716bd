/** Tables whose rows become cards on narrow screens. */
import type { ComponentChildren } from "preact"

export interface Column<A> {
  readonly label: string
  readonly cell: (row: A) => ComponentChildren
  /** The text of a cell for which `cell` returns null. The default is "none". */
  readonly nothing?: string
  readonly class?: string
}

export interface TableProps<A> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<A> | false>
  readonly rows: ReadonlyArray<A>
  readonly nothing?: ComponentChildren
  readonly keyOf: (row: A) => string | number
  /** The CSS class of a table that is inside a card. Without it, the table is itself a card. */
  readonly class?: string
}

export const Table = <A,>({ label, columns, rows, nothing, keyOf, class: name = "" }: TableProps<A>) => {
  if (rows.length === 0 && nothing !== undefined) return <p class="card nothing">{nothing}</p>
  const [head, ...rest] = columns.filter((column) => column !== false)
  // On narrow screens, the table is styled as blocks. Some screen readers then ignore it unless roles are explicit.
  const table = (
    <table class={`cards ${name}`} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {[head!, ...rest].map(({ label }) => (
            <th key={label} role="columnheader">
              {label === "" ? <span class="unseen">Actions</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            <th role="rowheader" scope="row" class={head!.class}>
              {head!.cell(row)}
            </th>
            {rest.map(({ cell, class: name = "", label, nothing = "none" }) => {
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
  return (
    <div class="card table-card" tabIndex={0} role="group" aria-label={label}>
      {table}
    </div>
  )
}

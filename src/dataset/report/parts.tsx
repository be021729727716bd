/** Components that several sections share. */
import type { ComponentChildren } from "preact"
import { count, name } from "./format.ts"

interface SectionProps {
  readonly id: string
  readonly title: string
  readonly lead?: ComponentChildren
  readonly children?: ComponentChildren
}

export const Section = ({ id, title, lead, children }: SectionProps) => (
  <section id={id} class="card stack section" aria-labelledby={`${id}-title`}>
    <h2 id={`${id}-title`} tabIndex={-1}>
      {title}
    </h2>
    {lead !== undefined && <p class="lead">{lead}</p>}
    {children}
  </section>
)

export const Name = ({ text, chars }: { readonly text: string; readonly chars?: number }) =>
  text.trim() === "" ? <span class="muted">(empty)</span> : <bdi class="name">{name(text, chars)}</bdi>

interface ColumnOptions {
  readonly title: ComponentChildren
  readonly isText?: boolean
  readonly class?: string
  readonly sort?: "ascending" | "descending" | "none"
}

export type Column = string | ColumnOptions

export const textColumn = (title: ComponentChildren, name?: string): Column => ({
  title,
  isText: true,
  ...(name !== undefined && { class: name }),
})

interface TableProps {
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<
    ReadonlyArray<ComponentChildren> | { readonly cells: ReadonlyArray<ComponentChildren>; readonly class?: string }
  >
  readonly total?: ReadonlyArray<ComponentChildren> | undefined
  readonly class?: string
}

/** Roles are explicit, because the styles for narrow screens remove a table's implicit roles. */
export const Table = ({ label, columns: titles, rows, total, class: name }: TableProps) => {
  const columns = titles.map((column) => (typeof column === "string" ? { title: column } : column))
  const classOf = ({ class: name = "", isText }: ColumnOptions) => `${isText === true ? "" : "number"} ${name}`.trim()
  const rowOf = (cells: ReadonlyArray<ComponentChildren>, name: string | undefined, key: number) => (
    <tr key={key} role="row" class={name}>
      {columns.map((column, j) =>
        j === 0 ? (
          <th key={j} scope="row" role="rowheader" class={classOf(column)}>
            {cells[j]}
          </th>
        ) : (
          <td key={j} role="cell" class={classOf(column)}>
            {cells[j]}
          </td>
        ),
      )}
    </tr>
  )
  return (
    <div class="scroll" role="region" aria-label={`Table: ${label}`} tabIndex={0}>
      <table class={name} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, j) => (
              <th key={j} scope="col" role="columnheader" class={classOf(column)} aria-sort={column.sort}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, i) => ("cells" in row ? rowOf(row.cells, row.class, i) : rowOf(row, undefined, i)))}
        </tbody>
        {total !== undefined && <tfoot role="rowgroup">{rowOf(total, undefined, 0)}</tfoot>}
      </table>
    </div>
  )
}

export const ScreenReaderText = ({ text }: { readonly text: string }) => <span class="unseen">{text}</span>

export const Bar = ({ value, of }: { readonly value: number; readonly of: number }) => (
  <span class="bar" aria-hidden="true">
    {value > 0 && <span style={{ width: `${of > 0 ? (100 * value) / of : 0}%` }} />}
  </span>
)

export const More = ({ shown, of, what }: { readonly shown: number; readonly of: number; readonly what: string }) =>
  of > shown ? (
    <p class="muted small">
      The first {count(shown)} of {count(of)} {what}.
    </p>
  ) : null

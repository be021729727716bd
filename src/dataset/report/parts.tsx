/** The small pieces that all sections are made of. */
import type { ComponentChildren } from "preact"
import { count, name } from "./format.ts"

/** One part of the report; `lead` says in a sentence what it comes to. */
export const Section = ({
  id,
  title,
  lead,
  children,
}: {
  readonly id: string
  readonly title: string
  readonly lead?: ComponentChildren
  readonly children?: ComponentChildren
}) => (
  <section id={id} class="card section" aria-labelledby={`${id}-title`}>
    <h2 id={`${id}-title`} tabIndex={-1}>
      {title}
    </h2>
    {lead !== undefined && <p class="lead">{lead}</p>}
    {children}
  </section>
)

/** A name that stands in the data: apart from the text around it, whatever it holds, and never too long. */
export const Name = ({ text, chars }: { readonly text: string; readonly chars?: number }) =>
  text.trim() === "" ? <span class="muted">(empty)</span> : <bdi class="name">{name(text, chars)}</bdi>

export interface Fact {
  readonly term: string
  readonly value: ComponentChildren
  readonly words?: ComponentChildren
}

export const Facts = ({ facts }: { readonly facts: ReadonlyArray<Fact> }) => (
  <dl class="facts">
    {facts.map(({ term, value, words }) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>
          <span class="value">{value}</span>
          {words !== undefined && <span class="words">{words}</span>}
        </dd>
      </div>
    ))}
  </dl>
)

export interface Column {
  readonly title: string
  readonly isText?: boolean
}

/** A table whose rows begin with what they are of. Where it is too wide, it scrolls by itself. */
export const Table = ({
  label,
  columns,
  rows,
}: {
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<ComponentChildren>>
}) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map(({ isText, title }) => (
            <th key={title} scope="col" class={isText === true ? "" : "number"}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, i) => (
          <tr key={i}>
            {cells.map((cell, j) =>
              j === 0 ? (
                <th key={j} scope="row" class={columns[0]?.isText === true ? "" : "number"}>
                  {cell}
                </th>
              ) : (
                <td key={j} class={columns[j]?.isText === true ? "" : "number"}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** A number as a bar of its share in the largest; the number itself stands beside it. */
export const Bar = ({
  value,
  of,
  tone = "",
}: {
  readonly value: number
  readonly of: number
  readonly tone?: string
}) => (
  <span class="bar" aria-hidden="true">
    {value > 0 && <span class={tone} style={{ width: `${of > 0 ? (100 * value) / of : 0}%` }} />}
  </span>
)

/** The first `most` of a list, and how many more there are. */
export const More = ({ shown, of, what }: { readonly shown: number; readonly of: number; readonly what: string }) =>
  of > shown ? (
    <p class="muted small">
      The first {count(shown)} of {count(of)} {what}.
    </p>
  ) : null

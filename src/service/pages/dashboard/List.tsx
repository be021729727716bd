/**
 * The parts of a list page: filters that the address keeps, a table or a text if it is empty, and links to other pages.
 *
 * Each filter is one entry of `filters`, with the name that the API uses; address and request both use it.
 */
import type { ComponentChildren } from "preact"
import { maxLength } from "../../pageApi/PageConstants.ts"
import { ask, type DashboardRequests } from "./client.ts"
import { Field, type Option, Select, valuesOf } from "./forms.tsx"
import type { Resource } from "./hooks.ts"
import { Loaded } from "./parts.tsx"
import { href, type Page, type Query } from "./routes.ts"
import { Table, type TableProps } from "./Table.tsx"

type QueryOf<K extends keyof DashboardRequests> = DashboardRequests[K]["input"] extends { readonly query: infer Q }
  ? NonNullable<Q>
  : never
type ListRequest = {
  [K in keyof DashboardRequests]: "limit" extends keyof QueryOf<K> ? K : never
}[keyof DashboardRequests]
/** The names of the filters that a list request accepts. */
export type FilterName<K extends ListRequest> = Exclude<keyof QueryOf<K> & string, "before" | "limit">

export interface Filter<Name extends string = string> {
  readonly name: Name
  readonly label: string
  readonly as: "links" | "select" | "text" | "check"
  /** The label for no value, which filters nothing. */
  readonly all?: string
  readonly options?: ReadonlyArray<Option>
  /** Whether the address may have a value that is not among the options. */
  readonly isOpen?: boolean
  readonly title?: string
  readonly placeholder?: string
}

/** Returns the members of a query that the filters allow, and the position in the list. */
export const filtered = (query: Query, filters: ReadonlyArray<Filter>): Query =>
  Object.fromEntries(
    Object.entries(query).filter(([name, value]) => {
      const { isOpen = false, options } = filters.find((filter) => filter.name === name) ?? { options: [] }
      return name === "before" || isOpen || options === undefined || options.some(([option]) => option === value)
    }),
  )

/** Requests one page of a list. */
export const askPage = <K extends ListRequest>(request: K, query: Query, limit: number) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the address holds strings, which the service checks
  ask<K>(request, ...([{ query: { ...query, limit } }] as never))

/** Links for a filter's options; each link keeps the other filters. */
export const FilterLinks = ({
  filter: { all = "All", label, name, options = [] },
  page,
  query,
  counts,
}: {
  readonly filter: Filter
  readonly page: Page
  readonly query: Query
  /** The counts: first for no value, then for each option. */
  readonly counts?: ReadonlyArray<string>
}) => (
  <nav class="filters" aria-label={label}>
    {[[undefined, all] as const, ...options].map(([value, words], i) => (
      <a
        key={words}
        href={href(page, { ...query, before: undefined, [name]: value })}
        aria-current={value === query[name] ? "page" : undefined}
      >
        <span>{words}</span> {counts !== undefined && <strong>{counts[i]}</strong>}
      </a>
    ))}
  </nav>
)

/** A form for the filters that are not links. */
export const FilterForm = ({
  filters,
  label,
  page,
  query,
  submit = "Filter",
}: {
  readonly filters: ReadonlyArray<Filter>
  readonly label: string
  readonly page: Page
  readonly query: Query
  /** The button's label. If null, there is no button, and a choice applies at once. */
  readonly submit?: string | null
}) => {
  const { before: _, ...kept } = query
  const fields = filters.filter(({ as }) => as !== "links")
  const show = (form: HTMLFormElement) => {
    const { text } = valuesOf(form)
    location.hash = href(page, {
      ...kept,
      ...Object.fromEntries(fields.map(({ name }) => [name, text(name) || undefined])),
    })
  }
  return (
    <form
      key={JSON.stringify(kept)}
      class={fields.length > 2 ? "line-form item-filter" : "line-form"}
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        show(event.currentTarget)
      }}
    >
      {fields.map(({ all = "", as, isOpen: _isOpen, options = [], ...field }, i) => {
        const value = query[field.name]
        if (as === "check") {
          return (
            <label key={field.name} class="row tight check">
              <input type="checkbox" name={field.name} value="true" defaultChecked={value !== undefined} />
              {field.label}
            </label>
          )
        }
        return as === "text" ? (
          <Field
            key={field.name}
            {...field}
            type={i === 0 ? "search" : "text"}
            fieldClass={i === 0 ? "wide" : ""}
            maxLength={maxLength.filter}
            value={value}
          />
        ) : (
          <Select
            key={field.name}
            {...field}
            value={value}
            options={[["", all], ...options]}
            onChange={(event) => submit === null && event.currentTarget.form !== null && show(event.currentTarget.form)}
          />
        )
      })}
      {submit !== null && (
        <button type="submit" class={fields.length > 1 ? "button primary" : "button"}>
          {submit}
        </button>
      )}
      {fields.length > 1 && submit !== null && Object.keys(kept).length > 0 && (
        <a class="button" href={href(page)}>
          Clear
        </a>
      )}
    </form>
  )
}

/** Shows the rows of a resource as a table, or a text if there are none. */
export const List = <A, Row>({
  resource,
  rows,
  nothing,
  above,
  below,
  ...table
}: Omit<TableProps<Row>, "rows"> & {
  readonly resource: Resource<A>
  readonly rows: (data: A) => ReadonlyArray<Row>
  readonly nothing: ComponentChildren
  readonly above?: (data: A) => ComponentChildren
  readonly below?: (data: A) => ComponentChildren
}) => (
  <Loaded resource={resource}>
    {(data) => (
      <>
        {above?.(data)}
        <Rows {...table} rows={rows(data)} nothing={nothing} />
        {below?.(data)}
      </>
    )}
  </Loaded>
)

export const Rows = <Row,>({ nothing, ...table }: TableProps<Row> & { readonly nothing: ComponentChildren }) =>
  table.rows.length === 0 ? <p class="card nothing">{nothing}</p> : <Table {...table} />

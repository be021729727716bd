/** Components for pages that show a list. A filter has the same name in `filters`, the page's URL, and the API. */
import type { ComponentChildren } from "preact"
import { maxLength } from "../../pageApi/PageConstants.ts"
import { Button } from "../shared/Button.tsx"
import { ask, type DashboardRequests } from "./client.ts"
import { Field, type Option, Select, valuesOf } from "./forms.tsx"
import type { Resource } from "./hooks.ts"
import { Loaded, Pager } from "./parts.tsx"
import { href, type Page, type Query } from "./routes.ts"
import { Table, type TableProps } from "./Table.tsx"

type ListRequest = {
  [K in keyof DashboardRequests]: DashboardRequests[K]["input"] extends { readonly query?: object } ? K : never
}[keyof DashboardRequests]
type Filters<K extends ListRequest> = keyof NonNullable<DashboardRequests[K]["input"]["query"]>
export type FilterName<K extends ListRequest> = Exclude<Filters<K>, "before" | "limit">

export interface Filter<Name extends string = string> {
  readonly name: Name
  readonly label: string
  readonly as: "links" | "select" | "text" | "check"
  readonly all?: string
  readonly options?: ReadonlyArray<Option>
  /** If true, the page's URL may set the filter to a value that is not in `options`. */
  readonly isOpen?: boolean
  readonly title?: string
  readonly placeholder?: string
}

export const filtered = (query: Query, filters: ReadonlyArray<Filter>): Query =>
  Object.fromEntries(
    Object.entries(query).filter(([name, value]) => {
      const { isOpen = false, options } = filters.find((filter) => filter.name === name) ?? { options: [] }
      return name === "before" || isOpen || options === undefined || options.some(([option]) => option === value)
    }),
  )

export const askPage = <K extends ListRequest>(request: K, query: Query, limit?: number) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the address holds strings, which the service checks
  ask<K>(request, ...([{ query: { ...query, limit } }] as never))

interface FilterLinksProps {
  readonly filter: Filter
  readonly page: Page
  readonly query: Query
  readonly counts?: ReadonlyArray<string>
}

export const FilterLinks = ({ filter, page, query, counts }: FilterLinksProps) => {
  const { all = "All", label, name, options = [] } = filter
  return (
    <nav class="row filters" aria-label={label}>
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
}

interface FilterFormProps {
  readonly filters: ReadonlyArray<Filter>
  readonly label: string
  readonly page: Page
  readonly query: Query
  /** The label of the submit button. Null means that there is no button, and that a selection applies immediately. */
  readonly submit?: string | null
}

export const FilterForm = ({ filters, label, page, query, submit = "Filter" }: FilterFormProps) => {
  const { before: _, ...filterQuery } = query
  const fields = filters.filter(({ as }) => as !== "links")
  const show = (form: HTMLFormElement) => {
    const { text } = valuesOf(form)
    const entered = fields.map(({ name }) => [name, text(name) || undefined])
    location.hash = href(page, { ...filterQuery, ...Object.fromEntries(entered) })
  }
  const fieldOf = ({ all = "", as, isOpen: _isOpen, options = [], ...field }: Filter, i: number) => {
    const value = query[field.name]
    const attributes = { ...field, value }
    if (as === "check") {
      return (
        <label key={field.name} class="row tight check">
          <input type="checkbox" name={field.name} value="true" defaultChecked={value !== undefined} />
          {field.label}
        </label>
      )
    }
    if (as === "text") {
      const [type, fieldClass] = i === 0 ? (["search", "wide"] as const) : (["text", ""] as const)
      return <Field key={field.name} {...attributes} type={type} fieldClass={fieldClass} maxLength={maxLength.filter} />
    }
    // If options load late, their number changes the `key`. Therefore, the field is created again, with its `value`.
    return (
      <Select
        key={`${field.name} ${options.length}`}
        {...attributes}
        options={[["", all], ...options]}
        onChange={(event) => submit === null && event.currentTarget.form !== null && show(event.currentTarget.form)}
      />
    )
  }
  const isLarge = fields.length > 1
  return (
    <form
      key={JSON.stringify(filterQuery)}
      class={fields.length > 2 ? "row line-form item-filter" : "row line-form"}
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        show(event.currentTarget)
      }}
    >
      {fields.map(fieldOf)}
      {submit !== null && <Button type="submit" look={isLarge ? "primary" : ""} text={submit} />}
      {isLarge && submit !== null && Object.keys(filterQuery).length > 0 && (
        <a class="button" href={href(page)}>
          Clear
        </a>
      )}
    </form>
  )
}

interface ListProps<A, Row> extends Omit<TableProps<Row>, "rows"> {
  readonly resource: Resource<A>
  readonly rows: (data: A) => ReadonlyArray<Row>
  readonly above?: (data: A) => ComponentChildren
  readonly below?: (data: A) => ComponentChildren
  /** The page and the query for links to newer and older rows. Undefined if the list has no such links. */
  readonly at?: readonly [Page, Query]
}

const nextOf = (data: object) => ("next" in data && typeof data.next === "number" ? data.next : null)

export const List = <A extends object, Row>({ resource, rows, above, below, at, ...table }: ListProps<A, Row>) => (
  <Loaded resource={resource}>
    {(data) => (
      <>
        {above?.(data)}
        <Table {...table} rows={rows(data)} />
        {below?.(data)}
        {at !== undefined && <Pager label={`Pages: ${table.label}`} next={nextOf(data)} page={at[0]} query={at[1]} />}
      </>
    )}
  </Loaded>
)

/** The audit log: who did what, newest first. It can be filtered by operator and action, and exported as a file. */
import type { AuditEntry } from "../../pageApi/AuditApi.ts"
import { addressOf } from "./client.ts"
import { exact, factWords } from "./format.ts"
import { useResource } from "./hooks.ts"
import { askPage, type Filter, FilterForm, type FilterName, filtered, List } from "./List.tsx"
import { PageHeading } from "./parts.tsx"
import { href, type Query } from "./routes.ts"

const filters: ReadonlyArray<Filter<FilterName<"GET /audit">>> = [
  { name: "actor", label: "Who", as: "select", all: "Everybody", isOpen: true },
  { name: "action", label: "What", as: "select", all: "Everything", isOpen: true },
]

const detailWords = ({ details }: AuditEntry): string =>
  Object.entries(details)
    .filter(([, value]) => value !== "" && value !== null)
    .map(([name, value]) => factWords(name, value))
    .join("; ")

export const AuditPage = ({ query: address }: { readonly query: Query }) => {
  const query = filtered(address, filters)
  const { before, ...filterQuery } = query
  const load = () => askPage("GET /audit", query, 50)
  const resource = useResource(JSON.stringify(query), load, before === undefined ? 10_000 : undefined)
  const optionsOf = (values: ReadonlyArray<string>, value: string | undefined) =>
    [...new Set([...values, ...(value === undefined ? [] : [value])])].map((value) => [value, value] as const)
  return (
    <>
      <PageHeading title="Audit log" under={["Operators", href("operators")]}>
        <a href={addressOf("GET /audit/export", { query: filterQuery })} download="audit.jsonl">
          Export as JSON Lines
        </a>
      </PageHeading>
      <List
        resource={resource}
        above={({ actions, actors }) => (
          <FilterForm
            label="Filter the audit log"
            page="audit"
            query={query}
            submit={null}
            filters={filters.map((filter) => ({
              ...filter,
              options: optionsOf(filter.name === "actor" ? actors : actions, query[filter.name]),
            }))}
          />
        )}
        at={["audit", query]}
        nothing="No entry matches."
        label="Audit log"
        rows={({ entries }) => entries}
        keyOf={(entry) => JSON.stringify(entry)}
        columns={[
          {
            label: "Time",
            cell: ({ at }) => (
              <time class="nowrap" dateTime={new Date(at).toISOString()}>
                {exact(at)}
              </time>
            ),
          },
          { label: "Who", class: "anywhere", cell: ({ actor }) => <bdi>{actor}</bdi> },
          { label: "What", cell: ({ action }) => <code>{action}</code> },
          { label: "Subject", class: "anywhere", cell: ({ subject }) => <bdi>{subject}</bdi> },
          { label: "Details", class: "anywhere", cell: (entry) => detailWords(entry) || null },
        ]}
      />
    </>
  )
}

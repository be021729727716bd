/** The audit log: who did what, newest first, by who and what; all of it as a file. */
import type { AuditEntry } from "../../pageApi/AuditApi.ts"
import * as audit from "./auditClient.ts"
import { exact } from "./format.ts"
import { useResource } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { Loaded, PageHeading, Pager } from "./parts.tsx"
import { format } from "./routes.ts"
import { Table } from "./Table.tsx"

export const AuditPage = ({ before, ...filter }: audit.AuditFilter & { readonly before: number | undefined }) => {
  const key = `${JSON.stringify(filter)} ${before}`
  const resource = useResource(key, () => audit.list(filter, before), before === undefined ? 10_000 : undefined)
  const trail = useTrail(before, JSON.stringify(filter))
  const href = (before: number | undefined) => format({ page: "audit", ...filter, before })
  const show = (changed: Partial<audit.AuditFilter>) => {
    location.hash = format({ page: "audit", ...filter, ...changed, before: undefined })
  }
  return (
    <>
      <p class="trail">
        <a href={format({ page: "operators" })}>Operators</a>
      </p>
      <PageHeading title="Audit log">
        <a href={audit.exportHref(filter)} download="audit.jsonl">
          Export as JSON Lines
        </a>
      </PageHeading>
      <Loaded resource={resource}>
        {({ actions, actors, entries, next }) => (
          <>
            <div class="row">
              <Choice
                label="Who"
                all="Everybody"
                values={actors}
                value={filter.actor}
                onChange={(actor) => show({ actor })}
              />
              <Choice
                label="What"
                all="Everything"
                values={actions}
                value={filter.action}
                onChange={(action) => show({ action })}
              />
            </div>
            {entries.length === 0 ? <p class="card nothing">No entry matches.</p> : <Entries entries={entries} />}
            <Pager label="Pages of the audit log" at={before} paging={paging(trail, before, next)} href={href} />
          </>
        )}
      </Loaded>
    </>
  )
}

const Choice = ({
  label,
  all,
  values,
  value,
  onChange,
}: {
  readonly label: string
  /** The choice of no value. */
  readonly all: string
  readonly values: ReadonlyArray<string>
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}) => (
  <label class="field">
    {label}
    <select class="input" value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
      <option value="">{all}</option>
      {[...new Set([...values, ...(value === undefined ? [] : [value])])].map((value) => (
        <option key={value}>{value}</option>
      ))}
    </select>
  </label>
)

const detailWords = ({ details }: AuditEntry): string =>
  Object.entries(details)
    .filter(([, value]) => value !== "" && value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : String(value)}`)
    .join("; ")

const Entries = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) => (
  <Table
    label="Audit log"
    rows={entries}
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
      { label: "Of", class: "anywhere", cell: ({ subject }) => <bdi>{subject}</bdi> },
      { label: "Details", class: "anywhere", cell: (entry) => detailWords(entry) || null },
    ]}
  />
)

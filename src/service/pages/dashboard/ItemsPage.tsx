/** Lists the items of all tasks, with filters. Leads can decide disputed items on the same page. */
import { useEffect, useState } from "preact/hooks"
import type { ItemSummary } from "../../pageApi/ItemsApi.ts"
import { itemStates } from "../../pageApi/PageConstants.ts"
import { Button } from "../shared/Button.tsx"
import { ask } from "./client.ts"
import { count, excerpt, percent, plural } from "./format.ts"
import { useResource } from "./hooks.ts"
import { askPage, type Filter, FilterForm, FilterLinks, type FilterName, filtered, List } from "./List.tsx"
import { Badge, commas, Loaded, PageHeading, Section } from "./parts.tsx"
import { For } from "./role.tsx"
import { href, type Query } from "./routes.ts"
import { promptId, TaskItemView } from "./TaskItemView.tsx"
import { VoteLinks } from "./VoteLinks.tsx"
import { itemStateLabel } from "./wording.ts"

const byState = {
  name: "state",
  label: "Items by state",
  as: "links",
  options: itemStates.map((state) => [state, itemStateLabel[state].words] as const),
} as const
export const filters: ReadonlyArray<Filter<FilterName<"GET /items">>> = [
  byState,
  { name: "text", label: "Prompt contains", as: "text", title: "Searches the first 500 characters of each prompt" },
  { name: "group", label: "Group", as: "text" },
  { name: "expert", label: "Judged by", as: "select", all: "anyone, or nobody yet", isOpen: true },
  {
    name: "max_agreement",
    label: "Agreement",
    as: "select",
    all: "any",
    options: ["80", "67", "50"].map((percent) => [percent, `at most ${percent} %`]),
  },
  { name: "flagged", label: "Flagged", as: "check", options: [["true", ""]] },
]

export const ItemsPage = ({ query: address }: { readonly query: Query }) => {
  const query = filtered(address, filters)
  const { before: _before, ...filterQuery } = query
  const resource = useResource(JSON.stringify(query), () => askPage("GET /items", query, 25), 10_000)
  const experts = useResource("experts", () => ask("GET /experts"), undefined)
  const expertOptions = (experts.data?.experts ?? []).map(({ expert_id, name }) => [expert_id, name] as const)
  const [open, setOpen] = useState<number>()
  return (
    <>
      <PageHeading title="Items">
        <For role="manager">
          {(resource.data?.disagreements ?? 0) > 0 && (
            <a class="button primary" href={href("adjudicate", { ...filterQuery, state: undefined })}>
              Decide {plural(resource.data!.disagreements, "disagreement")}
            </a>
          )}
        </For>
      </PageHeading>
      <FilterLinks filter={byState} page="items" query={query} />
      <FilterForm
        label="Filter items"
        page="items"
        query={query}
        filters={filters.map((filter) => (filter.name === "expert" ? { ...filter, options: expertOptions } : filter))}
      />
      <VoteLinks filter={filterQuery} />
      {query["state"] === "disputed" && (
        <p class="muted">
          These items have all their votes, but the experts disagree. Decide which completion is best, either here or
          one item after the other. Your choice becomes the result.
        </p>
      )}
      <section class="stack section" aria-label="Items found">
        <List
          resource={resource}
          nothing={<Nothing query={query} />}
          below={({ items }) =>
            items.filter(({ item_no }) => item_no === open).map((item) => <OpenItem key={item.item_no} item={item} />)
          }
          at={["items", query]}
          label="Items"
          rows={({ items }) => items}
          keyOf={({ item_no }) => item_no}
          columns={[
            {
              label: "Prompt",
              class: "anywhere prompt-start",
              cell: (item) => (
                <>
                  <a href={href("task", { id: item.task_id, prompt: item.index + 1 })}>{excerpt(item.prompt, 160)}</a>
                  {item.group_id !== item.task_id && (
                    <span class="group">
                      in group <bdi>{item.group_id}</bdi>
                    </span>
                  )}
                  {item.equal.length > 0 && (
                    <span class="group">
                      asked {plural(item.equal.length + 1, "time")}, also in{" "}
                      {commas(
                        item.equal.map(({ index, task_id }) => (
                          <a class="code" href={href("task", { id: task_id, prompt: index + 1 })}>
                            {task_id.slice(0, 12)}…
                          </a>
                        )),
                      )}
                    </span>
                  )}
                </>
              ),
            },
            {
              label: "State",
              cell: (item) => (
                <span class="badges">
                  <Badge label={itemStateLabel[item.state]} />
                  {item.flagged && <Badge label={{ words: "Flagged", tone: "warn" }} />}
                </span>
              ),
            },
            {
              label: "Votes",
              cell: ({ votes, votes_required }) => (
                <span class="nowrap">
                  {count(votes)} <span class="muted">of {count(votes_required)}</span>
                </span>
              ),
            },
            {
              label: "Agreement",
              nothing: "–",
              cell: ({ agreement }) => (agreement === null ? null : (percent(agreement, 1) ?? "0 %")),
            },
            { label: "Decided by", nothing: "–", cell: ({ decision }) => decision && <bdi>{decision.by}</bdi> },
            {
              label: "",
              cell: ({ item_no, prompt }) => {
                const isOpen = item_no === open
                const text = isOpen ? "Close" : "Open"
                return (
                  <Button
                    look="compact"
                    text={text}
                    label={`${text}: ${prompt.slice(0, 60)}`}
                    aria-expanded={isOpen}
                    onClick={() => setOpen(isOpen ? undefined : item_no)}
                  />
                )
              },
            },
          ]}
        />
      </section>
    </>
  )
}

const Nothing = ({ query: { before, ...filter } }: { readonly query: Query }) => {
  const [words, link, to] =
    before !== undefined
      ? ["There are no older items.", "The newest items", href("items", filter)]
      : Object.keys(filter).length > 0
        ? ["No item matches.", "All items", href("items")]
        : ["There are no items yet.", "How to send a task", href("tasks")]
  return (
    <>
      {words} <a href={to}>{link}</a>
    </>
  )
}

const OpenItem = ({ item }: { readonly item: ItemSummary }) => {
  const resource = useResource(
    String(item.item_no),
    () => ask("GET /tasks/:task_id", { params: { task_id: item.task_id }, query: { from: item.index, limit: 1 } }),
    undefined,
  )
  const ready = resource.data !== undefined
  useEffect(() => {
    if (!ready) return
    const heading = document.getElementById(promptId(item.index))
    heading?.scrollIntoView({ block: "start" })
    heading?.querySelector("a")?.focus({ preventScroll: true })
  }, [ready])
  return (
    <Section id="open-item" title="Open item">
      <Loaded resource={resource}>{({ items, task }) => <TaskItemView item={items[0]!} task={task} />}</Loaded>
    </Section>
  )
}

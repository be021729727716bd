/** Items of all tasks by filters; one that experts disagree on can be decided in its place. */
import { Fragment } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/DashboardApi.ts"
import type { ItemSummary } from "../../pageApi/DeskApi.ts"
import * as client from "./client.ts"
import * as desk from "./deskClient.ts"
import { count, percent, plural } from "./format.ts"
import { useResource } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { Badge, Loaded, PageHeading, Pager, Section } from "./parts.tsx"
import { format, type ItemFilter } from "./routes.ts"
import { Table } from "./Table.tsx"
import { VoteLinks } from "./VoteLinks.tsx"
import { promptId, TaskItemView } from "./TaskItemView.tsx"
import { itemStateLabel, itemStates } from "./wording.ts"

const hrefOf = (filter: ItemFilter) => format({ page: "items", filter })

export const ItemsPage = ({ filter }: { readonly filter: ItemFilter }) => {
  const { before, ...kept } = filter
  const list = JSON.stringify(kept)
  const resource = useResource(JSON.stringify(filter), () => desk.items(filter), 10_000)
  const experts = useResource("experts", client.experts, undefined)
  const trail = useTrail(before, list)
  const [open, setOpen] = useState<number>()
  const toDecide = filter.state === "disputed"
  return (
    <>
      <PageHeading title="Items" />
      <nav class="filters" aria-label="Items by state">
        {[undefined, ...itemStates].map((state) => (
          <a key={state} href={hrefOf({ ...kept, state })} aria-current={state === filter.state ? "page" : undefined}>
            {state === undefined ? "All" : itemStateLabel[state].words}
          </a>
        ))}
      </nav>
      <FilterForm key={list} filter={kept} experts={experts.data?.experts ?? []} />
      <VoteLinks filter={kept} />
      {toDecide && (
        <p class="muted">
          All votes are there, and they differ. Open an item, and decide which completion is best: your choice becomes
          the result.
        </p>
      )}
      <Loaded resource={resource}>
        {({ items, next }) => (
          <section class="section" aria-label="Items found">
            {items.length === 0 ? (
              <p class="card nothing">
                {before === undefined ? "No item is like this." : "There are no older items."}{" "}
                <a href={hrefOf(before === undefined ? {} : kept)}>
                  {before === undefined ? "All items" : "The newest items"}
                </a>
              </p>
            ) : (
              <ItemTable items={items} open={open} onOpen={setOpen} />
            )}
            {items.map(
              (item) =>
                item.item_no === open && (
                  <OpenItem key={item.item_no} item={item} reload={() => void resource.reload()} />
                ),
            )}
            <Pager
              label="Pages of items"
              at={before}
              paging={paging(trail, before, next)}
              href={(before) => hrefOf({ ...kept, before })}
            />
          </section>
        )}
      </Loaded>
    </>
  )
}

const FilterForm = ({
  filter,
  experts,
}: {
  readonly filter: ItemFilter
  readonly experts: ReadonlyArray<ExpertSummary>
}) => {
  const id = useId()
  const [given, setGiven] = useState(filter)
  const set = (change: ItemFilter) => setGiven({ ...given, ...change })
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <form
      class="line-form item-filter"
      role="search"
      aria-label="Filter items"
      onSubmit={(event) => {
        event.preventDefault()
        const { group, text } = given
        location.hash = hrefOf({ ...given, text: text?.trim() || undefined, group: group?.trim() || undefined })
      }}
    >
      <div class="field wide">
        <label for={`${id}-text`}>Prompt contains</label>
        <input
          class="input"
          id={`${id}-text`}
          type="search"
          maxLength={200}
          title="Searched in the first 500 characters"
          value={given.text ?? ""}
          onInput={(event) => set({ text: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={`${id}-group`}>Group</label>
        <input
          class="input"
          id={`${id}-group`}
          type="text"
          maxLength={200}
          value={given.group ?? ""}
          onInput={(event) => set({ group: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={`${id}-expert`}>Judged by</label>
        <select
          class="input"
          id={`${id}-expert`}
          value={given.expert ?? ""}
          onChange={(event) => set({ expert: event.currentTarget.value || undefined })}
        >
          <option value="">anybody or nobody</option>
          {experts.map(({ expert_id, name }) => (
            <option key={expert_id} value={expert_id}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-agreement`}>Agreement</label>
        <select
          class="input"
          id={`${id}-agreement`}
          value={given.agreement ?? ""}
          onChange={(event) => set({ agreement: Number(event.currentTarget.value) || undefined })}
        >
          <option value="">any</option>
          {[80, 67, 50].map((percent) => (
            <option key={percent} value={percent}>
              at most {percent} %
            </option>
          ))}
        </select>
      </div>
      <label class="row tight check">
        <input
          type="checkbox"
          checked={given.flagged === true}
          onChange={(event) => set({ flagged: event.currentTarget.checked || undefined })}
        />
        Flagged
      </label>
      <button type="submit" class="button primary">
        Filter
      </button>
      {isFiltered && (
        <a class="button" href={hrefOf({})}>
          Clear
        </a>
      )}
    </form>
  )
}

const ItemTable = ({
  items,
  open,
  onOpen,
}: {
  readonly items: ReadonlyArray<ItemSummary>
  readonly open: number | undefined
  readonly onOpen: (itemNo: number | undefined) => void
}) => (
  <Table
    label="Items"
    rows={items}
    keyOf={({ item_no }) => String(item_no)}
    columns={[
      {
        label: "Prompt",
        class: "anywhere prompt-start",
        cell: (item) => (
          <>
            <a href={format({ page: "task", taskId: item.task_id, prompt: item.index + 1 })}>
              {item.prompt.trim() === "" ? "(empty)" : item.prompt.slice(0, 160)}
            </a>
            {item.group_id !== item.task_id && (
              <span class="group">
                in group <bdi>{item.group_id}</bdi>
              </span>
            )}
            {item.equal.length > 0 && (
              <span class="group">
                asked {plural(item.equal.length + 1, "time")}, also in{" "}
                {item.equal.map(({ index, task_id }, i) => (
                  <Fragment key={`${task_id} ${index}`}>
                    {i > 0 && ", "}
                    <a class="code" href={format({ page: "task", taskId: task_id, prompt: index + 1 })}>
                      {task_id.slice(0, 12)}…
                    </a>
                  </Fragment>
                ))}
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
        cell: (item) => (
          <button
            type="button"
            class="button compact"
            aria-expanded={item.item_no === open}
            aria-label={`${item.item_no === open ? "Close" : "Open"}: ${item.prompt.slice(0, 60)}`}
            onClick={() => onOpen(item.item_no === open ? undefined : item.item_no)}
          >
            {item.item_no === open ? "Close" : "Open"}
          </button>
        ),
      },
    ]}
  />
)

/** The item with its completions and votes, where it can be decided. */
const OpenItem = ({ item, reload }: { readonly item: ItemSummary; readonly reload: () => void }) => {
  const resource = useResource(String(item.item_no), () => client.task(item.task_id, item.index), undefined)
  const ready = resource.data !== undefined
  useEffect(() => {
    if (!ready) return
    const heading = document.getElementById(promptId(item.index))
    heading?.scrollIntoView({ block: "start" })
    heading?.querySelector("a")?.focus({ preventScroll: true })
  }, [ready])
  return (
    <Section id="open-item" title="Open item">
      <Loaded resource={resource}>
        {({ items, task }) => (
          <TaskItemView
            item={items[0]!}
            task={task}
            open={task.status === "pending" || task.status === "in_progress"}
            reload={() => {
              void resource.reload()
              reload()
            }}
          />
        )}
      </Loaded>
    </Section>
  )
}

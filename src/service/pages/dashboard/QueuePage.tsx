/** The queue: groups, and tasks without one, in the order in which people get them, with their priority and their experts. */
import { useContext, useId, useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/DashboardApi.ts"
import type { GroupSummary, Priority, Queue } from "../../pageApi/GroupsApi.ts"
import * as client from "./client.ts"
import { Confirm } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Say, useResource } from "./hooks.ts"
import { Badge, Loaded, Meter, PageHeading, PageLink, Section, Time } from "./parts.tsx"
import { Pause } from "./Pause.tsx"
import * as queue from "./queueClient.ts"
import { useMay } from "./role.tsx"
import { format } from "./routes.ts"
import { Table } from "./Table.tsx"
import { isOpen } from "./TaskList.tsx"
import { type Label, pausedLabel } from "./wording.ts"

const priorityLabels: Readonly<Record<Priority, Label>> = {
  urgent: { words: "Urgent", tone: "bad" },
  high: { words: "High", tone: "warn" },
  normal: { words: "Normal", tone: "neutral" },
  low: { words: "Low", tone: "neutral" },
}
const priorities: ReadonlyArray<Priority> = ["urgent", "high", "normal", "low"]

export const QueuePage = ({ after }: { readonly after: number | undefined }) => {
  const resource = useResource(`queue ${after}`, () => queue.list(after), 10_000)
  const [changing, setChanging] = useState<Entry>()
  const show = { onChange: setChanging, reload: () => void resource.reload() }
  return (
    <>
      <PageHeading title="Queue" />
      <p class="muted">
        Open work, in the order in which people get it: by priority, then the oldest. A group, or a task without one,
        goes to all experts unless it is assigned to some, and to nobody while it is paused. Automatic experts judge the
        oldest first.
      </p>
      <Loaded resource={resource}>
        {({ groups, next, tasks }) =>
          groups.length === 0 && tasks.length === 0 && after === undefined ? (
            <p class="card nothing">No task is open.</p>
          ) : (
            <>
              {groups.length > 0 && (
                <Section id="groups" title="Groups">
                  <EntryTable label="Groups" entries={groups} {...show} />
                </Section>
              )}
              {(tasks.length > 0 || after !== undefined) && (
                <Section id="alone" title="Tasks without a group">
                  {tasks.length === 0 ? (
                    <p class="card nothing">No further task is open.</p>
                  ) : (
                    <EntryTable label="Tasks without a group" entries={tasks} {...show} />
                  )}
                  {(after !== undefined || next !== null) && (
                    <nav class="pager" aria-label="Pages of tasks without a group">
                      <PageLink href={after === undefined ? undefined : hrefOf(undefined)}>← Oldest</PageLink>
                      <PageLink href={next === null ? undefined : hrefOf(next)}>Newer →</PageLink>
                    </nav>
                  )}
                </Section>
              )}
            </>
          )
        }
      </Loaded>
      {changing !== undefined && (
        <Change key={changing.group_id} entry={changing} onClose={() => setChanging(undefined)} reload={show.reload} />
      )}
    </>
  )
}

/** A group, or a task without one, which has the beginning of its first prompt. */
type Entry = GroupSummary | Queue["tasks"][number]

const hrefOf = (after: number | undefined) => format({ page: "queue", after })
const nameOf = (entry: Entry) => `${"prompt" in entry ? "task" : "group"} ${entry.group_id}`

const EntryTable = ({
  label,
  entries,
  onChange,
  reload,
}: {
  readonly label: string
  readonly entries: ReadonlyArray<Entry>
  readonly onChange: (entry: Entry) => void
  readonly reload: () => void
}) => {
  const mayChange = useMay("manager")
  const isOfTasks = entries.some((entry) => "prompt" in entry)
  return (
    <Table
      label={label}
      rows={entries}
      keyOf={({ group_id }) => group_id}
      columns={[
        {
          label: isOfTasks ? "Task" : "Group",
          class: "anywhere",
          cell: (entry) =>
            "prompt" in entry ? (
              <>
                <a class="code" href={format({ page: "task", taskId: entry.group_id, prompt: undefined })}>
                  {entry.group_id}
                </a>
                <span class="group">{entry.prompt.slice(0, 80)}</span>
              </>
            ) : (
              <a href={format({ page: "group", groupId: entry.group_id })}>
                <bdi>{entry.group_id}</bdi>
              </a>
            ),
        },
        {
          label: "Priority",
          cell: ({ paused, priority }) => (
            <span class="badges">
              <Badge label={priorityLabels[priority]} />
              {paused && <Badge label={pausedLabel} />}
            </span>
          ),
        },
        {
          label: "Experts",
          class: "anywhere",
          cell: ({ assigned }) => (assigned === null ? "all" : assigned.map(({ name }) => name).join(", ")),
        },
        ...(isOfTasks ? [] : [{ label: "Open tasks", cell: ({ tasks }: Entry) => count(tasks) }]),
        {
          label: isOfTasks ? "Votes" : "Votes on open tasks",
          cell: (entry) => <Meter label={`Votes on ${nameOf(entry)}`} done={entry.votes} of={entry.votes_needed} />,
        },
        { label: isOfTasks ? "Created" : "Oldest", cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: "",
          cell: (entry) =>
            mayChange && (
              <span class="row tight">
                <button
                  type="button"
                  class="button compact"
                  aria-label={`Change priority and experts of ${entry.group_id}`}
                  onClick={() => onChange(entry)}
                >
                  Change
                </button>
                <Pause groupId={entry.group_id} paused={entry.paused} reload={reload} compact />
              </span>
            ),
        },
      ]}
    />
  )
}

const Change = ({
  entry: group,
  onClose,
  reload,
}: {
  readonly entry: Entry
  readonly onClose: () => void
  readonly reload: () => void
}) => {
  const [priority, setPriority] = useState(group.priority)
  const [chosen, setChosen] = useState(group.assigned?.map(({ expert_id }) => expert_id) ?? [])
  const experts = useResource("experts", client.experts, undefined)
  // Of the newest tasks: those of a group ask for equally many votes, as a rule.
  const tasks = useResource("tasks", () => client.tasks(undefined, undefined, group.group_id), undefined)
  const votes = (tasks.data?.tasks ?? [])
    .filter((task) => task.group_id === group.group_id && isOpen(task))
    .map((task) => task.votes_per_prompt)
  const say = useContext(Say)
  const name = useId()
  return (
    <Confirm
      title={nameOf(group).replace(/^./, (first) => first.toUpperCase())}
      confirm="Save"
      ask={() => queue.set(group.group_id, priority, chosen.length === 0 ? null : chosen)}
      onClose={onClose}
      onDone={() => {
        say("The queue is changed.")
        reload()
      }}
    >
      <fieldset class="choices">
        <legend>Priority</legend>
        {priorities.map((value) => (
          <label key={value}>
            <input type="radio" name={name} checked={priority === value} onChange={() => setPriority(value)} />
            {priorityLabels[value].words}
          </label>
        ))}
      </fieldset>
      <Loaded resource={experts}>
        {({ experts }) => (
          <Assigned experts={experts} chosen={chosen} votes={Math.max(0, ...votes)} onChange={setChosen} />
        )}
      </Loaded>
    </Confirm>
  )
}

const Assigned = ({
  experts,
  chosen,
  votes,
  onChange,
}: {
  readonly experts: ReadonlyArray<ExpertSummary>
  readonly chosen: ReadonlyArray<string>
  /** That a prompt needs, of as many experts. */
  readonly votes: number
  readonly onChange: (chosen: Array<string>) => void
}) => {
  const judging = experts.filter(({ active, expert_id }) => active && chosen.includes(expert_id)).length
  return (
    <fieldset class="choices">
      <legend>Experts</legend>
      <p class="muted small">Without a choice it goes to all. What others hold of it returns to the queue.</p>
      {experts
        .filter(({ active, expert_id }) => active || chosen.includes(expert_id))
        .map(({ active, expert_id, name }) => (
          <label key={expert_id}>
            <input
              type="checkbox"
              checked={chosen.includes(expert_id)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked ? [...chosen, expert_id] : chosen.filter((other) => other !== expert_id),
                )
              }
            />
            <span>
              <bdi>{name}</bdi>
              {!active && <span class="muted small"> not active</span>}
            </span>
          </label>
        ))}
      <div role="status">
        {chosen.length > 0 && judging < votes && (
          <p class="notice warn">
            Each prompt needs {plural(votes, "vote")} of different experts, and {count(judging)} of those chosen{" "}
            {judging === 1 ? "is" : "are"} active: without more, its tasks stay open.
          </p>
        )}
      </div>
    </fieldset>
  )
}

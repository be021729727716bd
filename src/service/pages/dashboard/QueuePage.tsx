/** The queue: groups, and tasks without a group, in the order in which experts get them. */
import { useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/ExpertsApi.ts"
import type { GroupSummary, Queue } from "../../pageApi/GroupsApi.ts"
import { priorities } from "../../pageApi/PageConstants.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, excerpt, plural } from "./format.ts"
import { Choices } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { askPage } from "./List.tsx"
import { Badge, Loaded, Meter, NameLink, PageHeading, PageLinks, Section, Time } from "./parts.tsx"
import { Pause } from "./Pause.tsx"
import { useMay } from "./role.tsx"
import { href, type Query } from "./routes.ts"
import { Table } from "./Table.tsx"
import { isOpen } from "./TaskList.tsx"
import { pausedLabel, priorityLabel } from "./wording.ts"

export const QueuePage = ({ query: { after } }: { readonly query: Query }) => {
  const resource = useResource(`queue ${after}`, () => askPage("GET /groups", { after }), 10_000)
  return (
    <>
      <PageHeading title="Queue" />
      <p class="muted">
        Open work in the order in which people get it: the highest priority first, and the oldest work first within a
        priority. If experts are assigned to a group or a task, nobody else gets this work. Nobody gets work that is
        paused. Automatic experts ignore priorities: they judge the oldest work first.
      </p>
      <Loaded resource={resource}>
        {({ groups, next, tasks }) =>
          groups.length === 0 && tasks.length === 0 && after === undefined ? (
            <p class="card nothing">
              No task is open. <a href={href("tasks")}>All tasks</a>
            </p>
          ) : (
            <>
              {groups.length > 0 && (
                <Section id="groups" title="Groups">
                  <EntryTable label="Groups" entries={groups} />
                </Section>
              )}
              {(tasks.length > 0 || after !== undefined) && (
                <Section id="alone" title="Tasks without a group">
                  <EntryTable label="Tasks without a group" entries={tasks} />
                  {(after !== undefined || next !== null) && (
                    <PageLinks
                      label="More tasks without a group"
                      links={[
                        ["← Oldest", after === undefined ? undefined : href("queue")],
                        ["Newer →", next === null ? undefined : href("queue", { after: next })],
                      ]}
                    />
                  )}
                </Section>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

type Entry = GroupSummary | Queue["tasks"][number]

const nameOf = (entry: Entry) => `${"prompt" in entry ? "task" : "group"} ${entry.group_id}`

const EntryTable = ({ label, entries }: { readonly label: string; readonly entries: ReadonlyArray<Entry> }) => {
  const mayChange = useMay("manager")
  const isOfTasks = entries.some((entry) => "prompt" in entry)
  return (
    <Table
      nothing="There are no more open tasks."
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
                <a class="code" href={href("task", { id: entry.group_id })}>
                  {entry.group_id}
                </a>
                <span class="group">{excerpt(entry.prompt, 80)}</span>
              </>
            ) : (
              <NameLink to={href("group", { id: entry.group_id })} name={entry.group_id} />
            ),
        },
        {
          label: "Priority",
          cell: ({ paused, priority }) => (
            <span class="badges">
              <Badge label={priorityLabel[priority]} />
              {paused && <Badge label={pausedLabel} />}
            </span>
          ),
        },
        {
          label: "Experts",
          class: "anywhere",
          cell: ({ assigned }) => (assigned === null ? "all" : assigned.map(({ name }) => name).join(", ")),
        },
        !isOfTasks && { label: "Open tasks", cell: ({ tasks }) => count(tasks) },
        {
          label: isOfTasks ? "Votes" : "Votes on open tasks",
          cell: (entry) => (
            <>
              <Meter label={`Votes on ${nameOf(entry)}`} done={entry.votes} of={entry.votes_needed} />
              {entry.waiting > 0 && (
                <div class="group" title="All active people have judged these items. Invite another expert.">
                  {plural(entry.waiting, "item waits", "items wait")} for another expert
                </div>
              )}
              {entry.waiting_for_judges > 0 && (
                <div
                  class="group"
                  title="Only language models may vote on these items. Start the service with more models."
                >
                  {plural(entry.waiting_for_judges, "item waits", "items wait")} for another judge
                </div>
              )}
            </>
          ),
        },
        { label: isOfTasks ? "Created" : "Oldest", cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: "",
          cell: (entry) =>
            mayChange && (
              <span class="row tight">
                <Change entry={entry} />
                <Pause groupId={entry.group_id} paused={entry.paused} look="compact" />
              </span>
            ),
        },
      ]}
    />
  )
}

const Change = ({ entry }: { readonly entry: Entry }) => (
  <ConfirmButton
    text="Change"
    label={`Change priority and experts of ${entry.group_id}`}
    title={nameOf(entry).replace(/^./, (first) => first.toUpperCase())}
    confirm="Save"
    ask={(values) => {
      const [first, ...rest] = values.all("experts")
      return ask("PUT /groups", {
        payload: {
          group_id: entry.group_id,
          priority: priorities.find((priority) => priority === values.text("priority")) ?? entry.priority,
          experts: first === undefined ? null : [first, ...rest],
        },
      })
    }}
    success="The queue was changed."
  >
    <Choices
      legend="Priority"
      name="priority"
      value={entry.priority}
      options={priorities.map((priority) => [priority, priorityLabel[priority].words])}
    />
    <Assigned group={entry} />
  </ConfirmButton>
)

const Assigned = ({ group }: { readonly group: Entry }) => {
  const experts = useResource("experts", () => ask("GET /experts"), undefined)
  // Loads only the newest tasks, because all tasks of a group usually need the same number of votes per prompt.
  const tasks = useResource("tasks", () => ask("GET /tasks", { query: { limit: 50, text: group.group_id } }), undefined)
  const votes = (tasks.data?.tasks ?? [])
    .filter((task) => task.group_id === group.group_id && isOpen(task))
    .map((task) => task.votes_per_prompt)
  const assigned = group.assigned?.map(({ expert_id }) => expert_id) ?? []
  return (
    <Loaded resource={experts}>
      {({ experts }) => <ExpertChoice experts={experts} assigned={assigned} votes={Math.max(0, ...votes)} />}
    </Loaded>
  )
}

interface ExpertChoiceProps {
  readonly experts: ReadonlyArray<ExpertSummary>
  readonly assigned: ReadonlyArray<string>
  /** The number of votes that a prompt needs, each from a different expert. */
  readonly votes: number
}

const ExpertChoice = ({ experts, assigned, votes }: ExpertChoiceProps) => {
  const [chosen, setChosen] = useState(assigned)
  const judging = experts.filter(({ active, expert_id }) => active && chosen.includes(expert_id)).length
  return (
    <fieldset class="choices">
      <legend>Experts</legend>
      <p class="muted small">
        If you choose no expert, all experts get the work. Items held by experts whom you do not choose return to the
        queue.
      </p>
      {experts
        .filter(({ active, expert_id }) => active || chosen.includes(expert_id))
        .map(({ active, expert_id, name }) => (
          <label key={expert_id}>
            <input
              type="checkbox"
              name="experts"
              value={expert_id}
              checked={chosen.includes(expert_id)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, expert_id] : chosen.filter((other) => other !== expert_id))
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
            Each prompt needs {plural(votes, "vote")} from different experts, but only {count(judging)} of the chosen
            experts {judging === 1 ? "is" : "are"} active. Choose more experts, or the tasks stay open.
          </p>
        )}
      </div>
    </fieldset>
  )
}

/** The queue: groups with open tasks in the order in which people get them, their priority and their experts. */
import { useContext, useId, useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/DashboardApi.ts"
import type { GroupSummary, Priority } from "../../pageApi/GroupsApi.ts"
import * as client from "./client.ts"
import { Confirm } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Say, useResource } from "./hooks.ts"
import { Badge, Loaded, Meter, PageHeading, Time } from "./parts.tsx"
import { Pause } from "./Pause.tsx"
import * as queue from "./queueClient.ts"
import { useMay } from "./role.tsx"
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

export const QueuePage = () => {
  const resource = useResource("queue", queue.list, 10_000)
  const [changing, setChanging] = useState<GroupSummary>()
  return (
    <>
      <PageHeading title="Queue" />
      <p class="muted">
        Groups with open tasks, in the order in which people get them: by priority, then the oldest. A group goes to all
        experts unless it is assigned to some, and to nobody while it is paused. Automatic experts judge the oldest
        first.
      </p>
      <Loaded resource={resource}>
        {({ groups }) =>
          groups.length === 0 ? (
            <p class="card nothing">No group has open tasks.</p>
          ) : (
            <GroupTable groups={groups} onChange={setChanging} reload={() => void resource.reload()} />
          )
        }
      </Loaded>
      {changing !== undefined && (
        <Change
          key={changing.group_id}
          group={changing}
          onClose={() => setChanging(undefined)}
          reload={() => void resource.reload()}
        />
      )}
    </>
  )
}

const GroupTable = ({
  groups,
  onChange,
  reload,
}: {
  readonly groups: ReadonlyArray<GroupSummary>
  readonly onChange: (group: GroupSummary) => void
  readonly reload: () => void
}) => {
  const mayChange = useMay("manager")
  return (
    <Table
      label="Groups"
      rows={groups}
      keyOf={({ group_id }) => group_id}
      columns={[
        { label: "Group", class: "anywhere", cell: ({ group_id }) => <bdi>{group_id}</bdi> },
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
        { label: "Open tasks", cell: ({ tasks }) => count(tasks) },
        {
          label: "Votes on open tasks",
          cell: ({ group_id, votes, votes_needed }) => (
            <Meter label={`Votes on open tasks of ${group_id}`} done={votes} of={votes_needed} />
          ),
        },
        { label: "Oldest", cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: "",
          cell: (group) =>
            mayChange && (
              <span class="row tight">
                <button
                  type="button"
                  class="button compact"
                  aria-label={`Change priority and experts of ${group.group_id}`}
                  onClick={() => onChange(group)}
                >
                  Change
                </button>
                <Pause groupId={group.group_id} paused={group.paused} reload={reload} compact />
              </span>
            ),
        },
      ]}
    />
  )
}

const Change = ({
  group,
  onClose,
  reload,
}: {
  readonly group: GroupSummary
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
      title={`Group ${group.group_id}`}
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
      <p class="muted small">Without a choice the group goes to all. What others hold of it returns to the queue.</p>
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

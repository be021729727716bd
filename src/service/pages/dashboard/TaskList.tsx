/** All tasks: counts by status, and one page, newest first. */
import type { Overview, TaskSummary } from "../../pageApi/DashboardApi.ts"
import type { Answer } from "../shared/api.ts"
import * as client from "./client.ts"
import { FirstTask } from "./FirstTask.tsx"
import { count } from "./format.ts"
import { useResource } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { Badge, Loaded, Meter, PageHeading, Pager, Time } from "./parts.tsx"
import { Search } from "./Search.tsx"
import { Table } from "./Table.tsx"
import { allTasks, format, statuses, type TaskStatus } from "./routes.ts"
import { pausedLabel, statusLabel } from "./wording.ts"

interface Tasks {
  readonly overview: Overview
  readonly tasks: ReadonlyArray<TaskSummary>
  readonly next: number | null
}

const load = async (
  status: TaskStatus | undefined,
  before: number | undefined,
  text: string | undefined,
): Promise<Answer<Tasks>> => {
  const [overview, page] = await Promise.all([client.overview(), client.tasks(status, before, text)])
  if (!overview.ok) return overview
  return page.ok ? { ok: true, value: { overview: overview.value, ...page.value } } : page
}

const total = ({ tasks }: Overview): number => statuses.reduce((sum, status) => sum + tasks[status], 0)

export const TaskList = ({
  status,
  before,
  text,
}: {
  readonly status: TaskStatus | undefined
  readonly before: number | undefined
  readonly text: string | undefined
}) => {
  const resource = useResource(`${status} ${before} ${text}`, () => load(status, before, text), 5000)
  const trail = useTrail(before, `${status} ${text}`)
  const href = (before: number | undefined) => format({ page: "tasks", status, before, text })
  return (
    <>
      <PageHeading title="Tasks" />
      <Loaded resource={resource}>
        {({ overview, tasks, next }) =>
          total(overview) === 0 ? (
            <FirstTask />
          ) : (
            <>
              <Filters overview={overview} status={status} text={text} />
              <Search
                key={text}
                label="Task or group"
                text={text}
                onSearch={(text) => {
                  location.hash = format({ page: "tasks", status, before: undefined, text })
                }}
              />
              {tasks.length === 0 ? (
                <Nothing status={status} before={before} text={text} />
              ) : (
                <TaskTable tasks={tasks} />
              )}
              <Pager label="Pages of tasks" at={before} paging={paging(trail, before, next)} href={href} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

const Filters = ({
  overview,
  status,
  text,
}: {
  readonly overview: Overview
  readonly status: TaskStatus | undefined
  readonly text: string | undefined
}) => {
  const { given, needed } = overview.open_votes
  const filters = [
    { label: "All", n: total(overview), of: undefined },
    ...statuses.map((of) => ({ label: statusLabel[of].words, n: overview.tasks[of], of })),
  ]
  return (
    <div class="row overview">
      <nav class="filters" aria-label="Tasks by status">
        {filters.map(({ label, n, of }) => (
          <a
            key={label}
            href={format({ page: "tasks", status: of, before: undefined, text })}
            aria-current={of === status ? "page" : undefined}
          >
            <span>{label}</span> <strong>{count(n)}</strong>
          </a>
        ))}
      </nav>
      {needed > 0 && (
        <p class="row">
          <span class="muted">Votes on open tasks</span>
          <Meter label="Votes on open tasks" done={given} of={needed} />
        </p>
      )}
    </div>
  )
}

const Nothing = ({
  status,
  before,
  text,
}: {
  readonly status: TaskStatus | undefined
  readonly before: number | undefined
  readonly text: string | undefined
}) => (
  <p class="card nothing">
    {before === undefined && text !== undefined
      ? "No task or group has this in its name."
      : before === undefined && status !== undefined
        ? `No task is ${statusLabel[status].words.toLowerCase()}.`
        : "There are no older tasks."}{" "}
    <a href={before === undefined ? allTasks : format({ page: "tasks", status, before: undefined })}>
      {before === undefined ? "All tasks" : "The newest tasks"}
    </a>
  </p>
)

const TaskTable = ({ tasks }: { readonly tasks: ReadonlyArray<TaskSummary> }) => (
  <Table
    label="Tasks"
    rows={tasks}
    keyOf={({ task_id }) => task_id}
    columns={[
      {
        label: "Task",
        cell: ({ group_id, task_id }) => (
          <>
            <a class="code" href={format({ page: "task", taskId: task_id, prompt: undefined })}>
              {task_id}
            </a>
            {group_id !== task_id && (
              <span class="group">
                in group{" "}
                <a href={format({ page: "group", groupId: group_id })}>
                  <bdi>{group_id}</bdi>
                </a>
              </span>
            )}
          </>
        ),
      },
      { label: "Status", cell: (task) => <Status task={task} /> },
      {
        label: "Prompts done",
        cell: (task) => <Meter label={`Prompts done of ${task.task_id}`} done={task.prompts_done} of={task.prompts} />,
      },
      {
        label: "Votes",
        cell: (task) => <Meter label={`Votes on ${task.task_id}`} done={task.votes} of={votesNeeded(task)} />,
      },
      { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      { label: "Finished", nothing: "not yet", cell: ({ finished_at }) => finished_at && <Time at={finished_at} /> },
    ]}
  />
)

/** Of all its prompts. */
export const votesNeeded = (task: TaskSummary): number =>
  task.prompts * task.votes_per_prompt + task.extra_votes - task.votes_spared

export const isOpen = (task: Pick<TaskSummary, "status">): boolean =>
  task.status === "pending" || task.status === "in_progress"

export const Status = ({ task }: { readonly task: TaskSummary }) => (
  <span class="badges">
    <Badge label={statusLabel[task.status]} />
    {task.paused && isOpen(task) && <Badge label={pausedLabel} />}
    {task.flagged > 0 && <Badge label={{ words: `${count(task.flagged)} flagged`, tone: "warn" }} />}
  </span>
)

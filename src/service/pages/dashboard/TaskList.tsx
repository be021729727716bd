/** Shows the number of tasks by status, and one page of the list, newest first. */
import { taskStatuses } from "../../pageApi/PageConstants.ts"
import type { Overview, TaskSummary } from "../../pageApi/TasksApi.ts"
import { ask, both } from "./client.ts"
import { FirstTask } from "./FirstTask.tsx"
import { count } from "./format.ts"
import { useResource } from "./hooks.ts"
import { askPage, type Filter, FilterForm, FilterLinks, type FilterName, filtered, List } from "./List.tsx"
import { Badge, Loaded, Meter, NameLink, PageHeading, Time } from "./parts.tsx"
import { href, type Query } from "./routes.ts"
import type { TableProps } from "./Table.tsx"
import { pausedLabel, statusLabel } from "./wording.ts"

const byStatus = {
  name: "status",
  label: "Tasks by status",
  as: "links",
  options: taskStatuses.map((status) => [status, statusLabel[status].words] as const),
} as const
const filters: ReadonlyArray<Filter<FilterName<"GET /tasks">>> = [
  byStatus,
  { name: "text", label: "Task or group", as: "text", placeholder: "Part of the name" },
]

const total = ({ tasks }: Overview): number => taskStatuses.reduce((sum, status) => sum + tasks[status], 0)

const load = (query: Query) => {
  const overview = ask("GET /overview").then((answer) =>
    answer.ok ? { ok: true as const, value: { overview: answer.value } } : answer,
  )
  return both(overview, askPage("GET /tasks", query, 50))
}

export const TaskList = ({ query: address }: { readonly query: Query }) => {
  const query = filtered(address, filters)
  const resource = useResource(JSON.stringify(query), () => load(query), 5000)
  const isEmpty = resource.data !== undefined && total(resource.data.overview) === 0
  return (
    <>
      <PageHeading title="Tasks" />
      {isEmpty ? (
        <Loaded resource={resource}>{() => <FirstTask />}</Loaded>
      ) : (
        <List
          resource={resource}
          above={({ overview }) => <Above overview={overview} query={query} />}
          label="Tasks"
          rows={({ tasks }) => tasks}
          nothing={<Nothing query={query} />}
          at={["tasks", query]}
          {...table}
        />
      )}
    </>
  )
}

const Above = ({ overview, query }: { readonly overview: Overview; readonly query: Query }) => {
  const { given: done, needed } = overview.open_votes
  return (
    <>
      <div class="row overview">
        <FilterLinks
          filter={byStatus}
          page="tasks"
          query={query}
          counts={[total(overview), ...taskStatuses.map((status) => overview.tasks[status])].map(count)}
        />
        {needed > 0 && (
          <p class="row">
            <span class="muted">Votes on open tasks</span>
            <Meter label="Votes on open tasks" done={done} of={needed} />
          </p>
        )}
      </div>
      <FilterForm label="Task or group" page="tasks" query={query} filters={filters} submit="Search" />
    </>
  )
}

const Nothing = ({ query: { before, ...filtering } }: { readonly query: Query }) =>
  before === undefined ? (
    <>
      No task matches. <a href={href("tasks")}>All tasks</a>
    </>
  ) : (
    <>
      There are no older tasks. <a href={href("tasks", filtering)}>The newest tasks</a>
    </>
  )

const table: Pick<TableProps<TaskSummary>, "columns" | "keyOf"> = {
  keyOf: ({ task_id }) => task_id,
  columns: [
    {
      label: "Task",
      cell: ({ group_id, task_id }) =>
        group_id === task_id ? (
          <a class="code" href={href("task", { id: task_id })}>
            {task_id}
          </a>
        ) : (
          <>
            <NameLink to={href("group", { id: group_id })} name={group_id} />
            <a class="code group" href={href("task", { id: task_id })}>
              {task_id}
            </a>
          </>
        ),
    },
    { label: "Status", cell: (task) => <Status task={task} /> },
    {
      label: "Prompts done",
      cell: (task) => (
        <Meter label={`Completed prompts of ${task.task_id}`} done={task.prompts_done} of={task.prompts} />
      ),
    },
    {
      label: "Votes",
      cell: (task) => <Meter label={`Votes on ${task.task_id}`} done={task.votes} of={votesNeeded(task)} />,
    },
    { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
    { label: "Finished", nothing: "not yet", cell: ({ finished_at }) => finished_at && <Time at={finished_at} /> },
  ],
}

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

/** All tasks: how many in which state, and a page of them, newest first. */
import { useRef } from "preact/hooks"
import type { Overview, TaskSummary } from "../../pageApi/DashboardApi.ts"
import type { Answer } from "../shared/api.ts"
import * as client from "./client.ts"
import { FirstTask } from "./FirstTask.tsx"
import { count } from "./format.ts"
import { useResource } from "./hooks.ts"
import { paging, start, type Trail, visit } from "./paging.ts"
import { Badge, Loaded, Meter, PageHeading, Pager, Time } from "./parts.tsx"
import { allTasks, format, statuses, type TaskStatus } from "./routes.ts"
import { statusLabel } from "./wording.ts"

interface Tasks {
  readonly overview: Overview
  readonly tasks: ReadonlyArray<TaskSummary>
  readonly next: number | null
}

const load = async (status: TaskStatus | undefined, before: number | undefined): Promise<Answer<Tasks>> => {
  const [overview, page] = await Promise.all([client.overview(), client.tasks(status, before)])
  if (!overview.ok) return overview
  return page.ok ? { ok: true, value: { overview: overview.value, ...page.value } } : page
}

const total = ({ tasks }: Overview): number => statuses.reduce((sum, status) => sum + tasks[status], 0)

export const TaskList = ({
  status,
  before,
}: {
  readonly status: TaskStatus | undefined
  readonly before: number | undefined
}) => {
  const resource = useResource(`${status} ${before}`, () => load(status, before), 5000)
  const trail = useRef<{ readonly status: TaskStatus | undefined; readonly trail: Trail }>({ status, trail: start })
  trail.current = { status, trail: visit(trail.current.status === status ? trail.current.trail : start, before) }
  const href = (before: number | undefined) => format({ page: "tasks", status, before })
  return (
    <>
      <PageHeading title="Tasks" />
      <Loaded resource={resource}>
        {({ overview, tasks, next }) =>
          total(overview) === 0 ? (
            <FirstTask />
          ) : (
            <>
              <Filters overview={overview} status={status} />
              {tasks.length === 0 ? <Nothing status={status} before={before} /> : <TaskTable tasks={tasks} />}
              <Pager
                label="Pages of tasks"
                at={before}
                paging={paging(trail.current.trail, before, next)}
                href={href}
              />
            </>
          )
        }
      </Loaded>
    </>
  )
}

const Filters = ({ overview, status }: { readonly overview: Overview; readonly status: TaskStatus | undefined }) => {
  const { given, needed } = overview.open_votes
  return (
    <div class="overview">
      <nav class="filters" aria-label="Tasks by status">
        <Filter label="All" n={total(overview)} href={allTasks} here={status === undefined} />
        {statuses.map((each) => (
          <Filter
            key={each}
            label={statusLabel[each].words}
            n={overview.tasks[each]}
            href={format({ page: "tasks", status: each, before: undefined })}
            here={status === each}
          />
        ))}
      </nav>
      {needed > 0 && (
        <p class="open-votes">
          <span>Votes on open tasks</span>
          <Meter label="Votes on open tasks" done={given} of={needed} />
        </p>
      )}
    </div>
  )
}

const Filter = ({
  label,
  n,
  href,
  here,
}: {
  readonly label: string
  readonly n: number
  readonly href: string
  readonly here: boolean
}) => (
  <a href={href} aria-current={here ? "page" : undefined}>
    <span>{label}</span> <strong>{count(n)}</strong>
  </a>
)

const Nothing = ({
  status,
  before,
}: {
  readonly status: TaskStatus | undefined
  readonly before: number | undefined
}) => (
  <p class="card nothing">
    {before === undefined && status !== undefined
      ? `No task is ${statusLabel[status].words.toLowerCase()}.`
      : "There are no older tasks."}{" "}
    <a href={before === undefined ? allTasks : format({ page: "tasks", status, before: undefined })}>
      {before === undefined ? "All tasks" : "The newest tasks"}
    </a>
  </p>
)

const TaskTable = ({ tasks }: { readonly tasks: ReadonlyArray<TaskSummary> }) => (
  <div class="card table-card">
    <table class="cards" role="table" aria-label="Tasks">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">Task</th>
          <th role="columnheader">Status</th>
          <th role="columnheader">Prompts done</th>
          <th role="columnheader">Votes</th>
          <th role="columnheader">Created</th>
          <th role="columnheader">Finished</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {tasks.map((task) => (
          <tr role="row" key={task.task_id}>
            <th role="rowheader" scope="row">
              <a class="code" href={format({ page: "task", taskId: task.task_id, prompt: undefined })}>
                {task.task_id}
              </a>
              {task.group_id !== task.task_id && (
                <span class="group">
                  in group <bdi>{task.group_id}</bdi>
                </span>
              )}
            </th>
            <td role="cell" data-label="Status">
              <span class="badges">
                <Badge label={statusLabel[task.status]} />
                {task.flagged > 0 && <Badge label={{ words: `${count(task.flagged)} flagged`, tone: "warn" }} />}
              </span>
            </td>
            <td role="cell" data-label="Prompts done">
              <Meter label={`Prompts done of ${task.task_id}`} done={task.prompts_done} of={task.prompts} />
            </td>
            <td role="cell" data-label="Votes">
              <Meter label={`Votes on ${task.task_id}`} done={task.votes} of={task.prompts * task.votes_per_prompt} />
            </td>
            <td role="cell" data-label="Created">
              <Time at={task.created_at} />
            </td>
            <td role="cell" data-label="Finished" class={task.finished_at === null ? "none" : ""}>
              {task.finished_at === null ? <span class="muted">not yet</span> : <Time at={task.finished_at} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Shows one task: its progress, and its prompts with their votes, one page at a time. */
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import { promptsPerPage } from "../../pageApi/PageConstants.ts"
import type { TaskDetail, TaskSummary } from "../../pageApi/TasksApi.ts"
import { Button } from "../shared/Button.tsx"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Guidelines } from "./Guidelines.tsx"
import { valuesOf } from "./forms.tsx"
import { ShowSource, useResource } from "./hooks.ts"
import { pagesOf, pageWith } from "./paging.ts"
import { CopyButton } from "./Copy.tsx"
import { commas, Loaded, Meter, PageHeading, PageLinks, Section, Summary, Time } from "./parts.tsx"
import { EnoughVotes, MoreVotes } from "./MoreVotes.tsx"
import { Pause } from "./Pause.tsx"
import { For } from "./role.tsx"
import { href, type Route } from "./routes.ts"
import { promptId, TaskItemView } from "./TaskItemView.tsx"
import { isOpen, Status, votesNeeded } from "./TaskList.tsx"
import { statusLabel } from "./wording.ts"

export const TaskPage = ({ id: taskId, query }: Pick<Route, "id" | "query">) => {
  const prompt = Number(query["prompt"]) || undefined
  const from = prompt === undefined ? 0 : pageWith(prompt, prompt, promptsPerPage)
  const [finished, setFinished] = useState(false)
  const [source, setSource] = useState(false)
  const resource = useResource(
    String(from),
    () => ask("GET /tasks/:task_id", { params: { task_id: taskId }, query: { from } }),
    finished ? undefined : 5000,
  )
  const status = resource.data?.task.status
  const group = resource.data?.task.group_id ?? taskId
  const title = group === taskId ? taskId : `Task in ${group}`
  useEffect(() => setFinished(status === "completed" || status === "cancelled"), [status])

  // Scrolls to the prompt in the address when the prompt is loaded, but not again on later reloads.
  const shown = useRef<number | undefined>(undefined)
  const ready = resource.data !== undefined && !resource.stale
  useEffect(() => {
    if (!ready || shown.current === prompt) return
    const first = shown.current === undefined
    shown.current = prompt
    if (prompt === undefined || (first && prompt === 1)) return
    const heading = document.getElementById(promptId(prompt - 1))
    heading?.scrollIntoView({ block: "start" })
    heading?.querySelector("a")?.focus({ preventScroll: true })
  }, [ready, prompt])

  return (
    <>
      <PageHeading title={title} code={title === taskId} under={["Tasks", href("tasks")]}>
        {title === taskId && resource.data !== undefined && <CopyButton text={taskId} what="task id" />}
      </PageHeading>
      <Loaded resource={resource}>
        {(detail) => (
          <ShowSource.Provider value={source}>
            <TaskSummaryCard detail={detail} />
            <Items detail={detail} onSource={() => setSource(!source)} />
          </ShowSource.Provider>
        )}
      </Loaded>
    </>
  )
}

const TaskSummaryCard = ({ detail }: { readonly detail: TaskDetail }) => {
  const { task } = detail
  const completesSoon = "Until this time, experts can take back their latest votes."
  const hasGroup = task.group_id !== task.task_id
  const group = (
    <a class="anywhere" href={href("group", { id: task.group_id })}>
      <bdi>{task.group_id}</bdi>
    </a>
  )
  return (
    <Summary
      facts={[
        ["Status", <Status task={task} />],
        ["Prompts done", <Meter label="Prompts done" done={task.prompts_done} of={task.prompts} />],
        ["Votes", <Meter label="Votes" done={task.votes} of={votesNeeded(task)} />],
        ["Votes per prompt", count(task.votes_per_prompt)],
        task.extra_votes > 0 && ["Further votes", count(task.extra_votes)],
        ["Created", <Time at={task.created_at} />],
        task.completes_at !== null && [
          "Completes",
          <span title={completesSoon}>
            <Time at={task.completes_at} />
          </span>,
        ],
        task.finished_at !== null && [statusLabel[task.status].words, <Time at={task.finished_at} />],
        hasGroup && ["Group", group],
        hasGroup && [
          "Task id",
          <>
            <span class="code anywhere">{task.task_id}</span> <CopyButton text={task.task_id} what="task id" />
          </>,
        ],
      ]}
      actions={
        <For role="manager">
          <div class="row tight">
            {isOpen(task) && !hasGroup && <Pause groupId={task.task_id} paused={task.paused} />}
            {task.status === "in_progress" && task.extra_votes > 0 && <EnoughVotes taskId={task.task_id} />}
            {(task.status === "completed" || task.extra_votes > 0) && <MoreVotes task={task} />}
            {isOpen(task) && <Cancel task={task} />}
          </div>
        </For>
      }
    >
      {detail.flagged_at.length > 0 && (
        <p class="notice warn">
          <span>
            Flagged by experts:{" "}
            {commas(
              detail.flagged_at.map((index) => (
                <a href={href("task", { id: task.task_id, prompt: index + 1 })}>prompt {count(index + 1)}</a>
              )),
            )}
            {task.flagged > detail.flagged_at.length && `, and ${count(task.flagged - detail.flagged_at.length)} more`}
          </span>
        </p>
      )}
      <Guidelines detail={detail} />
    </Summary>
  )
}

const Cancel = ({ task }: { readonly task: TaskSummary }) => (
  <ConfirmButton
    look="danger"
    text="Cancel task"
    title="Cancel this task?"
    confirm="Cancel task"
    keep="Keep task"
    danger
    ask={() => ask("POST /tasks/:task_id/cancel", { params: { task_id: task.task_id } })}
    success="The task is cancelled."
  >
    <p>
      Experts no longer get this task, and the client gets no results for it.{" "}
      {task.votes > 0 && `The ${plural(task.votes, "vote")} given so far can still be seen here. `}
      This can’t be undone.
    </p>
  </ConfirmButton>
)

const Items = ({ detail, onSource }: { readonly detail: TaskDetail; readonly onSource: () => void }) => {
  const source = useContext(ShowSource)
  const { task, items, from } = detail
  const pages = pagesOf(task.prompts, promptsPerPage, from)
  const isPaged = task.prompts > promptsPerPage
  const hrefOf = (from: number | undefined) =>
    from === undefined ? undefined : href("task", { id: task.task_id, prompt: from + 1 })
  const title = (
    <>
      Prompts{" "}
      {isPaged && (
        <span class="muted">
          {count(pages.first)} to {count(pages.last)} of {count(task.prompts)}
        </span>
      )}
    </>
  )
  const beside = (
    <>
      <Button
        look="compact"
        text="Source"
        aria-pressed={source}
        title="Show the source of all texts"
        onClick={onSource}
      />
      {isPaged && <GoTo task={task} />}
    </>
  )
  return (
    <Section id="prompts" title={title} beside={beside}>
      <div class="stack">
        {items.map((item) => (
          <TaskItemView key={item.index} item={item} task={task} />
        ))}
      </div>
      {isPaged && (
        <PageLinks
          label="Pages of prompts"
          links={[
            ["← Previous", hrefOf(pages.previous)],
            ["Next →", hrefOf(pages.next)],
          ]}
        />
      )}
    </Section>
  )
}

const GoTo = ({ task }: { readonly task: TaskSummary }) => {
  const id = useId()
  return (
    <form
      class="row go-to"
      onSubmit={(event) => {
        event.preventDefault()
        const prompt = Math.min(valuesOf(event.currentTarget).number("prompt"), task.prompts)
        location.hash = href("task", { id: task.task_id, prompt })
      }}
    >
      <label for={id}>Go to prompt</label>
      <input
        class="input"
        id={id}
        name="prompt"
        type="text"
        inputMode="numeric"
        pattern="[1-9][0-9]*"
        title={`A number from 1 to ${task.prompts}`}
        required
        autocomplete="off"
      />
      <Button type="submit" text="Go" />
    </form>
  )
}

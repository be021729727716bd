/** Shows one task: its progress, and its prompts with their votes, one page at a time. */
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import { promptsPerPage } from "../../pageApi/PageConstants.ts"
import type { TaskDetail, TaskSummary } from "../../pageApi/TasksApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Guidelines } from "./Guidelines.tsx"
import { ShowSource, useResource } from "./hooks.ts"
import { pagesOf, pageWith } from "./paging.ts"
import { CopyButton } from "./Copy.tsx"
import { Fact, Loaded, Meter, PageHeading, PageLink, Time } from "./parts.tsx"
import { EnoughVotes, MoreVotes } from "./MoreVotes.tsx"
import { Pause } from "./Pause.tsx"
import { For } from "./role.tsx"
import { href } from "./routes.ts"
import { promptId, TaskItemView } from "./TaskItemView.tsx"
import { isOpen, Status, votesNeeded } from "./TaskList.tsx"
import { statusLabel } from "./wording.ts"

export const TaskPage = ({ taskId, prompt }: { readonly taskId: string; readonly prompt: number | undefined }) => {
  const from = prompt === undefined ? 0 : pageWith(prompt, prompt, promptsPerPage)
  const [finished, setFinished] = useState(false)
  const [source, setSource] = useState(false)
  const resource = useResource(
    String(from),
    () => ask("GET /tasks/:task_id", { params: { task_id: taskId }, query: { from } }),
    finished ? undefined : 5000,
  )
  const status = resource.data?.task.status
  useEffect(() => setFinished(status === "completed" || status === "cancelled"), [status])

  // Each requested prompt scrolls into view once, when it is loaded, and not on every reload.
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
      <p class="trail">
        <a href={href("tasks")}>Tasks</a>
      </p>
      <PageHeading title={taskId} code>
        {resource.data !== undefined && <CopyButton text={taskId} what="task id" />}
      </PageHeading>
      <Loaded resource={resource}>
        {(detail) => (
          <ShowSource.Provider value={source}>
            <Summary detail={detail} reload={() => void resource.reload()} />
            <Items detail={detail} reload={() => void resource.reload()} onSource={() => setSource(!source)} />
          </ShowSource.Provider>
        )}
      </Loaded>
    </>
  )
}

const Summary = ({ detail, reload }: { readonly detail: TaskDetail; readonly reload: () => void }) => {
  const { task } = detail
  return (
    <section class="card padded stack" aria-label="Summary">
      <div class="row summary-head">
        <dl class="facts">
          <Fact label="Status">
            <Status task={task} />
          </Fact>
          <Fact label="Prompts done">
            <Meter label="Prompts done" done={task.prompts_done} of={task.prompts} />
          </Fact>
          <Fact label="Votes">
            <Meter label="Votes" done={task.votes} of={votesNeeded(task)} />
          </Fact>
          <Fact label="Votes per prompt">{count(task.votes_per_prompt)}</Fact>
          {task.extra_votes > 0 && <Fact label="Further votes">{count(task.extra_votes)}</Fact>}
          <Fact label="Created">
            <Time at={task.created_at} />
          </Fact>
          {task.completes_at !== null && (
            <Fact label="Completes" title="Until then experts can take back their last votes.">
              <Time at={task.completes_at} />
            </Fact>
          )}
          {task.finished_at !== null && (
            <Fact label={statusLabel[task.status].words}>
              <Time at={task.finished_at} />
            </Fact>
          )}
          {task.group_id !== task.task_id && (
            <Fact label="Group" class="anywhere">
              <a href={href("group", { id: task.group_id })}>
                <bdi>{task.group_id}</bdi>
              </a>
            </Fact>
          )}
        </dl>
        <For role="manager">
          <div class="row tight">
            {isOpen(task) && task.group_id === task.task_id && (
              <Pause groupId={task.task_id} paused={task.paused} reload={reload} />
            )}
            {task.status === "in_progress" && task.extra_votes > 0 && (
              <EnoughVotes taskId={task.task_id} reload={reload} />
            )}
            {(task.status === "completed" || task.extra_votes > 0) && <MoreVotes task={task} reload={reload} />}
            {isOpen(task) && (
              <ConfirmButton
                class="danger"
                button="Cancel task"
                title="Cancel this task?"
                confirm="Cancel task"
                keep="Keep task"
                danger
                ask={() => ask("POST /tasks/:task_id/cancel", { params: { task_id: task.task_id } })}
                said="The task is cancelled."
                onDone={reload}
              >
                <p>
                  Experts are not asked about it any more, and the client gets no results for it.{" "}
                  {task.votes > 0 && `The ${plural(task.votes, "vote")} given so far can still be seen here. `}
                  This can’t be undone.
                </p>
              </ConfirmButton>
            )}
          </div>
        </For>
      </div>
      {detail.flagged_at.length > 0 && (
        <p class="notice warn">
          <span>
            Flagged by experts:{" "}
            {detail.flagged_at.map((index, i) => (
              <span key={index}>
                {i > 0 && ", "}
                <a href={href("task", { id: task.task_id, prompt: index + 1 })}>prompt {count(index + 1)}</a>
              </span>
            ))}
            {task.flagged > detail.flagged_at.length && `, and ${count(task.flagged - detail.flagged_at.length)} more`}
          </span>
        </p>
      )}
      <Guidelines detail={detail} reload={reload} />
    </section>
  )
}

const Items = ({
  detail,
  reload,
  onSource,
}: {
  readonly detail: TaskDetail
  readonly reload: () => void
  readonly onSource: () => void
}) => {
  const source = useContext(ShowSource)
  const { task, items, from } = detail
  const pages = pagesOf(task.prompts, promptsPerPage, from)
  const hrefOf = (from: number) => href("task", { id: task.task_id, prompt: from + 1 })
  return (
    <section class="section" aria-labelledby="prompts">
      <div class="row heading">
        <h2 id="prompts" tabIndex={-1}>
          Prompts{" "}
          {task.prompts > promptsPerPage && (
            <span class="muted">
              {count(pages.first)} to {count(pages.last)} of {count(task.prompts)}
            </span>
          )}
        </h2>
        <button
          type="button"
          class="button compact"
          aria-pressed={source}
          title="Texts as they were written"
          onClick={onSource}
        >
          Source
        </button>
        {task.prompts > promptsPerPage && <GoTo task={task} />}
      </div>
      <div class="stack">
        {items.map((item) => (
          <TaskItemView key={item.index} item={item} task={task} open={isOpen(task)} reload={reload} />
        ))}
      </div>
      {task.prompts > promptsPerPage && (
        <nav class="pager" aria-label="Pages of prompts">
          <PageLink href={pages.previous === undefined ? undefined : hrefOf(pages.previous)}>← Previous</PageLink>
          <PageLink href={pages.next === undefined ? undefined : hrefOf(pages.next)}>Next →</PageLink>
        </nav>
      )}
    </section>
  )
}

const GoTo = ({ task }: { readonly task: TaskSummary }) => {
  const id = useId()
  const [number, setNumber] = useState("")
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault()
        const prompt = Math.min(Number(number), task.prompts)
        if (prompt >= 1) location.hash = href("task", { id: task.task_id, prompt })
      }}
    >
      <label for={id}>Go to prompt</label>
      <input
        class="input"
        id={id}
        type="text"
        inputMode="numeric"
        pattern="[1-9][0-9]*"
        title={`A number from 1 to ${task.prompts}`}
        required
        value={number}
        onInput={(event) => setNumber(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        Go
      </button>
    </form>
  )
}

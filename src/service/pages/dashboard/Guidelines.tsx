/** Shows the guidelines of a task: the newest version, a form for the next one, and the changes in each version. */
import { useContext, useId, useState } from "preact/hooks"
import type { GuidelineHistory } from "../../pageApi/TasksApi.ts"
import type { TaskDetail } from "../../pageApi/TasksApi.ts"
import { maxLength } from "../../pageApi/PageConstants.ts"
import { ask } from "./client.ts"
import { Changes } from "../shared/Changes.tsx"
import { Say, useAction, useResource } from "./hooks.ts"
import { Loaded, LongText, Problem, Time } from "./parts.tsx"
import { For } from "./role.tsx"

export const Guidelines = ({ detail, reload }: { readonly detail: TaskDetail; readonly reload: () => void }) => {
  const { guidelines, guidelines_version: version, rubric, task } = detail
  const [open, setOpen] = useState<"edit" | "versions" | null>(null)
  return (
    <div class="guidelines stack tight">
      <div class="row">
        <h2 class="caption">Guidelines{version > 1 && `, version ${version}`}</h2>
        {open !== "edit" && (
          <For role="manager">
            <button
              type="button"
              class="button compact"
              aria-label="Edit the guidelines"
              onClick={() => setOpen("edit")}
            >
              Edit
            </button>
          </For>
        )}
        {version > 1 && open !== "edit" && (
          <button
            type="button"
            class="button compact"
            aria-expanded={open === "versions"}
            onClick={() => setOpen(open === "versions" ? null : "versions")}
          >
            What changed
          </button>
        )}
      </div>
      {open !== "edit" &&
        (guidelines === null ? (
          <p class="muted">None were sent with this task.</p>
        ) : (
          <LongText text={guidelines} label="the guidelines" below={2} lines={6} />
        ))}
      {rubric !== null && <RubricList {...rubric} />}
      {open !== null && (
        <History
          key={open}
          version={version}
          taskId={task.task_id}
          editing={open === "edit"}
          onClose={() => setOpen(null)}
          reload={reload}
        />
      )}
    </div>
  )
}

/** Lists what experts are asked besides the choice. */
const RubricList = ({ all_bad, aspects, edit, flags, strength }: NonNullable<TaskDetail["rubric"]>) => (
  <div class="stack tight">
    <h3 class="caption">Rubric</h3>
    <ul class="small" aria-label="Rubric">
      {strength.length > 0 && <li>How much better the best is: {strength.join(", ")}</li>}
      {all_bad && <li>Whether not even the best is good enough</li>}
      {aspects.map(({ high, low, name, steps }) => (
        <li key={name}>
          Rate <bdi>{name}</bdi> from 1{low !== undefined && ` (${low})`} to {steps}
          {high !== undefined && ` (${high})`}
        </li>
      ))}
      {flags.length > 0 && <li>Mark what applies: {flags.join(", ")}</li>}
      {edit && <li>Improve the best completion</li>}
    </ul>
  </div>
)

const History = ({
  taskId,
  version,
  editing,
  onClose,
  reload,
}: {
  readonly taskId: string
  /** The newest known version. A new version reloads the history; the text that the operator is writing stays. */
  readonly version: number
  readonly editing: boolean
  readonly onClose: () => void
  readonly reload: () => void
}) => {
  const resource = useResource(
    `guidelines ${version}`,
    () => ask("GET /tasks/:task_id/guidelines", { params: { task_id: taskId } }),
    undefined,
  )
  return (
    <Loaded resource={resource}>
      {(history) =>
        editing ? (
          <EditForm taskId={taskId} history={history} onClose={onClose} onOutdated={resource.reload} reload={reload} />
        ) : (
          <Versions {...history} />
        )
      }
    </Loaded>
  )
}

const EditForm = ({
  taskId,
  history: { has_rubric, versions },
  onClose,
  onOutdated,
  reload,
}: {
  readonly taskId: string
  readonly history: GuidelineHistory
  readonly onClose: () => void
  /** Reloads the history. */
  readonly onOutdated: () => Promise<void>
  readonly reload: () => void
}) => {
  const newest = versions[0]!
  const [text, setText] = useState(newest.text)
  const [begun] = useState(newest.version)
  const save = async () => {
    const answer = await ask("PUT /tasks/:task_id/guidelines", {
      params: { task_id: taskId },
      payload: { text, version: newest.version },
    })
    if (!answer.ok && answer.problem.status === 409) await onOutdated()
    return answer
  }
  const action = useAction()
  const say = useContext(Say)
  const id = useId()
  return (
    <form
      class="sunken stack tight"
      aria-label="Edit the guidelines"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(save, () => {
          say(`The guidelines have version ${newest.version + 1}.`)
          onClose()
          reload()
        })
      }}
    >
      <div class="field">
        <label for={id}>Text of the guidelines (Markdown)</label>
        <textarea
          class="input"
          id={id}
          rows={12}
          maxLength={maxLength.guidelines}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <p class="muted small">
        The new version is for all tasks that came with the same guidelines, and for those that will. Experts are told
        of it before their next item; votes given so far stay. {has_rubric && "The rubric stays as it was sent."}
      </p>
      <Problem words={action.problem} />
      {newest.version > begun && (
        <div class="stack tight" role="group" aria-label="What somebody else changed">
          <p class="notice warn">
            <span>
              <bdi>{newest.by}</bdi> saved version {newest.version} meanwhile. Your text is kept above: take over what
              you want of that version, then save yours as the next one.
            </span>
          </p>
          <Changes
            before={{ name: `Version ${newest.version}`, text: newest.text }}
            after={{ name: "Your text", text }}
          />
        </div>
      )}
      <div class="row">
        <button type="submit" class="button primary" aria-disabled={action.busy || text === newest.text}>
          Save version {newest.version + 1}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}

const Versions = ({ versions }: GuidelineHistory) => (
  <ol class="stack versions" aria-label="Versions of the guidelines">
    {versions.slice(0, -1).map(({ at, by, text, version }, i) => (
      <li key={version} class="sunken stack tight">
        <p>
          <strong>Version {version}</strong> by <bdi>{by}</bdi>, {at !== null && <Time at={at} />}
        </p>
        <Changes
          before={{ name: `Version ${version - 1}`, text: versions[i + 1]!.text }}
          after={{ name: `Version ${version}`, text }}
        />
      </li>
    ))}
  </ol>
)

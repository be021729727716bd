/** Shows the guidelines of a task: the newest version, a form for the next one, and the changes in each version. */
import { useState } from "preact/hooks"
import type { GuidelineHistory, TaskDetail } from "../../pageApi/TasksApi.ts"
import { maxLength } from "../../pageApi/PageConstants.ts"
import { Button } from "../shared/Button.tsx"
import { ask } from "./client.ts"
import { Changes } from "../shared/Changes.tsx"
import { Form, TextArea } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { Loaded, LongText, Time } from "./parts.tsx"
import { For } from "./role.tsx"

export const Guidelines = ({ detail }: { readonly detail: TaskDetail }) => {
  const { guidelines, guidelines_version: version, rubric, task } = detail
  const [open, setOpen] = useState<"edit" | "versions" | null>(null)
  const isEditing = open === "edit"
  const isComparing = open === "versions"
  return (
    <div class="guidelines stack tight">
      <div class="row">
        <h2 class="caption">Guidelines{version > 1 && `, version ${version}`}</h2>
        {!isEditing && (
          <For role="manager">
            <Button look="compact" text="Edit" label="Edit the guidelines" onClick={() => setOpen("edit")} />
          </For>
        )}
        {version > 1 && !isEditing && (
          <Button
            look="compact"
            text="What changed"
            aria-expanded={isComparing}
            onClick={() => setOpen(isComparing ? null : "versions")}
          />
        )}
      </div>
      {!isEditing &&
        (guidelines === null ? (
          <p class="muted">No guidelines were sent with this task.</p>
        ) : (
          <LongText text={guidelines} label="the guidelines" below={2} lines={6} />
        ))}
      {rubric !== null && <RubricList {...rubric} />}
      {open !== null && (
        <History
          key={open}
          version={version}
          taskId={task.task_id}
          isEditing={isEditing}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  )
}

const RubricList = ({ all_bad, aspects, edit, flags, required, strength }: NonNullable<TaskDetail["rubric"]>) => (
  <div class="stack tight">
    <h3 class="caption">Rubric</h3>
    <ul class="small" aria-label="Rubric">
      {strength.length > 0 && (
        <li>
          How much better the best is: {strength.join(", ")}
          {must(required.includes("strength"))}
        </li>
      )}
      {all_bad && <li>Mark the item if even the best completion is not good enough</li>}
      {aspects.map(({ high, low, name, required: isRequired, steps }) => (
        <li key={name}>
          Rate <bdi>{name}</bdi> from 1{low !== undefined && ` (${low})`} to {steps}
          {high !== undefined && ` (${high})`}
          {must(isRequired)}
        </li>
      ))}
      {flags.length > 0 && <li>Mark the problems that apply: {flags.join(", ")}</li>}
      {edit && <li>Improve the best completion{must(required.includes("edit"))}</li>}
      {required.includes("rationale") && <li>Rationale{must(true)}</li>}
    </ul>
  </div>
)

const must = (isRequired: boolean | undefined) => isRequired === true && ": required"

interface HistoryProps {
  readonly taskId: string
  /** The newest version. When it changes, the history is loaded again. Text that the operator is editing is kept. */
  readonly version: number
  readonly isEditing: boolean
  readonly onClose: () => void
}

const History = ({ taskId, version, isEditing, onClose }: HistoryProps) => {
  const resource = useResource(
    `guidelines ${version}`,
    () => ask("GET /tasks/:task_id/guidelines", { params: { task_id: taskId } }),
    undefined,
  )
  return (
    <Loaded resource={resource}>
      {(history) =>
        isEditing ? (
          <EditForm taskId={taskId} history={history} onClose={onClose} onOutdated={resource.reload} />
        ) : (
          <Versions {...history} />
        )
      }
    </Loaded>
  )
}

interface EditFormProps {
  readonly taskId: string
  readonly history: GuidelineHistory
  readonly onClose: () => void
  readonly onOutdated: () => Promise<void>
}

const EditForm = ({ taskId, history: { has_rubric, versions }, onClose, onOutdated }: EditFormProps) => {
  const newest = versions[0]!
  const [text, setText] = useState(newest.text)
  const [initial] = useState(newest)
  const save = async () => {
    const answer = await ask("PUT /tasks/:task_id/guidelines", {
      params: { task_id: taskId },
      payload: { text, version: newest.version },
    })
    if (!answer.ok && answer.problem.status === 409) await onOutdated()
    return answer
  }
  return (
    <Form
      class="sunken stack tight"
      label="Edit the guidelines"
      submit={`Save version ${newest.version + 1}`}
      isUnchanged={text === newest.text}
      ask={save}
      success={`Version ${newest.version + 1} of the guidelines is saved.`}
      onClose={onClose}
    >
      <TextArea
        name="text"
        label="Text of the guidelines (Markdown)"
        rows={12}
        maxLength={maxLength.guidelines}
        value={initial.text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class="muted small">
        The new version applies to all present and future tasks that are sent with the same guidelines. Experts see the
        changes before their next item. Votes given so far are kept. {has_rubric && "The rubric does not change."}
      </p>
      {newest.version > initial.version && (
        <div class="stack tight" role="group" aria-label="What somebody else changed">
          <p class="notice warn">
            <span>
              <bdi>{newest.by}</bdi> saved version {newest.version} in the meantime. Your text is kept above. Copy what
              you want from version {newest.version} into your text. Then, save your text as the next version.
            </span>
          </p>
          <Changes
            before={{ name: `Version ${newest.version}`, text: newest.text }}
            after={{ name: "Your text", text }}
          />
        </div>
      )}
    </Form>
  )
}

const Versions = ({ versions }: GuidelineHistory) => (
  <ol class="plain-list stack" aria-label="Versions of the guidelines">
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

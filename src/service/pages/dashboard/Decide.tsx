/** A lead's decision on an item: who decided what, and the form to decide. */
import type { ComponentChildren } from "preact"
import { maxLength } from "../../pageApi/PageConstants.ts"
import { ask } from "./client.ts"
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks"
import type { TaskItem, TaskSummary } from "../../pageApi/TasksApi.ts"
import { count, letter } from "./format.ts"
import { Say, useAction } from "./hooks.ts"
import { ActionButton, LongText, Problem, Time } from "./parts.tsx"

interface Props {
  readonly item: TaskItem
  readonly task: Pick<TaskSummary, "status" | "task_id">
  readonly reload: () => void
}

/**
 * Shows the decision, or a button that opens the form; nothing for a canceled task. `children` are other actions to
 * show with that button.
 */
export const Decided = ({ item, task, reload, children }: Props & { readonly children?: ComponentChildren }) => {
  const [open, setOpen] = useState(false)
  if (task.status === "cancelled") return null
  const number = count(item.index + 1)
  if (item.decision !== null && !open) {
    const { at, by, choice, rationale } = item.decision
    return (
      <div class="notice">
        <div class="grow">
          <p>
            <bdi>{by}</bdi> decided for <strong>{letter(choice)}</strong>, <Time at={at} />. The votes are kept.
          </p>
          {rationale !== "" && <LongText text={rationale} label={`the decision on prompt ${number}`} lines={6} />}
        </div>
        <button
          type="button"
          class="button compact"
          aria-label={`Change decision on prompt ${number}`}
          onClick={() => setOpen(true)}
        >
          Change
        </button>
        <ActionButton
          class="compact"
          label={`Withdraw decision on prompt ${number}`}
          ask={() =>
            ask("DELETE /tasks/:task_id/items/:index/decision", {
              params: { task_id: task.task_id, index: item.index },
            })
          }
          said={`The votes decide prompt ${number} again.`}
          onDone={reload}
        >
          Withdraw decision
        </ActionButton>
      </div>
    )
  }
  if (!open) {
    return (
      <div class="row tight">
        <button
          type="button"
          class="button compact"
          aria-label={`Decide prompt ${number}`}
          onClick={() => setOpen(true)}
        >
          Decide
        </button>
        {children}
      </div>
    )
  }
  return <DecideForm item={item} task={task} reload={reload} onClose={() => setOpen(false)} />
}

/** A form in which a lead chooses the best completion in place of the votes. */
export const DecideForm = ({ item, task, reload, onClose }: Props & { readonly onClose: () => void }) => {
  const id = useId()
  const [choice, setChoice] = useState(item.decision?.choice)
  const [rationale, setRationale] = useState(item.decision?.rationale ?? "")
  const action = useAction()
  const say = useContext(Say)
  const choices = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    const inputs = choices.current?.querySelectorAll("input")
    inputs?.[choice ?? 0]?.focus()
  }, [])
  const number = count(item.index + 1)
  return (
    <form
      class="sunken stack tight"
      aria-label={`Decide prompt ${number}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (choice === undefined) return
        void action.run(
          () =>
            ask("PUT /tasks/:task_id/items/:index/decision", {
              params: { task_id: task.task_id, index: item.index },
              payload: { choice, rationale: rationale.trim() },
            }),
          () => {
            say(`Prompt ${number} is decided for ${letter(choice)}.`)
            onClose()
            reload()
          },
        )
      }}
    >
      <fieldset ref={choices} class="choices decide-choices">
        <legend>Best completion</legend>
        {item.completions.map((_, index) => (
          <label key={index}>
            <input type="radio" name={id} required checked={choice === index} onChange={() => setChoice(index)} />
            {letter(index)}
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for={`${id}-why`}>Why (optional)</label>
        <textarea
          class="input"
          id={`${id}-why`}
          rows={2}
          maxLength={maxLength.decision}
          value={rationale}
          onInput={(event) => setRationale(event.currentTarget.value)}
        />
      </div>
      <p class="muted small">
        Your choice becomes the result, with your name. The votes are kept. A client that has the result already is
        told.
      </p>
      <Problem words={action.problem} />
      <div class="row">
        <button type="submit" class="button primary" aria-disabled={action.busy}>
          Decide
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}

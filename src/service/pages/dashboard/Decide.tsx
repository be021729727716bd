/** A lead's decision on an item, and the form to decide. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { TaskItem, TaskSummary } from "../../pageApi/TasksApi.ts"
import { Button } from "../shared/Button.tsx"
import { ask } from "./client.ts"
import { count, letter } from "./format.ts"
import { Choices, Form, TextArea } from "./forms.tsx"
import { ActionButton, LongText, Time } from "./parts.tsx"

interface Props {
  readonly item: TaskItem
  readonly task: Pick<TaskSummary, "status" | "task_id">
}

export const Decided = ({ item, task, children }: Props & { readonly children?: ComponentChildren }) => {
  const [isOpen, setOpen] = useState(false)
  if (task.status === "cancelled") return null
  if (isOpen) return <DecideForm item={item} task={task} onClose={() => setOpen(false)} />
  const number = count(item.index + 1)
  const open = () => setOpen(true)
  if (item.decision === null) {
    return (
      <div class="row tight">
        <Button look="compact" text="Decide" label={`Decide prompt ${number}`} onClick={open} />
        {children}
      </div>
    )
  }
  const { at, by, choice, rationale } = item.decision
  return (
    <div class="notice">
      <div class="grow">
        <p>
          <bdi>{by}</bdi> decided for <strong>{letter(choice)}</strong>, <Time at={at} />. The votes are kept.
        </p>
        {rationale !== "" && <LongText text={rationale} label={`the decision on prompt ${number}`} lines={6} />}
      </div>
      <Button look="compact" text="Change" label={`Change decision on prompt ${number}`} onClick={open} />
      <ActionButton
        look="compact"
        text="Withdraw decision"
        label={`Withdraw decision on prompt ${number}`}
        ask={() =>
          ask("DELETE /tasks/:task_id/items/:index/decision", {
            params: { task_id: task.task_id, index: item.index },
            query: {},
          })
        }
        success={`The decision on prompt ${number} is withdrawn. The votes decide.`}
      />
    </div>
  )
}

const DecideForm = ({ item, task, onClose }: Props & { readonly onClose: () => void }) => {
  const { completions, decision, index } = item
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.querySelectorAll("input")[decision?.choice ?? 0]?.focus()
  }, [])
  const number = count(index + 1)
  return (
    <div ref={place}>
      <Form
        class="sunken stack tight"
        label={`Decide prompt ${number}`}
        submit="Decide"
        ask={({ number, text }) =>
          ask("PUT /tasks/:task_id/items/:index/decision", {
            params: { task_id: task.task_id, index },
            payload: { choice: number("choice"), rationale: text("rationale") },
          })
        }
        success={(_, values) => `Prompt ${number} is decided for ${letter(values.number("choice"))}.`}
        onClose={onClose}
      >
        <Choices
          class="decide-choices"
          legend="Best completion"
          name="choice"
          value={decision === null ? undefined : String(decision.choice)}
          options={completions.map((_, i) => [String(i), letter(i)])}
        />
        <TextArea name="rationale" label="Why (optional)" maxLength={maxLength.decision} value={decision?.rationale} />
        <p class="muted small">
          Your choice becomes the result, with your name. The votes are kept. A client that already has a result is
          notified.
        </p>
      </Form>
    </div>
  )
}

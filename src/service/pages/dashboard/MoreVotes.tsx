/** Requests more votes on prompts that already have their votes. */
import { maxVotes } from "../../pageApi/PageConstants.ts"
import type { TaskSummary } from "../../pageApi/TasksApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { NumberField } from "./forms.tsx"
import { ActionButton } from "./parts.tsx"

interface Props {
  readonly task: Pick<TaskSummary, "status" | "task_id" | "prompts">
  /** The index of the prompt to judge again. Undefined means all prompts of the task. */
  readonly index?: number
}

export const MoreVotes = ({ task, index }: Props) => {
  const isAll = index === undefined
  const ofPrompt = isAll ? "" : ` on prompt ${count(index + 1)}`
  return (
    <ConfirmButton
      look={isAll ? "" : "compact"}
      text={isAll && task.status === "completed" ? "Reopen" : "More votes"}
      label={isAll ? undefined : `More votes${ofPrompt}`}
      title={`More votes${ofPrompt}`}
      confirm="Ask for votes"
      ask={(values) =>
        ask("POST /tasks/:task_id/reopen", {
          params: { task_id: task.task_id },
          payload: { votes: values.number("votes"), prompts: isAll ? null : [index] },
        })
      }
      success={({ prompts }) => `${plural(prompts, "prompt")} ${prompts === 1 ? "is" : "are"} back in the queue.`}
    >
      <p>
        {isAll ? "Each prompt" : "The prompt"} goes to experts who have not judged it, and each additional vote is
        billable. An existing result stays available. When the votes have arrived, the service computes the result again
        and notifies the client.
      </p>
      <NumberField
        name="votes"
        label={isAll ? "Further votes per prompt" : "Further votes"}
        class="input number"
        min={1}
        max={maxVotes}
        value={1}
      />
      {isAll && <p class="muted small">Prompts that are decided or withdrawn are left out.</p>}
    </ConfirmButton>
  )
}

export const EnoughVotes = ({ taskId }: { readonly taskId: string }) => (
  <ActionButton
    ask={() => ask("DELETE /tasks/:task_id/reopen", { params: { task_id: taskId } })}
    text="Stop asking for votes"
    success="No more votes are requested. Experts can still finish the items that they are judging."
  />
)

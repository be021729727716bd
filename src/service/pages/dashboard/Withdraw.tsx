/** Withdraws a prompt, so that nobody judges it, or restores a withdrawn prompt. */
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { TaskItem } from "../../pageApi/TasksApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count } from "./format.ts"
import { TextArea } from "./forms.tsx"
import { ActionButton, LongText, Time } from "./parts.tsx"
import { For } from "./role.tsx"

interface Props {
  readonly item: TaskItem
  readonly taskId: string
}

export const Withdrawal = ({ item, taskId }: Props) => {
  if (item.withdrawal === null) return null
  const { at, by, reason } = item.withdrawal
  const number = count(item.index + 1)
  return (
    <div class="notice warn">
      <div class="grow">
        <p>
          <bdi>{by}</bdi> withdrew this prompt, <Time at={at} />. Experts are not asked to judge it, and its result has
          no judgment.
        </p>
        {reason !== "" && <LongText text={reason} label={`the reason for withdrawing prompt ${number}`} lines={6} />}
      </div>
      <For role="manager">
        <ActionButton
          look="compact"
          text="Restore"
          label={`Restore prompt ${number}`}
          ask={() =>
            ask("DELETE /tasks/:task_id/items/:index/withdrawal", { params: { task_id: taskId, index: item.index } })
          }
          success={`Prompt ${number} counts again.`}
        />
      </For>
    </div>
  )
}

export const Withdraw = ({ item, taskId }: Props) => {
  const number = count(item.index + 1)
  return (
    <ConfirmButton
      text="Withdraw"
      label={`Withdraw prompt ${number}`}
      title={`Withdraw prompt ${number}?`}
      confirm="Withdraw prompt"
      danger
      ask={(values) =>
        ask("PUT /tasks/:task_id/items/:index/withdrawal", {
          params: { task_id: taskId, index: item.index },
          payload: { reason: values.text("reason") },
        })
      }
      success={`Prompt ${number} is withdrawn.`}
    >
      <p>
        Experts will no longer be asked to judge the prompt, and its result will have no judgment. The task’s other
        prompts can be completed. Votes are kept, and you can restore the prompt.
      </p>
      <TextArea name="reason" label="Reason (optional)" maxLength={maxLength.reason} />
    </ConfirmButton>
  )
}

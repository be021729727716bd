/** Withdraws a prompt, which nobody is to judge, and asks for it again. */
import { useContext, useId, useState } from "preact/hooks"
import type { TaskItem } from "../../pageApi/DashboardApi.ts"
import { Confirm } from "./Confirm.tsx"
import * as client from "./deskClient.ts"
import { count } from "./format.ts"
import { Say } from "./hooks.ts"
import { ActionButton, LongText, Time } from "./parts.tsx"
import { For } from "./role.tsx"

interface Props {
  readonly item: TaskItem
  readonly taskId: string
  readonly reload: () => void
}

/** Who withdrew the prompt, and why. */
export const Withdrawal = ({ item, taskId, reload }: Props) => {
  if (item.withdrawal === null) return null
  const { at, by, reason } = item.withdrawal
  const number = count(item.index + 1)
  return (
    <div class="notice warn">
      <div class="grow">
        <p>
          <bdi>{by}</bdi> withdrew this prompt, <Time at={at} />. Nobody judges it, and its result says that there is no
          judgment.
        </p>
        {reason !== "" && <LongText text={reason} label={`the reason for withdrawing prompt ${number}`} lines={6} />}
      </div>
      <For role="manager">
        <ActionButton
          class="compact"
          label={`Restore prompt ${number}`}
          ask={() => client.restorePrompt(taskId, item.index)}
          said={`Prompt ${number} counts again.`}
          onDone={reload}
        >
          Restore
        </ActionButton>
      </For>
    </div>
  )
}

/** The button, and the dialog that asks why. */
export const Withdraw = ({ item, taskId, reload }: Props) => {
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState("")
  const say = useContext(Say)
  const id = useId()
  const number = count(item.index + 1)
  return (
    <>
      <button
        type="button"
        class="button compact"
        aria-label={`Withdraw prompt ${number}`}
        onClick={() => setAsking(true)}
      >
        Withdraw
      </button>
      {asking && (
        <Confirm
          title={`Withdraw prompt ${number}?`}
          confirm="Withdraw prompt"
          danger
          ask={() => client.withdrawPrompt(taskId, item.index, reason.trim())}
          onClose={() => setAsking(false)}
          onDone={() => {
            say(`Prompt ${number} is withdrawn.`)
            reload()
          }}
        >
          <p>
            Nobody judges it any more, and the client gets no judgment of it. The rest of the task can be completed.
            Votes are kept, and you can restore the prompt.
          </p>
          <div class="field">
            <label for={id}>Reason (optional)</label>
            <textarea
              class="input"
              id={id}
              rows={2}
              maxLength={1_000}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </div>
        </Confirm>
      )}
    </>
  )
}

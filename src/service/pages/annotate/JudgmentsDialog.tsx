/** A dialog that lists the expert's last judgments. The expert can correct a judgment while its task is open. */
import { useEffect, useState } from "preact/hooks"
import type { GivenJudgment } from "../../pageApi/AnnotateApi.ts"
import { type Answer, makeClient } from "../shared/api.ts"
import { Dialog } from "../shared/Dialog.tsx"
import { withoutData } from "../shared/images.ts"
import type { AnnotateRequests } from "./annotationState.ts"
import * as ranking from "./ranking.ts"

const { ask } = makeClient<AnnotateRequests>("/annotate/api")

interface Props {
  readonly onClose: () => void
  readonly onOpen: (itemId: number) => void
}

export const JudgmentsDialog = ({ onClose, onOpen }: Props) => {
  const [answer, setAnswer] = useState<Answer<ReadonlyArray<GivenJudgment>> | null>(null)
  useEffect(() => void ask("GET /judgments").then(setAnswer), [])
  const first = answer?.ok === true ? answer.value.find(({ is_open }) => is_open)?.item_id : undefined
  return (
    <Dialog title="Your last judgments" class="judgments" onClose={onClose}>
      {answer === null ? (
        <p class="muted late">Loading…</p>
      ) : !answer.ok ? (
        <p>{answer.problem.detail}</p>
      ) : answer.value.length === 0 ? (
        <p class="muted">You have not judged anything yet.</p>
      ) : (
        <>
          <p class="muted">
            Open a judgment to correct it. Closed judgments cannot be changed, because the task is completed or paused,
            or a manager has decided or withdrawn the item.
          </p>
          <ol class="plain-list">
            {answer.value.map(({ given_at, is_open, item_id, prompt, ranking: groups }) => (
              <li key={item_id}>
                <button
                  type="button"
                  class="bare given"
                  disabled={!is_open}
                  ref={item_id === first ? focus : null}
                  onClick={() => onOpen(item_id)}
                >
                  <span class="small muted numbers">{whenOf(given_at)}</span>
                  <span class="given-prompt" dir="auto">
                    {withoutData(prompt)}
                  </span>
                  <span class="numbers">
                    {groups.length > 1 ? "Ranked" : "Best:"} <strong>{choiceOf(groups)}</strong>
                    {!is_open && <span class="small muted"> · closed</span>}
                  </span>
                </button>
              </li>
            ))}
          </ol>
        </>
      )}
    </Dialog>
  )
}

const focus = (button: HTMLButtonElement | null) => button?.focus()

const choiceOf = (groups: GivenJudgment["ranking"]): string =>
  ranking.format(ranking.fromDraft(groups, Math.max(...groups.flat()) + 1))

export const whenOf = (millis: number): string => {
  const at = new Date(millis)
  const isToday = at.toDateString() === new Date().toDateString()
  return at.toLocaleString("en", { ...(isToday ? {} : { dateStyle: "medium" }), timeStyle: "short", hourCycle: "h23" })
}

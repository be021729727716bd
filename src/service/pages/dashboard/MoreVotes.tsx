/** Asks for more votes on the prompts of a task that have theirs already. */
import { useContext, useId, useState } from "preact/hooks"
import type { TaskSummary } from "../../pageApi/DashboardApi.ts"
import type { MaxVotes } from "../../pageApi/DeskApi.ts"
import { Confirm } from "./Confirm.tsx"
import * as client from "./deskClient.ts"
import { count, plural } from "./format.ts"
import { Say } from "./hooks.ts"
import { ActionButton } from "./parts.tsx"

/** As many as a task can ask for. The compiler compares it with the API's: pages import types only. */
const maxVotes: MaxVotes = 25

/** The button, and the dialog that asks how many. */
export const MoreVotes = ({
  task,
  index,
  reload,
}: {
  readonly task: Pick<TaskSummary, "status" | "task_id" | "prompts">
  /** Of the one prompt that is judged again; undefined: of all. */
  readonly index?: number
  readonly reload: () => void
}) => {
  const [asking, setAsking] = useState(false)
  const [votes, setVotes] = useState("1")
  const say = useContext(Say)
  const id = useId()
  const ofPrompt = index === undefined ? "" : ` on prompt ${count(index + 1)}`
  return (
    <>
      <button
        type="button"
        class={index === undefined ? "button" : "button compact"}
        aria-label={index === undefined ? undefined : `More votes${ofPrompt}`}
        onClick={() => setAsking(true)}
      >
        {index === undefined && task.status === "completed" ? "Reopen" : "More votes"}
      </button>
      {asking && (
        <Confirm
          title={`More votes${ofPrompt}`}
          confirm="Ask for votes"
          ask={() => client.reopen(task.task_id, Number(votes), index === undefined ? null : [index])}
          onClose={() => setAsking(false)}
          onDone={({ prompts }) => {
            say(`${plural(prompts, "prompt")} ${prompts === 1 ? "is" : "are"} with experts again.`)
            reload()
          }}
        >
          <p>
            Experts who have not judged {index === undefined ? "the prompts" : "the prompt"} are asked, and are paid for
            it. A result that is there stays available; when the votes are in, it is computed again, and the client is
            told.
          </p>
          <div class="field">
            <label for={id}>{index === undefined ? "Further votes per prompt" : "Further votes"}</label>
            <input
              class="input number"
              id={id}
              type="number"
              required
              min={1}
              max={maxVotes}
              value={votes}
              onInput={(event) => setVotes(event.currentTarget.value)}
            />
          </div>
          {index === undefined && <p class="muted small">Prompts that are decided or withdrawn are left out.</p>}
        </Confirm>
      )}
    </>
  )
}

/** Where more votes were asked for and some are missing: does without them. */
export const EnoughVotes = ({ taskId, reload }: { readonly taskId: string; readonly reload: () => void }) => (
  <ActionButton
    ask={() => client.endReopening(taskId)}
    said="No more votes are asked for than those that experts are giving now."
    onDone={reload}
  >
    Enough votes
  </ActionButton>
)

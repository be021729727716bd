/** A button that pauses or resumes a group of tasks, or a task without a group. Only managers and admins see it. */
import { ask } from "./client.ts"
import { ActionButton } from "./parts.tsx"
import { For } from "./role.tsx"

interface Props {
  readonly groupId: string
  readonly paused: boolean
  readonly look?: string
}

export const Pause = ({ groupId, paused, look = "" }: Props) => (
  <For role="manager">
    <ActionButton
      look={look}
      text={paused ? "Resume" : "Pause"}
      label={`${paused ? "Resume" : "Pause"} ${groupId}`}
      ask={() => ask("PUT /groups/:group_id/paused", { params: { group_id: groupId }, payload: { paused: !paused } })}
      success={
        paused
          ? `Experts get ${groupId} again.`
          : `${groupId} is paused. The items that people held are back in the queue, with their drafts.`
      }
    />
  </For>
)

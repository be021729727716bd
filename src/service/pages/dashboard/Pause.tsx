/** A button that pauses or resumes a group of tasks, or a task without a group. It is for managers. */
import { ask } from "./client.ts"
import { ActionButton } from "./parts.tsx"
import { For } from "./role.tsx"

export const Pause = ({
  groupId,
  paused,
  reload,
  compact = false,
}: {
  /** The group's id; for a task without a group, the task's own id. */
  readonly groupId: string
  readonly paused: boolean
  readonly reload: () => void
  readonly compact?: boolean
}) => (
  <For role="manager">
    <ActionButton
      class={compact ? "compact" : ""}
      label={`${paused ? "Go on with" : "Pause"} ${groupId}`}
      ask={() => ask("PUT /groups/:group_id/paused", { params: { group_id: groupId }, payload: { paused: !paused } })}
      said={
        paused
          ? `Experts get ${groupId} again.`
          : `${groupId} is paused. What people held of it is back in the queue, with their drafts.`
      }
      onDone={reload}
    >
      {paused ? "Go on" : "Pause"}
    </ActionButton>
  </For>
)

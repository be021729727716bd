/** Shows the number of open disagreements and the lead's decisions, after the last item of the queue. */
import type { ItemSummary } from "../../pageApi/ItemsApi.ts"
import { Button } from "../shared/Button.tsx"
import { count, excerpt, letter, plural } from "./format.ts"
import { useHeading } from "./hooks.ts"
import { href } from "./routes.ts"
import { Table } from "./Table.tsx"
import { useKeys } from "./useKeys.ts"

export interface AdjudicationOutcome {
  readonly item: ItemSummary
  /** The chosen completion. Null if the lead skipped the item. */
  readonly choice: number | null
}

interface EndProps {
  readonly open: number
  readonly outcomes: ReadonlyArray<AdjudicationOutcome>
  readonly onStartAgain: () => void
  readonly onUndo: () => void
}

export const AdjudicationEnd = ({ open, outcomes, onStartAgain, onUndo }: EndProps) => {
  const heading = useHeading()
  useKeys((key) => (key === "u" ? onUndo() : false))
  const decided = outcomes.filter(({ choice }) => choice !== null).length
  return (
    <section class="stack" aria-labelledby="end">
      <h2 id="end" tabIndex={-1} ref={heading}>
        {open === 0 ? "No disagreement is left." : `${plural(open, "disagreement")} still open`}
      </h2>
      <p>
        You decided {plural(decided, "item")} and skipped {count(outcomes.length - decided)}.
      </p>
      {open > 0 && (
        <div>
          <Button look="primary" text="Start again" onClick={onStartAgain} />
        </div>
      )}
      {outcomes.length > 0 && (
        <Table
          label="Decisions"
          rows={outcomes}
          keyOf={(outcome) => outcomes.indexOf(outcome)}
          columns={[
            {
              label: "Prompt",
              class: "anywhere prompt-start",
              cell: ({ item: { index, prompt, task_id } }) => (
                <a href={href("task", { id: task_id, prompt: index + 1 })}>{excerpt(prompt, 160)}</a>
              ),
            },
            { label: "Decided for", cell: ({ choice }) => (choice === null ? "skipped" : letter(choice)) },
          ]}
        />
      )}
    </section>
  )
}

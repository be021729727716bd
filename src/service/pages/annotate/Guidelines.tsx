/**
 * Shows the client organization's guidelines above an item, and a notice if the item is for a qualification. Guidelines
 * that the expert closed stay closed until their text changes.
 */
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { RichText } from "../shared/RichText.tsx"

export interface GuidelinesProps {
  readonly item: HeldItem
  readonly isOpen: boolean
  readonly onToggle: (open: boolean) => void
}

export const Guidelines = ({
  item: { guidelines, guidelines_version, qualification, task },
  isOpen,
  onToggle,
}: GuidelinesProps) => (
  <>
    {qualification && (
      <p class="notice plain">
        <span>
          {task.prompts === 1 ? "This item is" : `These ${task.prompts} items are`} your qualification. You get work
          afterwards if enough of your judgments are right. You can’t skip qualification items or take a judgment back.
        </span>
      </p>
    )}
    {guidelines !== null && guidelines.trim() !== "" && (
      <section class="card guidelines" aria-label="Guidelines">
        <h2>
          <button
            type="button"
            class="bare guidelines-head"
            aria-expanded={isOpen}
            title="Open or close (G)"
            onClick={() => onToggle(!isOpen)}
          >
            <span class="caret" aria-hidden="true" />
            Guidelines{guidelines_version > 1 && `, version ${guidelines_version}`}
          </button>
        </h2>
        {isOpen && (
          <div class="guidelines-text" tabIndex={0} role="group" aria-label="Text of the guidelines">
            <RichText text={guidelines} below={2} />
          </div>
        )}
      </section>
    )}
  </>
)

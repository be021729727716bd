/** The guidelines of the client organization. Once closed, they stay closed until they change. */
import { RichText } from "../shared/RichText.tsx"

export interface GuidelinesProps {
  readonly text: string
  readonly isOpen: boolean
  readonly onToggle: (open: boolean) => void
}

export const Guidelines = ({ text, isOpen, onToggle }: GuidelinesProps) => (
  <section class="card guidelines" aria-label="Guidelines">
    <h2>
      <button
        type="button"
        class="guidelines-head"
        aria-expanded={isOpen}
        title="Open or close (G)"
        onClick={() => onToggle(!isOpen)}
      >
        <span class="caret" aria-hidden="true" />
        Guidelines
      </button>
    </h2>
    {isOpen && (
      <div class="guidelines-text" tabIndex={0} role="group" aria-label="Text of the guidelines">
        <RichText text={text} below={2} />
      </div>
    )}
  </section>
)

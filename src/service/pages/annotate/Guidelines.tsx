/** Shows notices and guidelines. New guidelines are expanded until the expert hides them or the item changes. */
import { useEffect, useMemo, useState } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import { RichText } from "../shared/RichText.tsx"
import { whenOf } from "./JudgmentsDialog.tsx"
import { readPreference, writePreference } from "./preferences.ts"
import { titled } from "./keys.ts"

export interface GuidelinesProps {
  readonly item: HeldItem
  readonly isOpen: boolean
  readonly onToggle: (open: boolean) => void
  readonly onLeave: () => void
}

const maxRead = 50

/** Returns a hash of the guidelines. The device stores the hash and not the text. */
const digestOf = (text: string): string => {
  let hash = 0
  for (const character of text) hash = (Math.imul(hash, 31) + character.codePointAt(0)!) | 0
  return `${text.length}/${hash}`
}

export const useGuidelines = ({ guidelines, item_id }: HeldItem) => {
  const digest = useMemo(() => digestOf(guidelines ?? ""), [guidelines])
  // The guidelines are expanded on the item where the expert sees them first. The entry `DIGEST@ITEM` records this
  // item. DIGEST is a hash of the guidelines. After the expert has hidden the guidelines, ITEM is 0.
  const read = () => (readPreference("guidelines") ?? "").split(" ").filter((entry) => entry !== "")
  const write = (item: number) => {
    const others = read().filter((entry) => !entry.startsWith(`${digest}@`))
    writePreference("guidelines", [`${digest}@${item}`, ...others].slice(0, maxRead).join(" "))
  }
  const [isOpen, setOpen] = useState(() => {
    const entry = read().find((entry) => entry.startsWith(`${digest}@`))
    return entry === undefined || entry === `${digest}@${item_id}`
  })
  useEffect(() => void (isOpen && write(item_id)), [digest])
  const set = (open: boolean) => {
    setOpen(open)
    if (!open) write(0)
  }
  return [isOpen, set] as const
}

export const Guidelines = ({
  item: { corrects, guidelines, guidelines_version, qualification, task },
  isOpen,
  onToggle,
  onLeave,
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
    {corrects !== null && (
      <div class="notice plain">
        <span class="grow">
          You are correcting your judgment from {whenOf(corrects)}. Until you submit the correction, the earlier
          judgment counts.
        </span>
        <Button look="compact" text="Keep the earlier judgment" title="Esc" onClick={onLeave} />
      </div>
    )}
    {guidelines !== null && guidelines.trim() !== "" && (
      <section class="card guidelines" aria-label="Guidelines">
        <h2>
          <button
            type="button"
            class="bare guidelines-head"
            aria-expanded={isOpen}
            title={titled("Open or close", "guidelines")}
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

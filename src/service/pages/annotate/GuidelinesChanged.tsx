/** Tells the expert once, before the next item, that the guidelines have a new version, and shows the changes. */
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import { Changes } from "../shared/Changes.tsx"
import { RichText } from "../shared/RichText.tsx"

interface Props {
  readonly item: HeldItem
  readonly isBusy: boolean
  readonly onContinue: () => void
}

export const GuidelinesChanged = ({ item, isBusy, onContinue }: Props) => {
  const { guidelines, guidelines_change, guidelines_version } = item
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [guidelines_version])
  if (guidelines_change === null) return null
  const { before, from } = guidelines_change
  return (
    <main class="stack bench">
      <section class="card changed stack">
        <h1 tabIndex={-1} ref={heading}>
          Guidelines changed: version {guidelines_version}
        </h1>
        <p class="muted">Judge your next items by this version. Each item shows the guidelines.</p>
        <Changes
          before={{ name: `Version ${from}`, text: before }}
          after={{ name: `Version ${guidelines_version}`, text: guidelines ?? "" }}
        />
        <p>
          <Button look="primary" text="Continue with the next item" busy={isBusy} onClick={onContinue} />
        </p>
        {guidelines !== null && (
          <details>
            <summary>The new version in full</summary>
            <RichText text={guidelines} below={1} />
          </details>
        )}
      </section>
    </main>
  )
}

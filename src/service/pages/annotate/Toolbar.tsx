/** The toolbar above the completions: their number, display options, and buttons to skip or flag the item. */
import { Button } from "../shared/Button.tsx"
import { titled } from "./keys.ts"

export interface View {
  readonly name: string
  readonly key_: string
  readonly on: boolean
  readonly onClick: () => void
}

export interface ToolbarProps {
  readonly count: number
  readonly views: ReadonlyArray<View>
  readonly onSetAside: ((kind: "skip" | "flag") => void) | null
}

export const Toolbar = ({ count, views, onSetAside }: ToolbarProps) => (
  <div class="row section-head toolbar">
    <h2>
      {count} {count === 1 ? "completion" : "completions"}
    </h2>
    <div class="row tight" role="group" aria-label="View">
      {views.map(({ name, key_, on, onClick }) => (
        <Button
          key={name}
          look="plain compact"
          text={name}
          aria-pressed={on}
          title={`${name} (${key_})`}
          onClick={onClick}
        />
      ))}
    </div>
    {onSetAside !== null && (
      <div class="row tight">
        <Button look="plain compact" text="Skip…" title={titled("Skip", "skip")} onClick={() => onSetAside("skip")} />
        <Button look="plain compact" text="Flag…" title={titled("Flag", "flag")} onClick={() => onSetAside("flag")} />
      </div>
    )}
  </div>
)

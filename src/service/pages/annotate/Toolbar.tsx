/** Above the completions: how many there are, how they are shown, and ways to leave the item to others. */

export interface View {
  readonly name: string
  readonly key_: string
  readonly on: boolean
  readonly onClick: () => void
}

export interface ToolbarProps {
  readonly count: number
  readonly views: ReadonlyArray<View>
  /** Null where the item can't be left to others. */
  readonly onSetAside: ((kind: "skip" | "flag") => void) | null
}

export const Toolbar = ({ count, views, onSetAside }: ToolbarProps) => (
  <div class="row section-head toolbar">
    <h2>
      {count} {count === 1 ? "completion" : "completions"}
    </h2>
    <div class="row tight" role="group" aria-label="View">
      {views.map(({ name, key_, on, onClick }) => (
        <button
          key={name}
          type="button"
          class="button plain compact"
          aria-pressed={on}
          title={`${name} (${key_})`}
          onClick={onClick}
        >
          {name}
        </button>
      ))}
    </div>
    {onSetAside !== null && (
      <div class="row tight">
        <button type="button" class="button plain compact" title="Skip (S)" onClick={() => onSetAside("skip")}>
          Skip…
        </button>
        <button type="button" class="button plain compact" title="Flag (X)" onClick={() => onSetAside("flag")}>
          Flag…
        </button>
      </div>
    )}
  </div>
)

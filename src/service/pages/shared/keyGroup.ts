/** A group of keyboard shortcuts in `KeysDialog`. */
export interface KeyGroup {
  /** The group's heading. Empty if the page has only one group. */
  readonly title: string
  readonly keys: ReadonlyArray<readonly [keys: ReadonlyArray<string>, does: string]>
}

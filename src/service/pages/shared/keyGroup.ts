/** Keyboard shortcuts, as `KeysDialog` lists them. */
export interface KeyGroup {
  /** Empty if the page has only one group. */
  readonly title: string
  readonly keys: ReadonlyArray<readonly [keys: ReadonlyArray<string>, does: string]>
}

/** An expert's display preferences, in local storage, or only in the page if the browser denies access. */
import { useState } from "preact/hooks"
import { attempt } from "./localCopies.ts"

export type Preference =
  /** "best" or "rank": whether the expert chooses the best completion or ranks all. */
  | "mode"
  /** "on" shows texts as they were written, not rendered. */
  | "source"
  /** "on" shows long texts in full. */
  | "expand"
  /** The guidelines that the expert has seen, and whether they are open (see `Guidelines`). */
  | "guidelines"

const prefix = "prefstream.preference."

export const readPreference = (name: Preference): string | null =>
  attempt(() => localStorage.getItem(prefix + name), null)

export const writePreference = (name: Preference, value: string): void => {
  attempt(() => localStorage.setItem(prefix + name, value), undefined)
}

export const usePreference = (name: Preference): readonly [string | null, (value: string) => void] => {
  const [value, setValue] = useState(() => readPreference(name))
  return [
    value,
    (next) => {
      setValue(next)
      writePreference(name, next)
    },
  ]
}

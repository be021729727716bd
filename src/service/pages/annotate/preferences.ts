/** An expert's display preferences. They are in local storage, or only in the page if the browser denies access. */
import { useState } from "preact/hooks"
import { attempt } from "./localCopies.ts"

export type Preference =
  /** "best" if the expert chooses the best completion, "rank" if the expert ranks all completions. */
  | "mode"
  /** "on" shows the source of texts and does not render them. */
  | "source"
  /** "on" shows long texts in full. */
  | "expand"
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

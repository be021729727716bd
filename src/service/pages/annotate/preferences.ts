/** Display preferences of an expert, in local storage; if that is unavailable, until the page is closed. */
import { useState } from "preact/hooks"
import { attempt } from "./localCopies.ts"

export type Preference =
  /** Choose the best, or rank. */
  | "mode"
  /** "on": texts as they were written. */
  | "source"
  /** "on": long texts in full. */
  | "expand"
  /** The mark of the guidelines that were closed. */
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

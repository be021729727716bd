/** An expert's display preferences. They are in local storage, or only in the page if the browser denies access. */
import { useState } from "preact/hooks"
import { attempt } from "./localCopies.ts"

/** `source` and `expand` (show long texts in full) are "on" or empty. `mode` is "best" or "rank". */
export type Preference = "mode" | "source" | "expand" | "guidelines"

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

/** The annotation page's shortcuts. In a text field, only Escape and Ctrl+Enter work. Only arrow keys repeat. */
import type { KeyGroup } from "../shared/keyGroup.ts"

export type Action =
  | { readonly _tag: "digit"; readonly digit: number }
  | { readonly _tag: "move"; readonly step: 1 | -1 }
  | { readonly _tag: ActionName }

export interface Key {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly repeat: boolean
  readonly isComposing: boolean
}

/** The place of the focus. A `control` is a button or link. A `scroller` is an element that the arrow keys scroll. */
export type Where = "text" | "control" | "scroller" | "dialog" | "page"

const letters = {
  b: "raise",
  w: "lower",
  t: "tie",
  u: "undo",
  s: "skip",
  x: "flag",
  r: "mode",
  e: "rationale",
  f: "reader",
  d: "difference",
  c: "base",
  g: "guidelines",
  v: "source",
  m: "expand",
  "+": "stronger",
  "=": "stronger",
  "-": "weaker",
  n: "allBad",
  a: "rate",
  k: "marks",
  i: "improve",
  j: "judgments",
  "?": "keys",
} as const

type LetterAction = (typeof letters)[keyof typeof letters]
export type ActionName = LetterAction | "pick" | "clear" | "submit" | "leave"

export const titled = (text: string, action: LetterAction): string => {
  const letter = Object.entries(letters).find(([, name]) => name === action)![0]
  return `${text} (${letter.toUpperCase()})`
}

const letterActions = new Map<string, ActionName>(Object.entries(letters))

export const actionOf = (key: Key, where: Where): Action | null => {
  if (key.isComposing || where === "dialog") return null
  if (key.key === "Enter" && (key.ctrlKey || key.metaKey) && !key.altKey) return once(key, "submit")
  if (key.ctrlKey || key.metaKey || key.altKey) return null
  if (where === "text") return key.key === "Escape" ? once(key, "leave") : null
  if (where === "scroller" && key.key.startsWith("Arrow")) return null
  switch (key.key) {
    case "ArrowRight":
      return { _tag: "move", step: 1 }
    case "ArrowLeft":
      return { _tag: "move", step: -1 }
    case "Enter":
      return where === "control" ? null : once(key, "submit")
    case " ":
      return where === "control" ? null : once(key, "pick")
    case "0":
    case "Backspace":
    case "Delete":
      return once(key, "clear")
    case "Escape":
      return once(key, "leave")
  }
  if (/^[1-9]$/.test(key.key)) return key.repeat ? null : { _tag: "digit", digit: Number(key.key) }
  const name = letterActions.get(key.key.toLowerCase())
  return name === undefined ? null : once(key, name)
}

const once = (key: Key, name: ActionName): Action | null => (key.repeat ? null : { _tag: name })

export const help: ReadonlyArray<KeyGroup> = [
  {
    title: "Judge",
    keys: [
      [["1", "–", "9"], "Choose completion 1 to 9 as the best"],
      [["Space"], "Choose the marked completion as the best; ← and → mark a completion"],
      [["0"], "Clear the choice"],
      [["E"], "Write the rationale; Esc leaves the field"],
      [["Enter"], "Submit (Ctrl Enter while writing)"],
      [["U"], "Take back the last judgment"],
      [["J"], "Show your last judgments, and correct one"],
      [["S"], "Skip the item, and give a reason"],
      [["X"], "Flag a problem to the operator"],
    ],
  },
  {
    title: "Rank",
    keys: [
      [["R"], "Switch between ranking all and choosing the best"],
      [["1", "–", "9"], "Give the marked completion rank 1 to 9; the same key removes the rank; equal ranks are a tie"],
      [["Space"], "Give the marked completion the next rank, or remove its rank if it has one"],
      [["B"], "Move the marked completion one step up"],
      [["W"], "Move the marked completion one step down"],
      [["T"], "Tie the marked completion with the completion ranked just above it"],
      [["0"], "Remove the rank of the marked completion"],
    ],
  },
  {
    title: "Additional questions, if the task has any",
    keys: [
      [["+", "-"], "Raise or lower the preference strength: how much better the best completion is"],
      [["N"], "Mark that not even the best completion is good enough"],
      [
        ["A"],
        "Rate completions: 1 to 9 set a rating and go to the next, arrow keys move, 0 clears a rating, Esc ends rating",
      ],
      [["K"], "Mark the problems that apply: 1 to 9 mark a problem, Esc ends marking"],
      [["I"], "Edit the best completion; Esc ends editing"],
    ],
  },
  {
    title: "Read",
    keys: [
      [["←", "→"], "Mark the previous or next completion"],
      [["F"], "Read in full screen; ← and → switch between completions"],
      [["D"], "Show differences; C selects another completion to compare with"],
      [["V"], "Switch between rendered texts and their source"],
      [["M"], "Show long texts in full, or shorten them"],
      [["G"], "Open or close the guidelines"],
      [["?"], "Show this list"],
    ],
  },
]

/** Warns of rows in which trainers or common chat templates silently cut off parts of completions. */
import type { Json, JsonRow } from "../file/Features.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import type { Problem } from "./TrainerFormat.ts"

/** TRL's `extract_prompt` (1.10) moves the completions' shared beginning to the prompt, except a final space. */
const extractedPromptEnd = (chosen: string, rejected: string): number => {
  const length = Math.min(chosen.length, rejected.length)
  for (let i = 0; i < length; i++) {
    if (chosen[i] !== rejected[i]) return chosen[i - 1] === " " ? i - 1 : i
  }
  return Math.max(length - 1, 0)
}

export const commonBeginnings =
  (endOf: (shared: string) => number) =>
  ({ chosen, rejected }: JsonRow): ReadonlyArray<Problem> => {
    if (typeof chosen !== "string" || typeof rejected !== "string") return []
    const cut = extractedPromptEnd(chosen, rejected)
    const end = endOf(chosen.slice(0, cut))
    if (end >= cut) return []
    return [
      {
        field: "chosen",
        expected:
          "completions that differ in their first character (TRL's DPO and KTO trainers move a shared beginning to the prompt)",
        found: `completions that begin with the same text: TRL would shorten ${describeValue(chosen.slice(end))} to ${describeValue(chosen.slice(cut))}`,
      },
    ]
  }

const assistants = ["assistant", "gpt"]

export const thoughts = (row: JsonRow): ReadonlyArray<Problem> =>
  Object.entries(row).flatMap(([column, value]) => thoughtsIn(value, column, false))

const thoughtsIn = (value: Json, field: string, isAnswer: boolean): ReadonlyArray<Problem> => {
  if (typeof value === "string") {
    return isAnswer && value.includes("</think>")
      ? [
          {
            field,
            expected: "an answer without </think> (many chat templates remove all text up to </think>)",
            found: describeValue(value),
          },
        ]
      : []
  }
  if (Array.isArray(value)) return value.flatMap((part: Json, i) => thoughtsIn(part, `${field}[${i}]`, isAnswer))
  if (!isObject(value)) return []
  const speaker = value["role"] ?? value["from"]
  return Object.entries(value).flatMap(([name, member]) =>
    thoughtsIn(
      member,
      `${field}.${name}`,
      (name === "content" || name === "value") && typeof speaker === "string" && assistants.includes(speaker),
    ),
  )
}

export const thoughtsInSides = ({ chosen, rejected }: JsonRow): ReadonlyArray<Problem> => [
  ...thoughtsIn(chosen ?? null, "chosen", true),
  ...thoughtsIn(rejected ?? null, "rejected", true),
]

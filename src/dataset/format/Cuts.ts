/**
 * What trainers and chat templates cut out of completions, though they do not fail: warnings about rows.
 *
 * Not found: cuts that depend on the model's chat template in other ways.
 */
import type { Json, JsonRow } from "../file/Features.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import type { Problem } from "./TrainerFormat.ts"

/**
 * Where TRL ends a prompt that both sides contain: before their first difference, less a space (`extract_prompt` in
 * trl/data_utils.py of 1.10). Its DPO and KTO trainers do so, its reward trainer does not.
 */
const extractedPromptEnd = (chosen: string, rejected: string): number => {
  const length = Math.min(chosen.length, rejected.length)
  for (let i = 0; i < length; i++) {
    if (chosen[i] !== rejected[i]) return chosen[i - 1] === " " ? i - 1 : i
  }
  return Math.max(length - 1, 0)
}

/** @param endOf where the prompt ends at the latest, given what both sides begin with */
export const beginAlike =
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
          "completions that differ from their first character on, where TRL's DPO and KTO trainers end the prompt",
        found: `both beginning alike: ${describeValue(chosen.slice(end))} is cut to ${describeValue(chosen.slice(cut))}`,
      },
    ]
  }

const assistants = ["assistant", "gpt"]

/**
 * Thoughts in answers. Of a completion, DeepSeek's template keeps what follows `</think>`; of earlier answers, those of
 * Qwen 3, GLM 4.5, Nemotron 3, and LLaMA-Factory's do so, too.
 */
export const thoughts = (row: JsonRow): ReadonlyArray<Problem> =>
  Object.entries(row).flatMap(([column, value]) => thoughtsIn(value, column, false))

const thoughtsIn = (value: Json, field: string, isAnswer: boolean): ReadonlyArray<Problem> => {
  if (typeof value === "string") {
    return isAnswer && value.includes("</think>")
      ? [
          {
            field,
            expected: "no </think> in an answer, of which many chat templates remove the thought",
            found: describeValue(value),
          },
        ]
      : []
  }
  if (Array.isArray(value)) return value.flatMap((part: Json, i) => thoughtsIn(part, `${field}[${i}]`, isAnswer))
  if (!isObject(value)) return []
  // A message, or an object that has messages.
  const speaker = value["role"] ?? value["from"]
  return Object.entries(value).flatMap(([name, member]) =>
    thoughtsIn(
      member,
      `${field}.${name}`,
      (name === "content" || name === "value") && typeof speaker === "string" && assistants.includes(speaker),
    ),
  )
}

/** The same for the sides of a pair as text, to which a template is applied. */
export const thoughtsInSides = ({ chosen, rejected }: JsonRow): ReadonlyArray<Problem> => [
  ...thoughtsIn(chosen ?? null, "chosen", true),
  ...thoughtsIn(rejected ?? null, "rejected", true),
]

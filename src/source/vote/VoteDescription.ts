/** Describes how votes are read, for messages. */
import { joinWords } from "../../io/Values.ts"
import type * as Field from "../record/Field.ts"
import type * as Choice from "./Choice.ts"
import type { VoteFields } from "./VoteFields.ts"

const readingNames: { readonly [kind in Choice.ChoiceKind]: string } = {
  index: "numbers from 0",
  number: "numbers from 1, with 0 for a tie",
  scale: "a number: below 0 for the first completion, above 0 for the second, 0 for a tie",
  text: "the completion's text",
  name: "by name",
  scores: "scores, the highest is the best",
  ranks: "ranks, the lowest is the best",
  "one-hot": "the completion with 1",
}

export const describe = (
  { choices, expert, isPerCompletion, list, rationale, strength }: VoteFields,
  { kind, map }: Choice.Reading,
  isFromNumbers: boolean,
) => {
  const at = (part: string, ...fields: ReadonlyArray<Field.Field | undefined>) => {
    const names = fields.flatMap((field) => (field === undefined ? [] : `"${field.label}"`))
    return names.length === 0 ? [] : [`${part} at ${joinWords(names)}`]
  }
  return [
    ...at("votes", list),
    ...at(choices.length > 1 && !isPerCompletion ? `choices of ${choices.length} experts` : "choice", ...choices),
    ...(kind === undefined ? [] : [`(${isFromNumbers ? "numbers from 1" : readingNames[kind]})`]),
    ...(map === undefined ? [] : [`(${map.text})`]),
    ...at("expert", expert),
    ...at("rationale", rationale),
    ...at("strength", strength),
  ]
    .filter((part) => part !== "")
    .join(", ")
    .replaceAll(", (", " (")
}

/**
 * Columns that hold a completion each, known by their names: `response_a` and `response_b`, `output_1`
 * and `output_2`, `answer_gpt-4` and `answer_llama`.
 */
import type { Member, Profile } from "./Sample.ts"
import { has, plain } from "./Sample.ts"

const stems =
  "response|output|completion|answer|generation|candidate|assistant|conversation|reply|summary|human_ref|model".split(
    "|",
  )

/** Ends of columns that tell of a completion without being one. */
const tellingEnds =
  /^(?:models?|model_(?:name|id)|ids?|names?|len|length|tokens?|num_tokens|token_count|lang|language|scores?|ratings?|ranks?|types?|sources?|time|date|timestamp|format|roles?|labels?|counts?|urls?|hash|metadata|meta|prompt|keys?|index|status|finish_reason|category|text_length|preference|winner|annotator|annotations?)$/

/** Groups of two columns or more, in the order of their stems. */
export const find = ({ members }: Profile): ReadonlyArray<ReadonlyArray<Member>> => {
  const columns = members.filter(
    (member) => member.values.length > 0 && has(member, ["text", "message", "messages", "texts"]),
  )
  const grouped = stems.map((stem) => [stem, columnsOf(columns, stem)] as const).filter(([, group]) => group.length > 1)
  // Beside others, the columns of the models are their names.
  const groups = grouped.length > 1 ? grouped.filter(([stem]) => stem !== "model") : grouped
  return groups.map(([, group]) => group)
}

const columnsOf = (columns: ReadonlyArray<Member>, stem: string): ReadonlyArray<Member> => {
  const lettered = new RegExp(`^${stem}(?:_?(?:[a-h]|\\d+)|_[a-z])$`)
  const strict = columns.filter(({ plainName }) => lettered.test(plainName))
  if (strict.length > 1) return strict
  // With a column of the stem itself, the others tell of it.
  if (stem === "model" || columns.some(({ plainName }) => plainName === stem)) return []
  return columns.filter(
    ({ plainName }) => plainName.startsWith(`${stem}_`) && !tellingEnds.test(plainName.slice(stem.length + 1)),
  )
}

/**
 * For each of the columns the one that names its model: `model_a` beside `response_a`, `chosen_model` beside `chosen`.
 * None where one of them has none.
 */
export const modelColumns = (
  { members }: Profile,
  columns: ReadonlyArray<string>,
): ReadonlyArray<string> | undefined => {
  const named = columns.map((column) => {
    const name = plain(column)
    const end = name.replace(/^(?:human_ref|[a-z]+?)_?(?=[a-z]$|\d+$)|^[a-z]+_/, "")
    const wanted = [
      ...["model", "models", "model_name", "model_id", "generator", "llm"].flatMap((word) => [
        `${word}_${end}`,
        word + end,
      ]),
      ...["model", "model_name", "model_id"].map((word) => `${name}_${word}`),
      `${end}_model`,
    ]
    return members.find(
      (member) => wanted.includes(member.plainName) && member.name !== column && has(member, ["text"]),
    )?.name
  })
  const found = named.filter((name) => name !== undefined)
  return found.length === columns.length && new Set(found).size === found.length ? found : undefined
}

/**
 * Finds the completions by names and shapes, and thereby the layout. Several candidates are a failure that names them.
 *
 * Guarantees: columns that are counted (`response_a`, `output_2`, `answer_left`) are in the order of their letters, numbers or
 * sides, whatever the order of a record's members; others are in the order of the members.
 */
import { Result } from "effect"
import { isObject, joinWords } from "../../io/Values.ts"
import { flags, type LayoutName } from "../layout/Layout.ts"
import { isConversation } from "../layout/SharedPrompt.ts"
import * as KnownNames from "../record/KnownNames.ts"
import * as Sample from "./Sample.ts"

/** Completions that were found, as the options of a layout have them. */
export type CompletionsFound = { readonly members: ReadonlyArray<Sample.Member> } & (
  | { readonly layout: "items"; readonly completions: string; readonly model?: string }
  | { readonly layout: "wide" | "pairs"; readonly completions: ReadonlyArray<string> }
  /** Without `completion` it is the last message of the member. */
  | { readonly layout: "long"; readonly completion: string | undefined }
)

const said: ReadonlyArray<Sample.Kind> = ["text", "message", "messages"]

/** @param layout where only this one will do */
export const completions = (
  sample: Sample.Sample,
  layout: LayoutName | undefined,
): Result.Result<CompletionsFound | undefined, string> => {
  const isWanted = ({ layout: found }: CompletionsFound) => layout === undefined || layout === found
  const several = [...pairs(sample), ...wide(sample), ...items(sample)].filter(isWanted)
  const found = several.length > 0 ? several : long(sample).filter(isWanted)
  if (found.length < 2) return Result.succeed(found[0])
  const isSameLayout = found.every(({ layout }) => layout === found[0]!.layout)
  const places = found.map(
    ({ layout, members }) =>
      `${joinWords(members.map(({ name }) => JSON.stringify(name)))}${isSameLayout ? "" : ` (layout ${layout})`}`,
  )
  const one =
    found[0]!.layout === "long"
      ? `${flags.completion} to one of them, or once for each if a record has both`
      : found[0]!.layout === "items"
        ? flags.completions
        : flags.completion
  const set = isSameLayout ? one : `${flags.layout}, ${flags.completions} or ${flags.completion}`
  return Result.fail(`the completions may be at ${places.join(", or at ")}: set ${set}`)
}

const pathsOf = (members: ReadonlyArray<Sample.Member>) => members.map(({ path }) => path)

const pairs = (sample: Sample.Sample): ReadonlyArray<CompletionsFound> =>
  KnownNames.completionPairs.flatMap((names) => {
    const members = names.flatMap((name) => Sample.find(sample, [name], said) ?? [])
    return members.length === 2 ? [{ layout: "pairs", members, completions: pathsOf(members) }] : []
  })

/** Why `chosen` and `rejected` are no pair, if they are there: one has lists and the other text. */
export const unequalSides = ({ members }: Sample.Sample): string | undefined => {
  const sides = members.filter(({ plainName }) => KnownNames.completionPairs.some((names) => names.includes(plainName)))
  const lists = sides.filter(({ values }) => values.length > 0 && values.every(Array.isArray))
  const texts = sides.filter(({ values }) => values.length > 0 && values.every((value) => typeof value === "string"))
  return lists.length === 1 && texts.length === 1
    ? `"${lists[0]!.name}" has lists and "${texts[0]!.name}" has text: write both sides in the same way`
    : undefined
}

/** Groups of two columns or more whose names begin alike, in the order of their stems. */
const wide = ({ members }: Sample.Sample): ReadonlyArray<CompletionsFound> => {
  const columns = members.filter((member) => member.values.length > 0 && Sample.has(member, [...said, "texts"]))
  const grouped = KnownNames.completionStems
    .map((stem) => [stem, columnsOf(columns, stem)] as const)
    .filter(([, group]) => group.length > 1)
  // With other columns, those of the models are their names.
  const texts = grouped.filter(([stem]) => !KnownNames.namingStems.has(stem))
  const compared = KnownNames.comparedColumns.map((names) =>
    columns.filter(({ plainName }) => names.includes(plainName)),
  )
  if (grouped.length === 0 && compared.every(({ length }) => length === 1)) {
    const members = compared.flat()
    return [{ layout: "wide", members, completions: pathsOf(members) }]
  }
  return (texts.length === 0 ? grouped : texts)
    .map(([stem, members]) => inOrder(members, stem))
    .map((members) => ({ layout: "wide", members, completions: pathsOf(members) }))
}

const sides = ["left", "right"]

/** By the letters, numbers or sides at their ends, if that is all that tells the names apart. */
const inOrder = (columns: ReadonlyArray<Sample.Member>, stem: string): ReadonlyArray<Sample.Member> => {
  const counted = columns.map((column) => {
    const [, before = "", end = ""] = /^(.*?)_?([a-z]|\d+|left|right)$/.exec(column.plainName.slice(stem.length)) ?? []
    const at = /^\d+$/.test(end) ? Number(end) : end.length === 1 ? end.charCodeAt(0) : sides.indexOf(end)
    const kind = /^\d+$/.test(end) ? "number" : end.length === 1 ? "letter" : end === "" ? "none" : "side"
    return { column, at, family: JSON.stringify([before, kind]), kind }
  })
  const isFamily = counted.every(({ family, kind }) => kind !== "none" && family === counted[0]!.family)
  return isFamily ? counted.toSorted((one, other) => one.at - other.at).map(({ column }) => column) : columns
}

const columnsOf = (columns: ReadonlyArray<Sample.Member>, stem: string): ReadonlyArray<Sample.Member> => {
  const lettered = new RegExp(`^${stem}(?:_?(?:[a-h]|\\d+)|_[a-z])$`)
  const strict = columns.filter(({ plainName }) => lettered.test(plainName))
  if (strict.length > 1) return strict
  // With a column of the stem itself, the others say something about it.
  if (KnownNames.namingStems.has(stem) || columns.some(({ plainName }) => plainName === stem)) return []
  return columns.filter(
    ({ plainName }) =>
      plainName.startsWith(`${stem}_`) && !KnownNames.aboutCompletions.has(plainName.slice(stem.length + 1)),
  )
}

/**
 * For each of the columns the one that names its model: `model_a` of `response_a`, `chosen_model` of `chosen`.
 * None where one of them has none.
 */
export const modelColumns = (
  { members }: Sample.Sample,
  columns: ReadonlyArray<string>,
): ReadonlyArray<string> | undefined => {
  const named = Map.groupBy(members, ({ plainName }) => plainName)
  const found = columns.flatMap((column) => {
    const name = Sample.plain(column)
    const end = name.replace(/^(?:human_ref|[a-z]+?)_?(?=[a-z]$|\d+$)|^[a-z]+_/, "")
    const wanted = [
      ...KnownNames.modelColumnStems.flatMap((word) => [`${word}_${end}`, word + end]),
      ...["model", "model_name", "model_id"].map((word) => `${name}_${word}`),
      `${end}_model`,
    ]
    const candidates = wanted.flatMap((word) => named.get(word) ?? [])
    return candidates.find((member) => member.name !== column && Sample.has(member, ["text"]))?.path ?? []
  })
  return new Set(found).size === columns.length ? found : undefined
}

const items = ({ members }: Sample.Sample): ReadonlyArray<CompletionsFound> =>
  Sample.findAll(members, KnownNames.completionLists, ["texts", "objects", "messages", "other"]).flatMap(elements)

/** A list whose elements are texts, messages or lists of messages; or objects with such a member. */
export const elements = (member: Sample.Member): ReadonlyArray<CompletionsFound & { readonly layout: "items" }> => {
  const all = member.values.flatMap((value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []))
  const { path } = member
  const found = { layout: "items", members: [member] } as const
  if (all.some((element) => said.includes(Sample.kindOf(element)))) return [{ ...found, completions: path }]
  const objects = all.filter(isObject)
  const text = KnownNames.elementTexts.find((name) => isMostly(objects, name, said))
  if (text === undefined) return []
  const model = KnownNames.elementModels.find((name) => isMostly(objects, name, ["text"]))
  const completions = `${path}[].${text}`
  return [{ ...found, completions, ...(model === undefined ? undefined : { model: `${path}[].${model}` }) }]
}

const isMostly = (
  objects: ReadonlyArray<Sample.SampleRecord>,
  name: string,
  kinds: ReadonlyArray<Sample.Kind>,
): boolean =>
  objects.filter((object) => kinds.includes(Sample.kindOf(Sample.valueAt(object, name)))).length * 2 > objects.length

const long = ({ members }: Sample.Sample): ReadonlyArray<CompletionsFound> => {
  const usual = Sample.findAll(members, KnownNames.completionTexts, said)
  const texts = usual.length > 0 ? usual : Sample.findAll(members, KnownNames.otherCompletionTexts, said)
  if (texts.length > 0) return texts.map((member) => ({ layout: "long", members: [member], completion: member.path }))
  return Sample.findAll(members, ["messages", "conversations", "conversation"], ["messages"])
    .filter(({ values }) => values.filter(isConversation).length * 2 > values.length)
    .slice(0, 1)
    .map((member) => ({ layout: "long", members: [member], completion: undefined }))
}

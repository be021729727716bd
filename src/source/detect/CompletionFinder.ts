/** Finds the completions, which determine the layout. If there are several candidates, the failure names them. */
import { Result } from "effect"
import * as OptionText from "../../io/OptionText.ts"
import { isObject, joinWords, memberOf, type Members } from "../../io/Values.ts"
import type { LayoutName } from "../layout/Layout.ts"
import { isConversation } from "../layout/SharedPrompt.ts"
import * as KnownNames from "../record/KnownNames.ts"
import * as Sample from "./Sample.ts"

export type DetectedCompletions = { readonly members: ReadonlyArray<Sample.Member> } & (
  | { readonly layout: "items"; readonly completions: string; readonly model?: string }
  | { readonly layout: "wide" | "pairs"; readonly completions: ReadonlyArray<string> }
  | { readonly layout: "long"; readonly completion: string | undefined }
)

export const eachCompletion = OptionText.set({ completions: ["…", "…"] })

const completionKinds: ReadonlyArray<Sample.Kind> = ["text", "message", "messages"]

export const completions = (
  sample: Sample.Sample,
  layout: LayoutName | undefined,
): Result.Result<DetectedCompletions | undefined, string> => {
  const hasLayout = ({ layout: candidate }: DetectedCompletions) => layout === undefined || layout === candidate
  const complete = [...pairs(sample), ...wide(sample), ...items(sample)].filter(hasLayout)
  const candidates = complete.length > 0 ? complete : long(sample).filter(hasLayout)
  if (candidates.length < 2) return Result.succeed(candidates[0])
  const isSameLayout = candidates.every(({ layout }) => layout === candidates[0]!.layout)
  const places = candidates.map(
    ({ layout, members }) =>
      `${joinWords(members.map(({ name }) => JSON.stringify(name)))}${isSameLayout ? "" : ` (layout ${layout})`}`,
  )
  const option =
    candidates[0]!.layout === "long"
      ? `${OptionText.of("completion")} to the right field; if each record has several completions, name all their fields with ${eachCompletion}`
      : candidates[0]!.layout === "items"
        ? OptionText.of("completions")
        : eachCompletion
  const advice = isSameLayout
    ? option
    : `${OptionText.of("layout")}, ${OptionText.of("completions")}, or ${OptionText.of("completion")}`
  return Result.fail(`several fields might contain the completions: ${places.join(", or ")}; to choose, set ${advice}`)
}

const pathsOf = (members: ReadonlyArray<Sample.Member>) => members.map(({ path }) => path)

const pairs = (sample: Sample.Sample): ReadonlyArray<DetectedCompletions> =>
  KnownNames.completionPairs.flatMap((names) => {
    const members = names.flatMap((name) => Sample.find(sample, [name], completionKinds) ?? [])
    return members.length === 2 ? [{ layout: "pairs", members, completions: pathsOf(members) }] : []
  })

export const unequalSides = ({ members }: Sample.Sample): string | undefined => {
  const sides = members.filter(({ plainName }) => KnownNames.completionPairs.some((names) => names.includes(plainName)))
  const lists = sides.filter(({ values }) => values.length > 0 && values.every(Array.isArray))
  const texts = sides.filter(({ values }) => values.length > 0 && values.every((value) => typeof value === "string"))
  return lists.length === 1 && texts.length === 1
    ? `"${lists[0]!.name}" has lists and "${texts[0]!.name}" has text: write both sides in the same way`
    : undefined
}

const wide = ({ members }: Sample.Sample): ReadonlyArray<DetectedCompletions> => {
  const columns = members.filter(
    (member) => member.values.length > 0 && Sample.has(member, [...completionKinds, "texts"]),
  )
  const grouped = KnownNames.completionStems
    .map((stem) => [stem, columnsOf(columns, stem)] as const)
    .filter(([, group]) => group.length > 1)
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

const inOrder = (columns: ReadonlyArray<Sample.Member>, stem: string): ReadonlyArray<Sample.Member> => {
  const counted = columns.map((column) => {
    const [, before = "", end = ""] = /^(.*?)_?([a-z]|\d+|left|right)$/.exec(column.plainName.slice(stem.length)) ?? []
    const at = /^\d+$/.test(end) ? Number(end) : end.length === 1 ? end.charCodeAt(0) : sides.indexOf(end)
    const kind = /^\d+$/.test(end) ? "number" : end.length === 1 ? "letter" : end === "" ? "none" : "side"
    return { column, at, family: JSON.stringify([before, kind]), kind }
  })
  const isFamily = counted.every(({ family, kind }) => kind !== "none" && family === counted[0]!.family)
  return isFamily ? counted.toSorted((a, b) => a.at - b.at).map(({ column }) => column) : columns
}

const columnsOf = (columns: ReadonlyArray<Sample.Member>, stem: string): ReadonlyArray<Sample.Member> => {
  const lettered = new RegExp(`^${stem}(?:_?(?:[a-h]|\\d+)|_[a-z])$`)
  const strict = columns.filter(({ plainName }) => lettered.test(plainName))
  if (strict.length > 1) return strict
  if (KnownNames.namingStems.has(stem) || columns.some(({ plainName }) => plainName === stem)) return []
  return columns.filter(
    ({ plainName }) =>
      plainName.startsWith(`${stem}_`) && !KnownNames.aboutCompletions.has(plainName.slice(stem.length + 1)),
  )
}

export const modelColumns = (
  { members }: Sample.Sample,
  columns: ReadonlyArray<string>,
): ReadonlyArray<string> | undefined => {
  const membersByName = Map.groupBy(members, ({ plainName }) => plainName)
  const modelPaths = columns.flatMap((column) => {
    const name = Sample.plain(column)
    const end = name.replace(/^(?:human_ref|[a-z]+?)_?(?=[a-z]$|\d+$)|^[a-z]+_/, "")
    const modelNames = [
      ...KnownNames.modelColumnStems.flatMap((word) => [`${word}_${end}`, word + end]),
      ...["model", "model_name", "model_id"].map((word) => `${name}_${word}`),
      `${end}_model`,
    ]
    const candidates = modelNames.flatMap((word) => membersByName.get(word) ?? [])
    return candidates.find((member) => member.name !== column && Sample.has(member, ["text"]))?.path ?? []
  })
  return new Set(modelPaths).size === columns.length ? modelPaths : undefined
}

const items = ({ members }: Sample.Sample): ReadonlyArray<DetectedCompletions> =>
  Sample.findAll(members, KnownNames.completionLists, ["texts", "objects", "messages", "other"]).flatMap(elements)

export const elements = (member: Sample.Member): ReadonlyArray<DetectedCompletions & { readonly layout: "items" }> => {
  const all = member.values.flatMap((value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []))
  const { path } = member
  const detection = { layout: "items", members: [member] } as const
  if (all.some((element) => completionKinds.includes(Sample.kindOf(element))))
    return [{ ...detection, completions: path }]
  const objects = all.filter(isObject)
  const text = KnownNames.elementTexts.find((name) => isMostly(objects, name, completionKinds))
  if (text === undefined) return []
  const model = KnownNames.elementModels.find((name) => isMostly(objects, name, ["text"]))
  const completions = `${path}[].${text}`
  return [{ ...detection, completions, ...(model === undefined ? undefined : { model: `${path}[].${model}` }) }]
}

const isMostly = (objects: ReadonlyArray<Members>, name: string, kinds: ReadonlyArray<Sample.Kind>): boolean =>
  objects.filter((object) => kinds.includes(Sample.kindOf(memberOf(object, name)))).length * 2 > objects.length

const long = ({ members }: Sample.Sample): ReadonlyArray<DetectedCompletions> => {
  const usual = Sample.findAll(members, KnownNames.completionTexts, completionKinds)
  const texts = usual.length > 0 ? usual : Sample.findAll(members, KnownNames.otherCompletionTexts, completionKinds)
  if (texts.length > 0) return texts.map((member) => ({ layout: "long", members: [member], completion: member.path }))
  return Sample.findAll(members, ["messages", "conversations", "conversation"], ["messages"])
    .filter(({ values }) => values.filter(isConversation).length * 2 > values.length)
    .slice(0, 1)
    .map((member) => ({ layout: "long", members: [member], completion: undefined }))
}

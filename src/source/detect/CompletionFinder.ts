/**
 * Where completions stand, by names and shapes, and so the layout.
 */
import { Result } from "effect"
import * as FieldPath from "../../io/FieldPath.ts"
import { isObject, joinWords } from "../../io/Values.ts"
import type { LayoutName } from "../layout/Layout.ts"
import { flags } from "../layout/Layout.ts"
import * as Profile from "./Sample.ts"
import { isConversation } from "../layout/SharedPrompt.ts"
import * as WideColumns from "./WideColumns.ts"

/** Completions that were found, as the options of a layout have them. */
export type CompletionsFound =
  | {
      readonly layout: "items"
      readonly members: ReadonlyArray<string>
      readonly completions: string
      readonly model?: string
    }
  | {
      readonly layout: "wide" | "pairs"
      readonly members: ReadonlyArray<string>
      readonly completions: ReadonlyArray<string>
    }
  /** Without `completion` it is the last message of the member. */
  | { readonly layout: "long"; readonly members: ReadonlyArray<string>; readonly completion: string | undefined }

const listNames =
  "completions,responses,answers,outputs,candidates,generations,choices,samples,predictions,replies,summaries".split(
    ",",
  )
const textNames = ["completion", "response", "output", "generation", "generated_text", "model_output", "model_response"]
const otherTextNames = ["answer", "prediction", "candidate", "reply", "assistant", "chosen"]
const pairNames = [
  ["chosen", "rejected"],
  ["preferred_output", "non_preferred_output"],
]
const elementNames =
  "completion,response,output,answer,text,content,generation,generated_text,message,messages,value,reply".split(",")
const modelNames = ["model", "model_id", "model_name", "generator"]
const isSaid: ReadonlyArray<Profile.Kind> = ["text", "message", "messages"]

/**
 * Nothing where there are none; the failure names several that there are.
 *
 * @param layout where only this one will do
 */
export const completions = (
  profile: Profile.Profile,
  layout: LayoutName | undefined,
): Result.Result<CompletionsFound | undefined, string> => {
  const isWanted = ({ layout: found }: CompletionsFound) => layout === undefined || layout === found
  const several = [...pairs(profile), ...wide(profile), ...items(profile)].filter(isWanted)
  const found = several.length > 0 ? several : long(profile).filter(isWanted)
  if (found.length < 2) return Result.succeed(found[0])
  const [first] = found
  const isSameLayout = found.every(({ layout }) => layout === first?.layout)
  const places = found.map(
    (one) =>
      `${joinWords(one.members.map((name) => JSON.stringify(name)))}${isSameLayout ? "" : ` (layout ${one.layout})`}`,
  )
  const set = isSameLayout
    ? first?.layout === "items"
      ? flags.completions
      : flags.completion
    : `${flags.layout}, ${flags.completions} or ${flags.completion}`
  return Result.fail(`the completions may be at ${places.join(", or at ")}: set ${set}`)
}

const pairs = ({ members }: Profile.Profile): ReadonlyArray<CompletionsFound> =>
  pairNames.flatMap((names) => {
    const [chosen, rejected] = names.map((name) => Profile.findAll(members, [name], isSaid)[0]?.name)
    if (chosen === undefined || rejected === undefined) return []
    return [{ layout: "pairs", members: [chosen, rejected], completions: [pathOf(chosen), pathOf(rejected)] }]
  })

const wide = (profile: Profile.Profile): ReadonlyArray<CompletionsFound> =>
  WideColumns.find(profile).map((columns) => {
    const members = columns.map(({ name }) => name)
    return { layout: "wide", members, completions: members.map(pathOf) }
  })

const items = ({ members }: Profile.Profile): ReadonlyArray<CompletionsFound> =>
  Profile.findAll(members, listNames, ["texts", "objects", "messages", "other"]).flatMap(elements)

/** A list whose elements are texts, messages or lists of messages; or objects with such a member. */
export const elements = (member: Profile.Member): ReadonlyArray<CompletionsFound> => {
  const all = member.values.flatMap((value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []))
  const path = pathOf(member.name)
  const members = [member.name]
  if (all.some((element) => isSaid.includes(Profile.kindOf(element))))
    return [{ layout: "items", members, completions: path }]
  const objects = all.filter(isObject)
  const said = elementNames.find((name) => isMostly(objects, name, isSaid))
  if (said === undefined) return []
  const model = modelNames.find((name) => isMostly(objects, name, ["text"]))
  return [
    {
      layout: "items",
      members,
      completions: `${path}[].${said}`,
      ...(model === undefined ? undefined : { model: `${path}[].${model}` }),
    },
  ]
}

const isMostly = (
  objects: ReadonlyArray<Profile.RecordSeen>,
  name: string,
  kinds: ReadonlyArray<Profile.Kind>,
): boolean =>
  objects.filter((object) => kinds.includes(Profile.kindOf(Profile.valueAt(object, name)))).length * 2 > objects.length

const long = ({ members }: Profile.Profile): ReadonlyArray<CompletionsFound> => {
  const usual = Profile.findAll(members, textNames, isSaid)
  const texts = usual.length > 0 ? usual : Profile.findAll(members, otherTextNames, isSaid)
  if (texts.length > 0) {
    return texts.map(({ name }) => ({ layout: "long", members: [name], completion: pathOf(name) }))
  }
  return Profile.findAll(members, ["messages", "conversations", "conversation"], ["messages"])
    .filter(({ values }) => values.filter(isConversation).length * 2 > values.length)
    .slice(0, 1)
    .map(({ name }) => ({ layout: "long", members: [name], completion: undefined }))
}

const pathOf = (name: string): string => FieldPath.format([name])

/** Finds media and other fields that no option uses. Experts may need to see them. */
import * as Conversation from "../../domain/Conversation.ts"
import type { Prompt } from "../../domain/Message.ts"
import type { PromptItem } from "../../domain/PromptItem.ts"
import * as OptionText from "../../io/OptionText.ts"
import { describeValue, isObject, joinWords, plural, quoteNames } from "../../io/Values.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import type { Row } from "../record/Row.ts"
import * as History from "./History.ts"

export interface Unused {
  readonly name: string
  readonly kind: "text" | "turns" | "other" | "ofCompletion" | "media" | "placeholder"
  readonly value: unknown
  readonly promptAt: Field | undefined
}

export type Shown = Pick<PromptItem, "prompt" | "completions">

export type Finder = (row: Pick<Row, "isTextual" | "value">, shown: Shown) => ReadonlyArray<Unused>

export const columns: ReadonlyArray<string> = [...KnownNames.partsOfPrompts, ...KnownNames.mediaColumns]

export const isKnown = (name: string): boolean => {
  const plain = KnownNames.plain(name)
  return KnownNames.partsOfPrompts.has(plain) || KnownNames.media.test(plain)
}

const noFields: ReadonlyArray<Unused> = []

export interface FinderOptions {
  readonly used: Iterable<string>
  readonly ignored: ReadonlyArray<string>
  readonly prompt?: Field | undefined
  readonly beside: "prompt" | "chosen prompt" | "completion"
}

const partsOfCompletions: ReadonlySet<string> = new Set([...KnownNames.contexts, ...KnownNames.histories])
const names = {
  prompt: KnownNames.partsOfPrompts,
  "chosen prompt": new Set([...partsOfCompletions, ...KnownNames.systemPrompts, "instruction", "input"]),
  completion: partsOfCompletions,
}

export const finder = (options: FinderOptions): Finder => {
  const { beside, ignored, prompt } = options
  const used = new Set([...options.used, ...ignored])
  const mayHaveMedia = ignored.some((name) => KnownNames.media.test(KnownNames.plain(name)))
  const kindsOfNames = new Map<string, "context" | "media" | undefined>()
  const kindOf = (name: string) => {
    if (kindsOfNames.has(name)) return kindsOfNames.get(name)
    const plain = KnownNames.plain(name)
    const kind = names[beside].has(plain) ? "context" : KnownNames.media.test(plain) ? "media" : undefined
    if (kindsOfNames.size === 1000) kindsOfNames.clear()
    kindsOfNames.set(name, kind)
    return kind
  }
  return ({ isTextual, value: record }, shown) => {
    let fields = noFields
    const add = (name: string, kind: Unused["kind"], value: unknown) => {
      const promptAt = typeof prompt?.get(record, isTextual) === "string" ? prompt : undefined
      fields = [...fields, { name, kind, value, promptAt }]
    }
    if (isObject(record)) {
      let text: string | undefined
      for (const name of Object.keys(record)) {
        const kind = used.has(name) ? undefined : kindOf(name)
        if (kind === undefined) continue
        const value = isTextual === true ? fromText(record[name]) : record[name]
        if (!hasContent(value) || (kind === "media" && typeof value === "number")) continue
        if (kind === "media") add(name, kind, value)
        else if (beside === "completion") add(name, "ofCompletion", value)
        else if (!occursIn(value, (text ??= textOf(shown)))) add(name, shapeOf(value), value)
      }
    }
    const placeholder = mayHaveMedia ? undefined : placeholderIn(shown.prompt)
    if (placeholder !== undefined) add(placeholder, "placeholder", placeholder)
    return fields
  }
}

const maxDepth = 20

const absentValue = /^\s*(?:\[\s*\]|\{\s*\}|null|none|nan|n\/a)?\s*$/i

export const hasContent = (value: unknown, depth = 0): boolean => {
  if (typeof value === "string") return !absentValue.test(value)
  if (typeof value === "number" || depth > maxDepth) return true
  return (
    typeof value === "object" && value !== null && textMembers(value).some((member) => hasContent(member, depth + 1))
  )
}

const textMembers = (value: object): ReadonlyArray<unknown> =>
  Array.isArray(value)
    ? value
    : Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
        aboutTexts.has(name) || KnownNames.aboutMessages.has(name) ? [] : [member],
      )

const aboutTexts: ReadonlySet<string> = new Set(["role", "from", "type"])

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const textOf = ({ completions, prompt }: Shown): string =>
  onOneLine([...Conversation.contents(prompt), ...completions].join(" "))

const occursIn = (value: unknown, text: string, depth = 0): boolean => {
  if (typeof value === "string") return text.includes(onOneLine(value))
  if (typeof value === "number") return text.includes(String(value))
  if (typeof value !== "object" || value === null) return true
  return depth <= maxDepth && textMembers(value).every((member) => occursIn(member, text, depth + 1))
}

const shapeOf = (value: unknown): Unused["kind"] => {
  if (History.isTurns(value)) return "turns"
  const isText = Array.isArray(value) ? value.every((text) => typeof text === "string") : !isObject(value)
  return isText ? "text" : "other"
}

/** Matches placeholders for media. Within a text, `<video>` and `<audio>` may be HTML elements, and do not match. */
const placeholders =
  /<\|(?:image|img|video|audio|vision|picture)[a-z_]*\d*\|>|<(image)(?:[ _]?\d+|_?placeholder|here)?>|<img>[^<]*<\/img>|^\s*<(video|audio)>|<(video|audio)>\s*$/i

const placeholderIn = (prompt: Prompt): string | undefined => {
  for (const text of Conversation.contents(prompt)) {
    const [match, ...elements] = text.includes("<") ? (placeholders.exec(text) ?? []) : []
    const element = elements.find((name) => name !== undefined)
    if (match !== undefined && (element === undefined || !text.toLowerCase().includes(`</${element.toLowerCase()}>`))) {
      return match.trim()
    }
  }
  return undefined
}

const rankOf = (name: string): number => {
  const plain = KnownNames.plain(name)
  const rank = [["instruction"], [...partsOfCompletions], ["prompt"]].findIndex((names) => names.includes(plain))
  return rank >= 0 ? rank : plain === "input" ? 4 : 3
}

export const template = (names: ReadonlyArray<string>): string =>
  names
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((name) => `{${FieldPath.format([name])}}`)
    .join("\\n\\n")

const optionsFor = (all: ReadonlyArray<Unused>): string => {
  const namesOf = (kind: Unused["kind"]) => all.filter((one) => one.kind === kind).map(({ name }) => name)
  const isSystem = (name: string) => KnownNames.systemPrompts.includes(KnownNames.plain(name))
  const turns = namesOf("turns")
  const systems = namesOf("text").filter(isSystem)
  const texts = namesOf("text").filter((name) => !isSystem(name))
  const at = all[0]?.promptAt
  const isMember = at !== undefined && !at.isTemplate && at.paths[0]?.length === 1
  const whole = isMember
    ? template([...texts, ...at.columns])
    : `${template(texts)}\\n\\n${at === undefined || at.isTemplate ? at?.text : `{${at.text}}`}`
  const [ofCompletion, others] = [namesOf("ofCompletion"), namesOf("other").map((name) => template([name]))]
  const settings = [
    ...(texts[0] === undefined ? [] : [OptionText.set(at === undefined ? { system: texts[0] } : { prompt: whole })]),
    ...(systems[0] === undefined ? [] : [OptionText.set({ system: systems[0] })]),
    ...(turns[0] === undefined ? [] : [OptionText.set({ history: turns[0] })]),
    ...(others.length === 0 ? [] : [`\`prompt\` to a template that contains ${joinWords(others)}`]),
  ]
  const moved = `move ${quoteNames(ofCompletion)} from the records of completions to the records of prompts`
  const moves = ofCompletion.length === 0 ? [] : [moved]
  return joinWords([...(settings.length === 0 ? [] : [`set ${joinWords(settings)}`]), ...moves])
}

const isMedia = ({ kind }: Unused): boolean => kind === "media" || kind === "placeholder"

const ignoreMedia = (all: ReadonlyArray<Unused>): string => {
  const names = new Set(all.filter(({ kind }) => kind === "media").map(({ name }) => name))
  return OptionText.set({ ignore: names.size === 0 ? ["images"] : [...names] })
}

export const problemOf = (all: ReadonlyArray<Unused>): string | undefined => {
  const [first] = all
  if (first === undefined) return undefined
  const { kind, name, value } = first
  const actual = `found ${describeValue(value)}`
  const path = FieldPath.format([name])
  switch (kind) {
    case "placeholder":
      return `prompt: expected no ${name}, because experts cannot be shown images, audio, or video. If experts can judge the item without media, set ${ignoreMedia(all)}`
    case "media":
      return `${path}: expected no media, ${actual}. Experts cannot be shown images, audio, or video. If experts can judge the item without media, set ${ignoreMedia(all)}`
    default:
      return `${path}: expected no value, ${actual}. No option uses this field. If experts need the field, ${optionsFor([first])}. If they do not need it, set ${OptionText.set({ ignore: [name] })}`
  }
}

export const question = (records: ReadonlyArray<ReadonlyArray<Unused>>): string | undefined => {
  const fields = new Map<string, Unused>()
  for (const one of records.flat()) if (!isMedia(one) && !fields.has(one.name)) fields.set(one.name, one)
  if (fields.size === 0) return undefined
  const names = [...fields.keys()]
  const shares = names.map((name) => {
    const count = records.filter((all) => all.some((one) => one.name === name)).length
    return `${JSON.stringify(name)} (in ${count} of ${records.length} records)`
  })
  return `no option uses ${joinWords(shares)}. If experts need ${plural(names.length, "this field", "these fields")}, ${optionsFor([...fields.values()])}. If they do not need ${plural(names.length, "it", "them")}, set ${OptionText.set({ ignore: names })}`
}

export const hints = (records: ReadonlyArray<ReadonlyArray<Unused>>): ReadonlyArray<string> => {
  const count = records.filter((all) => all.some(isMedia)).length
  const first = records.flat().find(isMedia)
  if (first === undefined) return []
  return [
    `experts cannot be shown images, audio, or video (${first.name}), so ${count} of the first ${records.length} records ${plural(count, "is", "are")} rejected. If experts can judge the items without media, set ${ignoreMedia(records.flat())}`,
  ]
}

/**
 * Fields that may be part of what experts must see, and that no option uses. Names decide (`KnownNames`): of texts and
 * turns, and of pictures, sound and video, which experts are not shown. So do placeholders such as `<image>` in a prompt.
 *
 * Guarantees: a field without a value is not among them, nor is one whose texts the item's prompt or completions have
 * anyway. Fields with other names, and those within objects, are not looked at.
 */
import * as Conversation from "../../domain/Conversation.ts"
import type { Prompt } from "../../domain/Message.ts"
import { describeValue, isObject, joinWords } from "../../io/Values.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import type { Row } from "../record/Row.ts"
import * as History from "./History.ts"

/** A field with a value that experts would not see; `placeholder` is one in the prompt's text. */
export interface Unused {
  readonly name: string
  readonly kind: "text" | "turns" | "other" | "ofCompletion" | "media" | "placeholder"
  readonly value: unknown
  /** The field of the prompt, if that is text. */
  readonly promptAt: Field | undefined
}

/** What experts see of an item. */
export interface Shown {
  readonly prompt: Prompt
  readonly completions: ReadonlyArray<string>
}

export type Finder = (row: Pick<Row, "isTextual" | "value">, shown: Shown) => ReadonlyArray<Unused>

/** Names of columns that have to be read to be found. */
export const columns: ReadonlyArray<string> = [...KnownNames.partsOfPrompts, ...KnownNames.mediaColumns]

/** Whether a column has such a name. */
export const isKnown = (name: string): boolean => {
  const plain = KnownNames.plain(name)
  return KnownNames.partsOfPrompts.has(plain) || KnownNames.media.test(plain)
}

const none: ReadonlyArray<Unused> = []

export interface FinderOptions {
  /** Columns that are read. */
  readonly used: Iterable<string>
  /** A name of media says that experts need not see any. */
  readonly ignored: ReadonlyArray<string>
  /** The field of the prompt, if it has one. */
  readonly prompt?: Field | undefined
  /**
   * Beside a prompt that was chosen, others such as `question` are none of its parts. The record of a completion whose
   * prompt is another record's may repeat them.
   */
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
  const known = new Map<string, "context" | "media" | undefined>()
  const kindOf = (name: string) => {
    if (known.has(name)) return known.get(name)
    const plain = KnownNames.plain(name)
    const kind = names[beside].has(plain) ? "context" : KnownNames.media.test(plain) ? "media" : undefined
    // Records may have ever new names.
    if (known.size === 1000) known.clear()
    known.set(name, kind)
    return kind
  }
  return ({ isTextual, value: record }, shown) => {
    let found = none
    const add = (name: string, kind: Unused["kind"], value: unknown) => {
      const promptAt = typeof prompt?.get(record, isTextual) === "string" ? prompt : undefined
      found = [...found, { name, kind, value, promptAt }]
    }
    if (isObject(record)) {
      let text: string | undefined
      for (const name of Object.keys(record)) {
        const kind = used.has(name) ? undefined : kindOf(name)
        if (kind === undefined) continue
        const value = isTextual === true ? fromText(record[name]) : record[name]
        if (!says(value) || (kind === "media" && typeof value === "number")) continue
        if (kind === "media") add(name, kind, value)
        else if (beside === "completion") add(name, "ofCompletion", value)
        else if (!isIn(value, (text ??= textOf(shown)))) add(name, shapeOf(value), value)
      }
    }
    const placeholder = mayHaveMedia ? undefined : placeholderIn(shown.prompt)
    if (placeholder !== undefined) add(placeholder, "placeholder", placeholder)
    return found
  }
}

/** Values below this are not looked at: they say something. */
const maxDepth = 20

/** What tools write where there is nothing. */
const nothing = /^\s*(?:\[\s*\]|\{\s*\}|null|none|nan|n\/a)?\s*$/i

/** Whether a value is any: not null, blank, an empty list, or what is written for these. */
export const says = (value: unknown, depth = 0): boolean => {
  if (typeof value === "string") return !nothing.test(value)
  if (typeof value === "number" || depth > maxDepth) return true
  return typeof value === "object" && value !== null && textMembers(value).some((member) => says(member, depth + 1))
}

/** Of a message, the members that are said in it. */
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

const isIn = (value: unknown, text: string, depth = 0): boolean => {
  if (typeof value === "string") return text.includes(onOneLine(value))
  if (typeof value === "number") return text.includes(String(value))
  if (typeof value !== "object" || value === null) return true
  return depth <= maxDepth && textMembers(value).every((member) => isIn(member, text, depth + 1))
}

const shapeOf = (value: unknown): Unused["kind"] => {
  if (History.isTurns(value)) return "turns"
  const isText = Array.isArray(value) ? value.every((text) => typeof text === "string") : !isObject(value)
  return isText ? "text" : "other"
}

/**
 * `<image>`, `<image_1>`, `<|image_pad|>`, and Qwen's `<img>FILE</img>`. `<video>` and `<audio>` are elements of HTML, too:
 * they count where a text begins or ends with them. An element that is closed is markup.
 */
const placeholders =
  /<\|(?:image|img|video|audio|vision|picture)[a-z_]*\d*\|>|<(image)(?:[ _]?\d+|_?placeholder|here)?>|<img>[^<]*<\/img>|^\s*<(video|audio)>|<(video|audio)>\s*$/i

const placeholderIn = (prompt: Prompt): string | undefined => {
  for (const text of Conversation.contents(prompt)) {
    const [found, ...elements] = text.includes("<") ? (placeholders.exec(text) ?? []) : []
    const element = elements.find((name) => name !== undefined)
    if (found !== undefined && (element === undefined || !text.toLowerCase().includes(`</${element.toLowerCase()}>`))) {
      return found.trim()
    }
  }
  return undefined
}

/** A name as a shell takes it. */
export const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name}'`)

/** As it is typed. */
export const ignoring = (name: string): string => `--ignore-field ${quoted(name)}`

/** The order of a template's fields: the instruction, what it refers to, the prompt, the question, and the input. */
const rankOf = (name: string): number => {
  const plain = KnownNames.plain(name)
  const rank = [["instruction"], [...partsOfCompletions], ["prompt"]].findIndex((names) => names.includes(plain))
  return rank >= 0 ? rank : plain === "input" ? 4 : 3
}

/** A template of these members. */
export const template = (names: ReadonlyArray<string>): string =>
  names
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map((name) => `{${FieldPath.format([name])}}`)
    .join("\\n\\n")

/** The options that would use the fields. */
const uses = (all: ReadonlyArray<Unused>): string => {
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
  return joinWords([
    ...(texts[0] === undefined
      ? []
      : [at === undefined ? `--system-path ${quoted(texts[0])}` : `--prompt-path '${whole}'`]),
    ...(systems[0] === undefined ? [] : [`--system-path ${quoted(systems[0])}`]),
    ...(turns[0] === undefined ? [] : [`--history-path ${quoted(turns[0])}`]),
    ...(namesOf("ofCompletion").length === 0 ? [] : ["it in the prompts' records"]),
    ...(namesOf("other").length === 0 ? [] : ["--prompt-path to a template that has their texts"]),
  ])
}

const isMedia = ({ kind }: Unused): boolean => kind === "media" || kind === "placeholder"

/** Of placeholders alone, any name of media says that they need not be more than text. */
const ignoringMedia = (all: ReadonlyArray<Unused>): string => {
  const names = new Set(all.filter(({ kind }) => kind === "media").map(({ name }) => name))
  return joinWords((names.size === 0 ? ["images"] : [...names]).map(ignoring))
}

/** Why a record with the fields is rejected, and what to do; undefined where there are none. */
export const problemOf = (all: ReadonlyArray<Unused>): string | undefined => {
  const [first] = all
  if (first === undefined) return undefined
  const { kind, name, value } = first
  const found = `found ${describeValue(value)}`
  const path = FieldPath.format([name])
  switch (kind) {
    case "placeholder":
      return `prompt: expected no ${name}, since experts are not shown pictures, sound or video; ${ignoringMedia(all)} has them judge without`
    case "media":
      return `${path}: expected no value, since experts are not shown pictures, sound or video, ${found}; ${ignoringMedia(all)} has them judge without`
    default:
      return `${path}: expected no value, since experts may have to see it and no option uses it, ${found}; set ${uses([first])}, or ${ignoring(name)}`
  }
}

/** What to ask of the first records; undefined where nothing is open, or media alone, whose records are rejected. */
export const question = (records: ReadonlyArray<ReadonlyArray<Unused>>): string | undefined => {
  const open = new Map<string, Unused>()
  for (const one of records.flat()) if (!isMedia(one) && !open.has(one.name)) open.set(one.name, one)
  if (open.size === 0) return undefined
  const names = [...open.keys()]
  const shares = names.map((name) => {
    const count = records.filter((all) => all.some((one) => one.name === name)).length
    return `${JSON.stringify(name)} (in ${count} of ${records.length})`
  })
  const ignored = joinWords(names.map(ignoring))
  return `experts may have to see ${joinWords(shares)}, which no option uses: set ${uses([...open.values()])}, or ${ignored} if they need not`
}

/** What to know of media in the first records. */
export const hints = (records: ReadonlyArray<ReadonlyArray<Unused>>): ReadonlyArray<string> => {
  const count = records.filter((all) => all.some(isMedia)).length
  const first = records.flat().find(isMedia)
  if (first === undefined) return []
  return [
    `pictures, sound or video in ${count} of the first ${records.length} records (${first.name}), which are rejected, since experts are not shown them; ${ignoringMedia(records.flat())} has them judge without`,
  ]
}

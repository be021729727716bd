/** In messages, replaces options in backticks by flags. Text in double quotes is data, and does not change. */
import { Predicate, Result } from "effect"
import type { RejectCount } from "../../pipeline/RejectCounts.ts"
import { joinWords } from "../../io/Values.ts"

const named = [
  "aggregate", "allowRepeatedVotes", "budget", "choiceAs", "choiceMap", "completionPath", "delimiter", "encoding", "expertNames", "goldPath", "group", "header",
  "historyPath", "idempotencyKey", "idleTimeout", "keep", "key", "layout", "ledger", "maxRejects", "maxRowGroupBytes", "missing",
  "metadataPath", "modelPath", "modelsFromColumns", "moved", "newCampaign", "newLedger", "parts", "price", "promptPath",
  "peopleWhen", "quote", "requestExtra", "requestsPerSecond", "resubmit", "split", "splitBy", "systemPath", "votes",
] // prettier-ignore

const flags = new Map([
  ...named.map((name) => [name, `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`] as const),
  ...["prompt", "system", "history", "completions", "completion", "id", "model", "gold", "metadata"].map(
    (name) => [name, `--${name}-path`] as const,
  ),
  ...["choice", "expert", "rationale", "strength"].map((name) => [name, `--${name}-path`] as const),
  ["service.choice", "--choice"],
  ["judgedAt", "--judged-at-path"],
  ["votes.votes", "--votes-path"],
  ["ignore", "--ignore-field"],
  ["format", "--input-format"],
  ["experts", "--accuracy"],
  ["pollInterval.max", "--poll-max"],
  ["directory", "--dir"],
  ["token", "PREFSTREAM_TOKEN"],
  ["webhook", "--listen"],
  ["webhook.port", "--listen"],
  ["webhook.path", "--webhook-path"],
])

const phrases: { readonly [text: string]: string } = {
  "`Source.join`": "--completions FILE",
  "`Job.giveUp`": "--give-up",
  "`Job.sendAgain`": "--send-again",
  '`Source.files(file, { layout: "long" })`': "prefstream run --layout long",
  "`Pipeline.collect(pipeline, { recheckCompleted: true })`": "prefstream collect --recheck-completed",
  "`Pipeline.exportDataset(pipeline, { force: true })`": "prefstream export --force",
  "`Pipeline.leaderboard({ weighted: true })`": "leaderboard --weighted",
  "`completions`: expected at least two files": "--completions: expected at least two files",
  "`completions` paths": "--completion-path flags",
  "`completions` path": "--completion-path",
  "`completions` to all": "once for each",
  "`completions` to a path per completion, or to the path of a list":
    "--completion-path once per completion, or --completions-path for a list",
  '`completions: ["FIRST", "SECOND"]`': "--completion-path, once for each completion",
  '`completions: ["BETTER", "OTHER"]`':
    "--completion-path twice, first for the better completion, then for the other one",
}

export const flagOf = (setting: string): string => flags.get(setting) ?? setting

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

const quotedText = String.raw`"(?:[^"\\\n]|\\.)*"`
const tokens = new RegExp(
  `(${Object.keys(phrases).map(escaped).join("|")})|${quotedText}|\`((?:[^\`"]|${quotedText})*)\``,
  "g",
)
const memberNames = new RegExp(String.raw`${quotedText}|([A-Za-z.]+)(?=:)`, "g")

/** Adds the quotes that `ChoiceMap` expects. Importing `ChoiceMap` here would slow down each start of prefstream. */
const partOfMap = (text: string): string =>
  /[",=]/.test(text) && !/^[<>]=?\s*\S+$/.test(text) ? JSON.stringify(text) : text

const word = (value: unknown): string => {
  const text = Predicate.isObject(value)
    ? Object.entries(value)
        .map(([key, meaning]) => `${partOfMap(key)}=${partOfMap(String(meaning))}`)
        .join(",")
    : String(value)
  return /^[\w.%-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const withValues = (name: string, flag: string, value: unknown): string => {
  if (value === true) return flag
  if (value === false) return flag.replace("--", "--no-")
  const words = (Array.isArray(value) ? value : [value]).map((one) => (one === "…" ? flag : `${flag} ${word(one)}`))
  return name === "ignore" ? joinWords(words) : [...new Set(words)].join(" ")
}

const translated = (option: string): string | undefined => {
  if (!option.includes(":")) return flags.get(option)
  const json = option.replace(memberNames, (text, name) => (name === undefined ? text : JSON.stringify(name)))
  const members = Result.try((): object => JSON.parse(`{${json}}`))
  if (Result.isFailure(members)) return undefined
  const set = Object.entries(members.success).map(([name, value]: [string, unknown]) => {
    const flag = flags.get(name === "completions" && Array.isArray(value) ? "completion" : name)
    return { name, value, flag }
  })
  return set.every(({ flag }) => flag !== undefined)
    ? set.map(({ flag, name, value }) => withValues(name, flag!, value)).join(" ")
    : undefined
}

const inText = (text: string): string =>
  text.replace(tokens, (all, phrase, option) =>
    phrase === undefined ? ((option === undefined ? undefined : translated(option)) ?? all) : phrases[phrase]!,
  )

export const inFlags = (message: string): string => {
  const row = /^ {2}(`[^`]*`) {2,}/gm
  const width = Math.max(0, ...[...message.matchAll(row)].map(([, option = ""]) => inText(option).length))
  return inText(message.replace(row, (_, option: string) => `  ${inText(option).padEnd(width)}  `))
}

export const inRejects = <A extends { readonly rejects: ReadonlyArray<RejectCount> | null }>(report: A): A => ({
  ...report,
  rejects:
    report.rejects?.map((one) => ({ ...one, first: { ...one.first, reason: inFlags(one.first.reason) } })) ?? null,
})

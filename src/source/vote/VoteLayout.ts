/**
 * Finds the field with item ids. Each id must belong to only one item. In files that prefstream did not write, each
 * item must also have only one id.
 */
import { Result } from "effect"
import { content } from "../../domain/PromptItem.ts"
import { defined, isObject } from "../../io/Values.ts"
import * as Sample from "../detect/Sample.ts"
import type { LayoutOptions } from "../layout/Layout.ts"
import * as MakeLayout from "../layout/MakeLayout.ts"
import * as ToolExports from "./ToolExports.ts"
import type * as VoteFields from "./VoteFields.ts"
import { voteNames } from "./VoteNames.ts"

export const fieldsOf = ({ choices, expert, judgedAt, list, rationale, strength }: VoteFields.VoteFields) =>
  [...choices, list, expert, rationale, strength, judgedAt].flatMap((field) => field ?? [])

export const withoutVotes = (
  sample: Sample.Sample,
  detected: LayoutOptions,
  setOptions: LayoutOptions,
  fields: VoteFields.VoteFields,
): LayoutOptions => {
  const isOfVotes = (path: unknown) => fieldsOf(fields).some(({ text }) => text === path)
  const { gold, id: detectedId, ...rest } = detected
  const layoutOptions = setOptions.gold === undefined && isOfVotes(gold) ? rest : { ...rest, gold }
  if (setOptions.id !== undefined) return { ...layoutOptions, id: detectedId }
  const candidates = [
    ...Sample.named(sample.members, voteNames.item).map(({ path }) => path),
    ...(detectedId === undefined ? [] : [detectedId]),
  ]
  const id = candidates.find((path) => namesItems(sample, layoutOptions, path))
  // By default, the field `id` would be read, which may be the id of a vote. The path `[""]` finds no field.
  return { ...layoutOptions, ...(id === undefined ? (layoutOptions.layout === "items" ? { id: '[""]' } : {}) : { id }) }
}

const namesItems = (sample: Sample.Sample, options: LayoutOptions, path: string): boolean => {
  const layout = Result.getOrUndefined(
    MakeLayout.make(defined({ ...options, id: path, keep: undefined, metadata: undefined })),
  )
  if (layout?.reads !== "items") return false
  const isOwn = sample.rows.every(({ value }) => isObject(value) && ToolExports.isOwnVote(value))
  const contents = new Map<string, string>()
  const ids = new Map<string, string>()
  return sample.rows.every((row) => {
    const record = layout.toRecord(row)
    if (Result.isFailure(record)) return true
    const { item } = record.success
    if (item.id === undefined) return false
    const text = content({ prompt: item.prompt, completions: item.completions.toSorted() })
    const isSame = (isOwn || (ids.get(text) ?? item.id) === item.id) && (contents.get(item.id) ?? text) === text
    ids.set(text, item.id)
    contents.set(item.id, text)
    return isSame
  })
}

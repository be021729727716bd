/**
 * The layout of the items that votes are on: the options that are detected, less what is of the votes.
 *
 * Guarantees: an item's id is one that the first records have for one item each, or none.
 */
import { Result } from "effect"
import { content } from "../../domain/PromptItem.ts"
import type * as Sample from "../detect/Sample.ts"
import type { LayoutOptions } from "../layout/Layout.ts"
import * as MakeLayout from "../layout/MakeLayout.ts"
import type * as VoteFields from "./VoteFields.ts"
import { voteNames } from "./VoteNames.ts"

/** Those that are set or detected. */
export const fieldsOf = ({ choices, expert, judgedAt, list, rationale, strength }: VoteFields.VoteFields) =>
  [...choices, list, expert, rationale, strength, judgedAt].flatMap((field) => field ?? [])

/** The choice is no gold answer, and an id is the item's only if the first records say so. */
export const withoutVotes = (
  sample: Sample.Sample,
  detected: LayoutOptions,
  given: LayoutOptions,
  fields: VoteFields.VoteFields,
): LayoutOptions => {
  const isOfVotes = (path: unknown) => fieldsOf(fields).some(({ text }) => text === path)
  const { gold, id: found, ...rest } = detected
  const complete = given.gold === undefined && isOfVotes(gold) ? rest : { ...rest, gold }
  if (given.id !== undefined) return { ...complete, id: found }
  const candidates = [
    ...voteNames.item
      .flatMap((name) => sample.members.filter(({ plainName }) => plainName === name))
      .map(({ path }) => path),
    ...(found === undefined ? [] : [found]),
  ]
  const id = candidates.find((path) => namesItems(sample, complete, path))
  // A path that no record has: `items` has a default, by which ids would be those of votes.
  return { ...complete, ...(id === undefined ? (complete.layout === "items" ? { id: '[""]' } : {}) : { id }) }
}

/** Whether records have the same id exactly if they have the same item. */
const namesItems = (sample: Sample.Sample, options: LayoutOptions, path: string): boolean => {
  const layout = Result.getOrUndefined(
    MakeLayout.make(
      Object.fromEntries(
        Object.entries({ ...options, id: path, keep: undefined, metadata: undefined }).filter(
          ([, value]) => value !== undefined,
        ),
      ),
    ),
  )
  if (layout?.reads !== "items") return false
  const contents = new Map<string, string>()
  const ids = new Map<string, string>()
  return sample.rows.every((row) => {
    const record = layout.toRecord(row)
    if (Result.isFailure(record)) return true
    const { item } = record.success
    if (item.id === undefined) return false
    const text = content({ prompt: item.prompt, completions: item.completions.toSorted() })
    const isSame = (ids.get(text) ?? item.id) === item.id && (contents.get(item.id) ?? text) === text
    ids.set(text, item.id)
    contents.set(item.id, text)
    return isSame
  })
}

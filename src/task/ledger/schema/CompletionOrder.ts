/** The order in which an item's completions were sent: for each position in the request, the index in the input. */
import { Predicate, Record } from "effect"
import type { Annotations } from "../../../domain/Task.ts"

/** Undefined means the order of the input. */
export type CompletionOrder = ReadonlyArray<number> | undefined

export const apply = <A>(values: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> =>
  order.map((index) => values[index]!)

export const undo = <A>(sent: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> => {
  const values = [...sent]
  order.forEach((index, at) => void (values[index] = sent[at]!))
  return values
}

type Translate = (value: unknown, order: ReadonlyArray<number>) => unknown

const index: Translate = (value, order) => (Predicate.isNumber(value) ? order[value] : undefined)

const listOf =
  (translate: Translate): Translate =>
  (value, order) => {
    if (!Array.isArray(value)) return undefined
    const list = value.map((element: unknown) => translate(element, order))
    return list.includes(undefined) ? undefined : list
  }

/** Translates the named members of an object. Other members, and values of another type, stay unchanged. */
const membersOf = (members: { readonly [name: string]: Translate }): Translate => {
  // This is a `Map`, because every object has a member `constructor`, and a service may use this name, too.
  const translations = new Map(Object.entries(members))
  return (value, order) =>
    Predicate.isObject(value)
      ? Record.map(value, (member, name) => translations.get(name)?.(member, order) ?? member)
      : value
}

const indices = listOf(index)
const groups = listOf(indices)

/** Reorders lists with one rating per completion. A single number rates the best completion, and stays unchanged. */
const ratings: Translate = (value, order) =>
  Predicate.isObject(value)
    ? Record.map(value, (list) => (Array.isArray(list) && list.length === order.length ? undo(list, order) : list))
    : value

/** Members whose value depends on the order of completions, in the format of prefstream's own service (`domain/Vote`). */
const annotationsOf = membersOf({
  ranking: groups,
  aspects: ratings,
  votes: listOf(
    membersOf({
      aspects: ratings,
      choice: index,
      ranking: groups,
      order: indices,
      details: membersOf({ answers: listOf(membersOf({ order: indices, choice: index })) }),
    }),
  ),
})

export const undoAnnotations = (annotations: Annotations, order: ReadonlyArray<number>): Annotations =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object stays an object, its rationale unchanged
  annotationsOf(annotations, order) as Annotations

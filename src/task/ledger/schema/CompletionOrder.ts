/**
 * The order in which an item's completions were sent, and the way back to that of the input.
 *
 * An order holds indices into the completions of the input, by the place at which each was sent.
 */
import { Predicate, Record } from "effect"
import type { Annotations } from "../../../domain/Task.ts"

/** Undefined where it is that of the input. */
export type CompletionOrder = ReadonlyArray<number> | undefined

/** Puts completions into the order that is sent. */
export const apply = <A>(values: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> =>
  order.map((index) => values[index]!)

/** Puts them back into the order of the input. */
export const undo = <A>(sent: ReadonlyArray<A>, order: ReadonlyArray<number>): ReadonlyArray<A> => {
  const values = [...sent]
  order.forEach((index, at) => void (values[index] = sent[at]!))
  return values
}

type Translate = (value: unknown, order: ReadonlyArray<number>) => unknown

/** The index of the input for that of a place in `order`; undefined where it is none. */
const index: Translate = (value, order) => (Predicate.isNumber(value) ? order[value] : undefined)

const listOf =
  (translate: Translate): Translate =>
  (value, order) => {
    if (!Array.isArray(value)) return undefined
    const list = value.map((element: unknown) => translate(element, order))
    return list.includes(undefined) ? undefined : list
  }

/** An object with these members translated. Others, and what has another shape, stay as they are. */
const membersOf = (members: { readonly [name: string]: Translate }): Translate => {
  // A map, since a service may call a member `constructor`.
  const translations = new Map(Object.entries(members))
  return (value, order) =>
    Predicate.isObject(value)
      ? Record.map(value, (member, name) => translations.get(name)?.(member, order) ?? member)
      : value
}

const indices = listOf(index)
const groups = listOf(indices)

/** Ratings by name, each of all completions. One number per name is about the best, and stays. */
const ratings: Translate = (value, order) =>
  Predicate.isObject(value)
    ? Record.map(value, (list) => (Array.isArray(list) && list.length === order.length ? undo(list, order) : list))
    : value

/** What prefstream's own service writes: see `domain/Vote.ts`, and `service/expert/JudgeExpert.ts` for the details. */
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

/** What an expert said, with the indices that prefstream's own service writes as those of the input. */
export const undoAnnotations = (annotations: Annotations, order: ReadonlyArray<number>): Annotations =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object stays an object, and its rationale as it is
  annotationsOf(annotations, order) as Annotations

/**
 * The metadata of an item: its own, and other members of its record under their names.
 *
 * Guarantees: nothing is overwritten: a record whose metadata has another value for the same name is rejected. With `*`,
 * all members that no other part of the item uses are included, also those of each completion in `completions[].text`.
 */
import { Result } from "effect"
import type { Metadata } from "../../domain/PromptItem.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import type { Row } from "../record/Row.ts"
import { type Field, fromText, type Step } from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { isObject } from "../../io/Values.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"

export interface MetadataReader {
  /** The metadata, or nothing; the failure is the reason. */
  readonly of: (row: Row) => Result.Result<Metadata | undefined, string>
  /** Undefined where it reads all. */
  readonly columns: ReadonlyArray<string> | undefined
  /** Where a field's own list goes along, in the metadata; nothing where it doesn't. */
  readonly listsOf: (field: Field) => ReadonlyArray<ReadonlyArray<string | number>>
}

/**
 * @param keep names of members; `*` for all others
 * @param read what other parts of the item are read from
 * @param gold of which an object's index and rationale are read
 */
export const make = (
  metadata: Field | undefined,
  keep: ReadonlyArray<string>,
  read: ReadonlyArray<Field | undefined>,
  gold?: Field,
): MetadataReader => {
  const others = keep.includes("*")
  const taken = [...read, metadata].flatMap((field) => field?.paths ?? [])
  const pathsOf = ({ isTextual, value }: Row): ReadonlyArray<Path> => {
    if (gold === undefined) return taken
    const members = isObject(fromText(gold.get(value, isTextual))) ? goldMembers : [[]]
    return [...taken, ...gold.paths.flatMap((path) => members.map((member) => [...path, ...member]))]
  }
  const keptOf = (row: Row, record: object): ReadonlyArray<readonly [name: string, value: unknown]> => {
    if (!others) return Object.entries(record).filter(([name]) => keep.includes(name))
    const paths = pathsOf(row)
    return Object.entries(record).flatMap(([name, value]) => {
      const inside = keep.includes(name) ? [] : insideOf(paths, name)
      const rest = inside.length === 0 ? value : restOf(row.isTextual === true ? fromText(value) : value, inside)
      return rest === undefined ? [] : [[name, rest] as const]
    })
  }
  return {
    columns: others ? undefined : [...(metadata?.columns ?? []), ...keep],
    listsOf: ({ paths }) =>
      paths.map(listAt).filter(([member]) => others || (typeof member === "string" && keep.includes(member))),
    of: (row) => {
      const { isTextual, value } = row
      const own =
        metadata === undefined
          ? Result.succeed(undefined)
          : ItemDecoder.decodeMetadata(metadata.get(value, isTextual), metadata.name)
      return keep.length === 0 || !isObject(value)
        ? own
        : Result.flatMap(own, (metadata) => add(metadata ?? {}, keptOf(row, value)))
    },
  }
}

/** The top-level members that fields and metadata are read from; undefined where all are read. */
export const columnsWith = (
  fields: ReadonlyArray<Field | undefined>,
  { columns }: MetadataReader,
): ReadonlyArray<string> | undefined =>
  columns && [...new Set([...fields.flatMap((field) => field?.columns ?? []), ...columns])]

type Path = ReadonlyArray<Step>

/** The path of the list whose elements a path leads to; of one that names no elements, itself. */
const listAt = (path: Path): ReadonlyArray<string | number> => {
  const elements = path.indexOf(null)
  return (elements === -1 ? path : path.slice(0, elements)).filter((step) => step !== null)
}

const goldMembers = [["best_completion_index"], ["rationale"]]

const insideOf = (paths: ReadonlyArray<Path>, key: string | number): ReadonlyArray<Path> =>
  paths.flatMap(([step, ...rest]) => (step === key || (step === null && typeof key === "number") ? [rest] : []))

/** What is left of a value without what is at the paths; nothing where that is all. A list keeps its length. */
const restOf = (value: unknown, paths: ReadonlyArray<Path>): unknown => {
  if (paths.length === 0 || typeof value !== "object" || value === null) {
    return paths.some(({ length }) => length === 0) ? undefined : value
  }
  if (paths.some(({ length }) => length === 0)) return undefined
  if (Array.isArray(value)) {
    const rest = value.map((element, i) => restOf(element, insideOf(paths, i)))
    return rest.every((element) => element === undefined) ? undefined : rest.map((element) => element ?? null)
  }
  const rest = Object.entries(value).flatMap(([name, member]) => {
    const left = restOf(member, insideOf(paths, name))
    return left === undefined ? [] : [[name, left] as const]
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const add = (
  metadata: Metadata,
  kept: ReadonlyArray<readonly [name: string, value: unknown]>,
): Result.Result<Metadata, string> => {
  for (const [name, value] of kept) {
    const path = FieldPath.format([name])
    const problem = describeJsonProblem(value, path)
    if (problem !== undefined) return Result.fail(problem)
    if (Object.hasOwn(metadata, name) && !isSame(metadata[name], value)) {
      return Result.fail(
        `${path}: expected a name that the metadata does not have yet, found it there with another value`,
      )
    }
  }
  // Not by assignment, so that a member may be called `__proto__`.
  return Result.succeed(Object.fromEntries([...Object.entries(metadata), ...kept]))
}

/** Metadata, and the names of its members that are lists with an element for each completion. */
export interface MergedMetadata {
  readonly metadata: Metadata | undefined
  readonly lists: ReadonlyArray<string>
}

/**
 * What goes along with completions that were read from a record each, as metadata of their item: what is the same for all
 * is kept once, what differs is a list in the order of the completions, with null for those that have none.
 */
export const merge = (all: ReadonlyArray<Metadata | undefined>): MergedMetadata => {
  if (all.every((one) => one === undefined)) return { metadata: undefined, lists: [] }
  const lists: Array<string> = []
  const valueOf = (name: string): unknown => {
    const values = all.map((one) => (one !== undefined && Object.hasOwn(one, name) ? one[name] : null))
    if (values.every((value) => isSame(value, values[0]))) return values[0]
    lists.push(name)
    return values
  }
  const names = new Set(all.flatMap((one) => Object.keys(one ?? {})))
  return { metadata: Object.fromEntries([...names].map((name) => [name, valueOf(name)])), lists }
}

/** The metadata of an item and what its completions bring along; a name that both have is prefixed. */
export const withCompletions = (
  metadata: Metadata | undefined,
  all: ReadonlyArray<Metadata | undefined>,
): Result.Result<MergedMetadata, string> => {
  const { lists, metadata: merged } = merge(all)
  if (merged === undefined) return Result.succeed({ metadata, lists })
  const own = metadata ?? {}
  const nameOf = (name: string) =>
    Object.hasOwn(own, name) && !isSame(own[name], merged[name]) ? `completions[].${name}` : name
  const kept = Object.entries(merged).map(([name, value]) => [nameOf(name), value] as const)
  return Result.map(add(own, kept), (metadata) => ({ metadata, lists: lists.map(nameOf) }))
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

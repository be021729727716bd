/** Collects an item's metadata. `*` keeps all unused members, also nested ones, such as `completions[].score`. */
import { Result } from "effect"
import type { Metadata } from "../../domain/PromptItem.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import type { Row } from "../record/Row.ts"
import { type Field, fromText, type Step } from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { isObject } from "../../io/Values.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"

export interface MetadataReader {
  readonly of: (row: Row) => Result.Result<Metadata | undefined, string>
  readonly columns: ReadonlyArray<string> | undefined
  readonly listsOf: (field: Field) => ReadonlyArray<ReadonlyArray<string | number>>
}

export const make = (
  metadata: Field | undefined,
  keep: ReadonlyArray<string>,
  read: ReadonlyArray<Field | undefined>,
  gold?: Field,
): MetadataReader => {
  const keepsOthers = keep.includes("*")
  const usedPaths = [...read, metadata].flatMap((field) => field?.paths ?? [])
  const pathsOf = ({ isTextual, value }: Row): ReadonlyArray<Path> => {
    if (gold === undefined) return usedPaths
    const members = isObject(fromText(gold.get(value, isTextual))) ? goldMembers : [[]]
    return [...usedPaths, ...gold.paths.flatMap((path) => members.map((member) => [...path, ...member]))]
  }
  const membersToKeep = (row: Row, record: object): ReadonlyArray<readonly [name: string, value: unknown]> => {
    if (!keepsOthers) return Object.entries(record).filter(([name]) => keep.includes(name))
    const paths = pathsOf(row)
    return Object.entries(record).flatMap(([name, value]) => {
      const innerPaths = keep.includes(name) ? [] : insideOf(paths, name)
      const rest =
        innerPaths.length === 0 ? value : restOf(row.isTextual === true ? fromText(value) : value, innerPaths)
      return rest === undefined ? [] : [[name, rest] as const]
    })
  }
  return {
    columns: keepsOthers ? undefined : [...(metadata?.columns ?? []), ...keep],
    listsOf: ({ paths }) =>
      paths.map(listAt).filter(([member]) => keepsOthers || (typeof member === "string" && keep.includes(member))),
    of: (row) => {
      const { isTextual, value } = row
      const ownMetadata =
        metadata === undefined
          ? Result.succeed(undefined)
          : ItemDecoder.decodeMetadata(metadata.get(value, isTextual), metadata.name)
      return keep.length === 0 || !isObject(value)
        ? ownMetadata
        : Result.flatMap(ownMetadata, (metadata) => add(metadata ?? {}, membersToKeep(row, value)))
    },
  }
}

export const columnsWith = (
  fields: ReadonlyArray<Field | undefined>,
  { columns }: MetadataReader,
): ReadonlyArray<string> | undefined =>
  columns && [...new Set([...fields.flatMap((field) => field?.columns ?? []), ...columns])]

type Path = ReadonlyArray<Step>

const listAt = (path: Path): ReadonlyArray<string | number> => {
  const elements = path.indexOf(null)
  return (elements === -1 ? path : path.slice(0, elements)).filter((step) => step !== null)
}

const goldMembers = [["best_completion_index"], ["rationale"]]

const insideOf = (paths: ReadonlyArray<Path>, key: string | number): ReadonlyArray<Path> =>
  paths.flatMap(([step, ...rest]) => (step === key || (step === null && typeof key === "number") ? [rest] : []))

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
    const remainder = restOf(member, insideOf(paths, name))
    return remainder === undefined ? [] : [[name, remainder] as const]
  })
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const add = (
  metadata: Metadata,
  members: ReadonlyArray<readonly [name: string, value: unknown]>,
): Result.Result<Metadata, string> => {
  for (const [name, value] of members) {
    const path = FieldPath.format([name])
    const problem = describeJsonProblem(value, path)
    if (problem !== undefined) return Result.fail(problem)
    if (Object.hasOwn(metadata, name) && !isSame(metadata[name], value)) {
      return Result.fail(
        `${path}: the metadata already has a different value under this name; rename one of the two fields`,
      )
    }
  }
  return Result.succeed(Object.fromEntries([...Object.entries(metadata), ...members]))
}

export interface MergedMetadata {
  readonly metadata: Metadata | undefined
  readonly lists: ReadonlyArray<string>
}

export const merge = (parts: ReadonlyArray<Metadata | undefined>): MergedMetadata => {
  if (parts.every((one) => one === undefined)) return { metadata: undefined, lists: [] }
  const lists: Array<string> = []
  const valueOf = (name: string): unknown => {
    const values = parts.map((one) => (one !== undefined && Object.hasOwn(one, name) ? one[name] : null))
    if (values.every((value) => isSame(value, values[0]))) return values[0]
    lists.push(name)
    return values
  }
  const names = new Set(parts.flatMap((one) => Object.keys(one ?? {})))
  return { metadata: Object.fromEntries([...names].map((name) => [name, valueOf(name)])), lists }
}

export const withCompletions = (
  metadata: Metadata | undefined,
  parts: ReadonlyArray<Metadata | undefined>,
): Result.Result<MergedMetadata, string> => {
  const { lists, metadata: merged } = merge(parts)
  if (merged === undefined) return Result.succeed({ metadata, lists })
  const itemMetadata = metadata ?? {}
  const nameOf = (name: string) =>
    Object.hasOwn(itemMetadata, name) && !isSame(itemMetadata[name], merged[name]) ? `completions[].${name}` : name
  const members = Object.entries(merged).map(([name, value]) => [nameOf(name), value] as const)
  return Result.map(add(itemMetadata, members), (metadata) => ({ metadata, lists: lists.map(nameOf) }))
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

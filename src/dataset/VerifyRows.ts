/**
 * Reads a dataset's rows back from every file and compares them.
 *
 * Guarantees: each line of JSON Lines is compared as text with the serialized Parquet row, so no difference is missed.
 */
import { Effect, Option, Path, Record, Schema, Stream } from "effect"
import type { SchemaElement } from "hyparquet"
import { type Split, splits } from "../domain/Split.ts"
import * as Sha256 from "../node/Sha256.ts"
import { featuresOf } from "./Columns.ts"
import type { Finding } from "./file/Finding.ts"
import * as Findings from "./Findings.ts"
import type { Feature, Features, Json, JsonRow } from "./file/Features.ts"
import type { TrainerFormat } from "./format/TrainerFormat.ts"
import { formats } from "./format/TrainerFormats.ts"
import * as EncodedRow from "./file/EncodedRow.ts"
import * as JsonLine from "./file/JsonLine.ts"
import * as Validate from "./format/Validate.ts"
import type { DatasetFile, Manifest } from "./Manifest.ts"
import * as Parquet from "./file/Parquet.ts"
import * as ReadBack from "./file/ReadBack.ts"

/** Checks the rows of the files that are `intact`. */
export const check = Effect.fnUntraced(function* (
  directory: string,
  manifest: Manifest,
  intact: ReadonlyArray<DatasetFile>,
  findings: Findings.Findings,
) {
  const sizes = new Map(manifest.splits.map(({ rows, split }) => [split, rows]))
  const bySize = splits
    .filter((split) => sizes.has(split))
    .toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0))
  const prompts = promptsOf(bySize, findings)
  for (const split of bySize) {
    const shards = intact.filter(({ path }) => path.startsWith(`data/${split}-`))
    for (const shard of shards) {
      const lines = intact.find(({ path }) => path === linesOf(shard.path))
      yield* compareShard(directory, shard, lines, featuresOf(manifest), findings, (row, at) =>
        prompts(split, shard.path, row, at),
      )
    }
  }
  for (const { format } of manifest.formats) {
    const files = intact.filter(({ path, rows }) => path.startsWith(`formats/${format}/`) && rows !== null)
    // The rows of a custom format cannot be checked.
    const known = Object.values(formats).find(({ name }) => name === format)
    if (known === undefined) continue
    for (const file of files) yield* checkTrainerFile(directory, file, known, findings)
  }
})

const linesOf = (path: string) => path.replace(/^data\//, "jsonl/").replace(/\.parquet$/, ".jsonl")

/** Remembers the prompts of all splits but the last, and reports those that occur in another split. */
const promptsOf = (order: ReadonlyArray<Split>, findings: Findings.Findings) => {
  const seen = new Map<string, Split>()
  const last = order.at(-1)
  return (split: Split, file: string, row: JsonRow, at: number) => {
    if (order.length < 2) return
    const prompt = Sha256.hex(JSON.stringify(row["prompt"]))
    const other = seen.get(prompt)
    if (other !== undefined && other !== split) {
      const found = `one that is in ${other}, too: ${Findings.describe(row["prompt"])}`
      findings.add({ file, row: at, field: "prompt", expected: "a prompt of this split alone", found })
    } else if (split !== last) seen.set(prompt, split)
  }
}

/** Opens a Parquet file and reports columns that differ from the declared ones. */
const openParquet = Effect.fnUntraced(function* (
  directory: string,
  { path: file, rows }: DatasetFile,
  features: Features,
  findings: Findings.Findings,
) {
  const paths = yield* Path.Path
  const parquet = yield* ReadBack.parquet(paths.join(directory, file))
  const { key_value_metadata, num_rows, schema } = parquet.metadata
  const compare = (field: string, expected: unknown, found: unknown) => {
    const [one, other] = [JSON.stringify(expected), JSON.stringify(found)]
    if (one !== other) findings.add({ file, field, expected: one, found: other ?? "nothing" })
  }
  if (Number(num_rows) !== rows) findings.add({ file, expected: `${rows} rows`, found: `${num_rows}` })
  compare("schema", Parquet.schemaOf(features).map(columnOf), schema.map(columnOf))
  const [declared] = Parquet.keyValues(features)
  compare("huggingface", declared?.value, key_value_metadata?.find(({ key }) => key === declared?.key)?.value)
  return parquet
})

const columnOf = ({ name, num_children, repetition_type, type }: SchemaElement) =>
  [name, type, repetition_type, num_children].filter((part) => part !== undefined && part !== "REQUIRED").join(" ")

/** Reads a shard, and the one with the same rows in the other form where it is there. */
const compareShard = Effect.fnUntraced(
  function* (
    directory: string,
    shard: DatasetFile,
    jsonl: DatasetFile | undefined,
    features: Features,
    findings: Findings.Findings,
    look: (row: JsonRow, at: number) => void,
  ) {
    const paths = yield* Path.Path
    const { rows } = yield* openParquet(directory, shard, features, findings)
    let at = 0
    if (jsonl === undefined) {
      yield* Stream.runForEachArray(rows, (chunk) => Effect.sync(() => chunk.forEach((row) => look(row, ++at))))
      return
    }
    const lineOf = JsonLine.make(features)
    const encode = EncodedRow.encoder()
    const isFlat = !Record.some(features, hasNestedLists)
    const compare = (row: JsonRow, line: string) => {
      at++
      look(row, at)
      if (lineOf(encode(isFlat ? row : complete(row, features))) !== line)
        findings.add({ file: jsonl.path, row: at, ...differenceOf(row, line) })
    }
    yield* Stream.zipWithArray(rows, ReadBack.lines(paths.join(directory, jsonl.path)), (left, right) => {
      const length = Math.min(left.length, right.length)
      for (let i = 0; i < length; i++) compare(left[i]!, right[i]!)
      return [[length], left.slice(length), right.slice(length)]
    }).pipe(Stream.runDrain)
  },
  Effect.scoped,
  (effect, _, { path }, __, ___, findings) => unreadableIn(effect, path, findings),
)

/** Whether it is a list of structs with lists, of which the reader leaves out those that are null. */
const hasNestedLists = (feature: Feature): boolean =>
  typeof feature === "object" &&
  "list" in feature &&
  typeof feature.list === "object" &&
  "struct" in feature.list &&
  Record.some(feature.list.struct, (member) => typeof member === "object")

/** A row with null for each member that is missing. */
const complete = (row: JsonRow, features: Features): JsonRow =>
  Record.map(features, (feature, name) => completeValue(row[name] ?? null, feature))

const isStruct = (value: Json): value is JsonRow => typeof value === "object" && value !== null && !Array.isArray(value)

const completeValue = (value: Json, feature: Feature): Json => {
  if (typeof feature === "string" || value === null) return value
  if ("list" in feature) {
    return Array.isArray(value) ? value.map((element: Json) => completeValue(element, feature.list)) : value
  }
  return isStruct(value)
    ? Record.map(feature.struct, (member, name): Json => completeValue(value[name] ?? null, member))
    : value
}

const parseRow = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** The first column in which a line of JSON Lines is not what Parquet holds. */
const differenceOf = (row: JsonRow, line: string): Pick<Finding, "field" | "expected" | "found"> => {
  const parsed = parseRow(line)
  if (Option.isNone(parsed)) return { field: null, expected: "a JSON object", found: Findings.describe(line) }
  const isSame = (column: string) => JSON.stringify(row[column]) === JSON.stringify(parsed.value[column])
  const field = [...Object.keys(row), ...Object.keys(parsed.value)].find((column) => !isSame(column))
  return field === undefined
    ? { field: null, expected: "the columns in their order", found: "another order, or spaces between them" }
    : {
        field,
        expected: `what Parquet holds, ${Findings.describe(row[field])}`,
        found: Findings.describe(parsed.value[field]),
      }
}

const unreadableIn = <R>(
  effect: Effect.Effect<void, ReadBack.Unreadable, R>,
  file: string,
  findings: Findings.Findings,
) =>
  Effect.catchTag(effect, "Unreadable", ({ why }) =>
    Effect.sync(() => findings.add({ file, expected: "rows that can be read", found: why.replace(/\s+/g, " ") })),
  )

/** What trainers need of the rows of one file. */
const checkTrainerFile = Effect.fnUntraced(
  function* (directory: string, file: DatasetFile, format: TrainerFormat, findings: Findings.Findings) {
    const paths = yield* Path.Path
    const path = paths.join(directory, file.path)
    if (format.container === "parquet") yield* openParquet(directory, file, format.features(), findings)
    yield* Stream.runForEachArray(Validate.validate(format, path), (found) =>
      Effect.sync(() => {
        for (const finding of found) {
          if (finding.severity === "error") findings.add({ ...finding, file: file.path })
        }
      }),
    ).pipe(Effect.mapError(ReadBack.unreadable))
  },
  Effect.scoped,
  (effect, _, { path }, __, findings) => unreadableIn(effect, path, findings),
)

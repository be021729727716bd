/** Compares the lines of JSON Lines files, as text, with the rows of the Parquet files. */
import { Array as Arr, Effect, Option, Path, Schema, Sink, Stream } from "effect"
import type { SchemaElement } from "hyparquet"
import { type Split, splits } from "../domain/Split.ts"
import * as Sha256 from "../node/Sha256.ts"
import { plural } from "../io/Values.ts"
import { featuresOf } from "./Columns.ts"
import type { Finding } from "./file/Finding.ts"
import * as Findings from "./Findings.ts"
import type { Features, JsonRow } from "./file/Features.ts"
import * as InferredTypes from "./file/InferredTypes.ts"
import * as Jsonl from "./file/Jsonl.ts"
import type { TrainerFormat } from "./format/TrainerFormat.ts"
import { formats } from "./format/TrainerFormats.ts"
import * as EncodedRow from "./file/EncodedRow.ts"
import * as JsonLine from "./file/JsonLine.ts"
import * as Validate from "./format/Validate.ts"
import type { DatasetFile, Manifest } from "./Manifest.ts"
import * as Parquet from "./file/Parquet.ts"
import * as ReadBack from "./file/ReadBack.ts"

export const check = Effect.fnUntraced(function* (
  directory: string,
  manifest: Manifest,
  intact: ReadonlyArray<DatasetFile>,
  findings: Findings.Findings,
  customFormats: ReadonlyArray<TrainerFormat>,
) {
  const sizes = new Map(manifest.splits.map(({ rows, split }) => [split, rows]))
  const bySize = splits
    .filter((split) => sizes.has(split))
    .toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0))
  const prompts = promptsOf(bySize, findings)
  for (const split of bySize) {
    const shards = intact.filter(({ path }) => path.startsWith(`data/${split}-`))
    const lines = expectedLines(featuresOf(manifest))
    for (const shard of shards) {
      const jsonl = intact.find(({ path }) => path === linesOf(shard.path))
      yield* compareShard(directory, shard, jsonl, lines, findings, (row, at) => prompts(split, shard.path, row, at))
    }
    for (const line of lines.leading ?? []) {
      const file = linesOf(shards[0]!.path)
      findings.add({
        file,
        expected: "a line that matches a row in the Parquet files",
        found: Findings.describe(line),
      })
    }
  }
  for (const { format } of manifest.formats) {
    const files = intact.filter(({ path, rows }) => path.startsWith(`formats/${format}/`) && rows !== null)
    const trainerFormat = [...Object.values(formats), ...customFormats].find(({ name }) => name === format)
    if (trainerFormat === undefined) {
      findings.add({
        file: `formats/${format}`,
        expected: "a built-in format, or a custom format in the option `formats`",
        found: "an unknown format, so the rows in this folder were not checked",
        severity: "warning",
      })
      continue
    }
    for (const file of files) yield* checkTrainerFile(directory, file, trainerFormat, findings)
  }
})

const linesOf = (path: string) => path.replace(/^data\//, "jsonl/").replace(/\.parquet$/, ".jsonl")

const promptsOf = (order: ReadonlyArray<Split>, findings: Findings.Findings) => {
  const seen = new Map<string, Split>()
  const last = order.at(-1)
  return (split: Split, file: string, row: JsonRow, at: number) => {
    if (order.length < 2) return
    const prompt = Sha256.hex(JSON.stringify(row["prompt"]))
    const other = seen.get(prompt)
    if (other !== undefined && other !== split) {
      const description = `a prompt that is also in ${other}: ${Findings.describe(row["prompt"])}`
      findings.add({
        file,
        row: at,
        field: "prompt",
        expected: "a prompt that is in no other split",
        found: description,
      })
    } else if (split !== last) seen.set(prompt, split)
  }
}

const openParquet = Effect.fnUntraced(function* (
  directory: string,
  { path: file, rows }: DatasetFile,
  features: Features,
  findings: Findings.Findings,
) {
  const paths = yield* Path.Path
  const parquet = yield* ReadBack.parquet(paths.join(directory, file))
  const { key_value_metadata, num_rows, schema } = parquet.metadata
  const compare = (field: string, expected: unknown, actual: unknown) => {
    const [one, other] = [JSON.stringify(expected), JSON.stringify(actual)]
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

interface ExpectedLines {
  readonly features: Features
  readonly encode: (row: JsonRow) => {
    readonly row: JsonRow
    readonly columns: EncodedRow.Members
    readonly line: string
  }
  readonly misfit: ReturnType<typeof InferredTypes.inOrder>
  leading?: Set<string>
}

const expectedLines = (features: Features): ExpectedLines => {
  const lineOf = JsonLine.make(features)
  const encode = EncodedRow.encoder()
  return {
    features,
    misfit: InferredTypes.inOrder(features),
    encode: (row) => {
      const present = ReadBack.withoutNulls(row)
      const encoded = encode(present)
      return { row: present, columns: encoded.columns, line: lineOf(encoded) }
    },
  }
}

const leadingLines = Effect.fnUntraced(function* (path: string, first: string) {
  const start = yield* Stream.runCollect(Stream.take(ReadBack.lines(path), Jsonl.maxLeadingLines + 1))
  return start.slice(0, Math.max(0, start.indexOf(first)))
})

const compareShard = Effect.fnUntraced(
  function* (
    directory: string,
    shard: DatasetFile,
    jsonl: DatasetFile | undefined,
    expected: ExpectedLines,
    findings: Findings.Findings,
    onRow: (row: JsonRow, at: number) => void,
  ) {
    const paths = yield* Path.Path
    const { rows } = yield* openParquet(directory, shard, expected.features, findings)
    let at = 0
    // The first row is peeled off, because reading it separately would decode the first row group twice.
    const [start, rest] = yield* Stream.peel(rows, Sink.take(1))
    const visitedRows = Stream.concat(Stream.fromArray(start), rest).pipe(
      Stream.mapArray(Arr.map((row) => (onRow(row, ++at), row))),
    )
    if (jsonl === undefined) return yield* Stream.runDrain(visitedRows)
    const path = paths.join(directory, jsonl.path)
    let line = 0
    const check = (columns: JsonRow | EncodedRow.Members, text: string) => {
      line++
      const field = expected.misfit(columns, text)
      if (field !== undefined) {
        findings.add({
          file: jsonl.path,
          row: line,
          field,
          expected: InferredTypes.expected,
          found: "a type or object member that first occurs later",
        })
      }
    }
    if (expected.leading === undefined) {
      const [first] = start
      const leading = first === undefined ? [] : yield* leadingLines(path, expected.encode(first).line)
      expected.leading = new Set(leading)
      for (const text of leading)
        check(
          Option.getOrElse(parseRow(text), () => ({})),
          text,
        )
    }
    const { leading } = expected
    const others = visitedRows.pipe(
      Stream.mapArray(Arr.map(expected.encode)),
      Stream.filter(({ line }) => !leading.delete(line)),
    )
    const compare = ({ columns, line: expectedLine, row }: ReturnType<ExpectedLines["encode"]>, text: string) => {
      check(columns, text)
      if (expectedLine !== text) findings.add({ file: jsonl.path, row: line, ...differenceOf(row, text) })
    }
    yield* Stream.zipWithArray(others, Stream.drop(ReadBack.lines(path), line), (left, right) => {
      const length = Math.min(left.length, right.length)
      for (let i = 0; i < length; i++) compare(left[i]!, right[i]!)
      return [[length], left.slice(length), right.slice(length)]
    }).pipe(Stream.runDrain)
  },
  Effect.scoped,
  (effect, _, { path }, __, ___, findings) => unreadableIn(effect, path, findings),
)

const parseRow = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

const differenceOf = (row: JsonRow, line: string): Pick<Finding, "field" | "expected" | "found"> => {
  const parsed = parseRow(line)
  if (Option.isNone(parsed)) return { field: null, expected: "a JSON object", found: Findings.describe(line) }
  const isSame = (column: string) => JSON.stringify(row[column]) === JSON.stringify(parsed.value[column])
  const field = [...Object.keys(row), ...Object.keys(parsed.value)].find((column) => !isSame(column))
  return field === undefined
    ? {
        field: null,
        expected: "compact JSON, without extra spaces, and with the columns in the dataset's order",
        found: "the same values in another order or notation",
      }
    : {
        field,
        expected: `the value in Parquet, ${Findings.describe(row[field])}`,
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

const checkTrainerFile = Effect.fnUntraced(
  function* (directory: string, file: DatasetFile, format: TrainerFormat, findings: Findings.Findings) {
    const paths = yield* Path.Path
    const path = paths.join(directory, file.path)
    if (format.container === "parquet") yield* openParquet(directory, file, format.features(), findings)
    const warnings = new Map<string, { readonly first: Finding; rows: number; last: number | null }>()
    const warn = (finding: Finding) => {
      const kind = `${finding.field?.replaceAll(/\[\d+\]/g, "")} ${finding.expected}`
      const warning = warnings.get(kind) ?? { first: finding, rows: 0, last: null }
      if (finding.row !== warning.last) warning.rows++
      warning.last = finding.row
      warnings.set(kind, warning)
    }
    yield* Stream.runForEachArray(Validate.validate(format, path), (batch) =>
      Effect.sync(() => {
        for (const finding of batch) {
          if (finding.severity === "error") findings.add({ ...finding, file: file.path })
          else warn(finding)
        }
      }),
    ).pipe(Effect.mapError(ReadBack.unreadable))
    for (const { first, rows } of warnings.values()) {
      const description = `${first.found} (${plural(rows, "the only row with this problem", `the first of ${rows} rows with this problem`)})`
      findings.add({ ...first, file: file.path, found: description })
    }
  },
  Effect.scoped,
  (effect, _, { path }, __, findings) => unreadableIn(effect, path, findings),
)

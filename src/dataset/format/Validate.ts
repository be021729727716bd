/** Reports, in file order, the rows that the trainer would misread or fail on. Does not check lengths in tokens. */
import { Array, Effect, FileSystem, type PlatformError, Result, Schema, SchemaIssue, Stream } from "effect"
import type { Features, JsonRow } from "../file/Features.ts"
import type { Problem, TrainerFormat } from "./TrainerFormat.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { expectedOf, keysOf } from "../../io/SchemaIssues.ts"
import { describeValue } from "../../io/Values.ts"
import type { Finding } from "../file/Finding.ts"
import * as InferredTypes from "../file/InferredTypes.ts"
import * as Json from "../../io/Json.ts"
import * as Lines from "../../io/Lines.ts"
import * as ReadBack from "../file/ReadBack.ts"

/** Reports the rows that the format's trainer would misread or fail on. Fails if the file cannot be read. */
export const validate = (
  format: TrainerFormat,
  path: string,
): Stream.Stream<Finding, PlatformError.PlatformError, FileSystem.FileSystem> =>
  readRows(path).pipe(
    Stream.mapAccumArray(
      () => rowCheck(format),
      (check, rows) => [
        check,
        rows.flatMap((row) =>
          check(row).map((problem) => ({ ...problem, file: path, row: row.line, field: problem.field || null })),
        ),
      ],
    ),
  )

type Graded = Problem & Pick<Finding, "severity">

const graded =
  (severity: Finding["severity"]) =>
  (problem: Problem): Graded => ({ ...problem, severity })

const rowCheck = (format: TrainerFormat) => {
  const decode = Schema.decodeUnknownResult(format.row, { errors: "all", onExcessProperty: "error" })
  const columnsCheck = sameColumns()
  const features = format.features({ margin: true })
  const numbersCheck = sameNumbers(features)
  const misfit = InferredTypes.inOrder(features)
  const typesCheck = (row: JsonRow, text: string): ReadonlyArray<Problem> => {
    const field = text === "" ? undefined : misfit(row, text)
    return field === undefined
      ? []
      : [{ field, expected: InferredTypes.expected, found: "a type or object member that first occurs later" }]
  }
  const acrossRows = format.acrossRows?.() ?? (() => [])
  return ({ row, text }: NumberedRow): ReadonlyArray<Graded> => {
    if (Result.isFailure(row)) return [{ field: "", expected: "a JSON object", found: row.failure, severity: "error" }]
    const decoded = decode(row.success)
    if (Result.isFailure(decoded)) return problemsOf(decoded.failure.issue, row.success).map(graded("error"))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of every format is a struct
    const validRow = row.success as JsonRow
    return [
      ...columnsCheck(validRow).map(graded("error")),
      ...numbersCheck(validRow, text).map(graded("error")),
      ...typesCheck(validRow, text).map(graded("error")),
      ...acrossRows(validRow).map(graded("warning")),
      ...(format.warnings?.(validRow) ?? []).map(graded("warning")),
    ]
  }
}

/** If a row lacks a column, `load_dataset` fills the gap with a null. Trainers fail on nulls. */
const sameColumns = () => {
  let first: ReadonlyArray<string> | undefined
  return (row: JsonRow): ReadonlyArray<Problem> => {
    const columns = Object.keys(row)
    first ??= columns
    const expected = first
    return [
      ...expected.filter((column) => !columns.includes(column)).map((field) => ({ field, found: "nothing" })),
      ...columns.filter((column) => !expected.includes(column)).map((field) => ({ field, found: "a value" })),
    ].map((problem) => ({ ...problem, expected: `the columns of the first row (${expected.join(", ")})` }))
  }
}

const sameNumbers = (features: Features) => {
  const columns = Object.keys(features).filter((column) => features[column] === "float64")
  const whole = new Set<string>()
  return (row: JsonRow, text: string): ReadonlyArray<Problem> =>
    columns.flatMap((field) => {
      const value = row[field]
      if (typeof value !== "number" || text === "") return []
      if (new RegExp(`(?<!\\\\)"${field}"\\s*:\\s*-?\\d+\\s*[,}]`).test(text)) whole.add(field)
      return Number.isInteger(value) || !whole.has(field)
        ? []
        : [
            {
              field,
              expected:
                "a whole number, because earlier rows have whole numbers in this column (to use fractions, write whole numbers with a decimal point, such as 1.0)",
              found: describeValue(value),
            },
          ]
    })
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => expectedOf(issue) ?? SchemaIssue.defaultLeafHook(issue),
})

const problemsOf = (issue: SchemaIssue.Issue, row: unknown): ReadonlyArray<Problem> =>
  formatIssue(issue).issues.map(({ message, path }) => {
    const keys = keysOf(path)
    return { field: FieldPath.format(keys), expected: message, found: describeValue(valueAt(row, keys)) }
  })

const valueAt = (row: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    row,
  )

interface NumberedRow {
  readonly line: number
  readonly text: string
  readonly row: Result.Result<unknown, string>
}

/** Reads rows unchanged and in order. Memory holds one chunk and the longest line, or one Parquet row group. */
const readRows = (path: string) => (path.endsWith(".parquet") ? readParquet(path) : readLines(path))

const readLines = (path: string) =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(path)),
    Stream.unwrap,
    Lines.fromBytes(path, { maxLineBytes: Infinity, isVerbatim: true }),
    Stream.mapArray(Array.map(toRow)),
  )

const toRow = (line: Lines.LineResult): NumberedRow => {
  if (Result.isFailure(line)) return failedRow(line.failure.line ?? 0, "bytes that are not UTF-8")
  const { number, text } = line.success
  const row = Result.mapError(Json.parse(text), (problem) =>
    text.trim() === "" ? "an empty line" : `invalid JSON (${problem})`,
  )
  return { line: number, text, row }
}

const readParquet = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.access(path)
    const { rows } = yield* ReadBack.parquet(path)
    return Stream.mapAccumArray(
      rows,
      () => 0,
      (count, rows) => [
        count + rows.length,
        rows.map((row, i): NumberedRow => ({ line: count + i + 1, text: "", row: Result.succeed(row) })),
      ],
    )
  }).pipe(
    Stream.unwrap,
    Stream.catchTag("Unreadable", ({ why }) =>
      Stream.succeed(failedRow(1, `a file that cannot be read as Parquet: ${why}`)),
    ),
  )

const failedRow = (line: number, problem: string): NumberedRow => ({ line, text: "", row: Result.fail(problem) })

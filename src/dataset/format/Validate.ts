/** Reports, in file order, the rows that the trainer would fail on or misread. Does not check lengths in tokens. */
import { type FileSystem, type PlatformError, Result, Schema, SchemaIssue, Stream } from "effect"
import type { Features, JsonRow } from "../file/Features.ts"
import type { Problem, TrainerFormat } from "./TrainerFormat.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { expectedOf, keysOf } from "../../io/SchemaIssues.ts"
import { describeValue } from "../../io/Values.ts"
import type { Finding } from "../file/Finding.ts"
import * as InferredTypes from "../file/InferredTypes.ts"
import * as RowFile from "./RowFile.ts"

/** Reports the rows that the format's trainer would fail on or misread. Fails if the file cannot be read. */
export const validate = (
  format: TrainerFormat,
  path: string,
): Stream.Stream<Finding, PlatformError.PlatformError, FileSystem.FileSystem> =>
  RowFile.read(path).pipe(
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
    return field === undefined ? [] : [{ field, expected: InferredTypes.expected, found: "other types or members" }]
  }
  const acrossRows = format.acrossRows?.() ?? (() => [])
  return ({ row, text }: RowFile.NumberedRow): ReadonlyArray<Graded> => {
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

/** `load_dataset` reads a missing column as null, at which trainers fail. */
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
              expected: "a whole number (as in earlier rows), or numbers with a decimal point in all rows",
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

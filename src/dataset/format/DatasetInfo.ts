/**
 * `dataset_info.json`, from which LLaMA-Factory knows the data sets of a folder: read back, and
 * held against the files that it names.
 */
import { Effect, FileSystem, Option, Path, Result, Schema, Stream } from "effect"
import { Finding } from "./Finding.ts"
import { describeValue } from "../../io/Values.ts"
import * as RowFile from "./RowFile.ts"

const Entries = Schema.fromJsonString(
  Schema.Record(
    Schema.String,
    Schema.Struct({
      file_name: Schema.String,
      formatting: Schema.optionalKey(Schema.Literals(["alpaca", "sharegpt"])),
      ranking: Schema.optionalKey(Schema.Boolean),
      columns: Schema.Record(Schema.String, Schema.String),
    }),
  ),
)

/**
 * Reads a `dataset_info.json` back, and finds entries whose file is not there, or whose columns
 * the file's first row does not have. Fails where a file can't be read.
 */
export const validate = Effect.fn("DatasetInfo.validate")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const finding = (field: string, expected: string, found: string) =>
    new Finding({ file: path, line: 1, field, expected, found, severity: "error" })
  const text = yield* fs.readFileString(path)
  const entries = yield* Effect.option(Schema.decodeUnknownEffect(Entries)(text))
  if (Option.isNone(entries)) return [finding("", "entries with file_name and columns", describeValue(text))]
  const findings: Array<Finding> = []
  for (const [name, { columns, file_name }] of Object.entries(entries.value)) {
    const file = paths.join(paths.dirname(path), file_name)
    if (!(yield* fs.exists(file))) {
      findings.push(finding(`${name}.file_name`, "a file that is there", describeValue(file_name)))
      continue
    }
    const row = Option.flatMap(yield* Stream.runHead(RowFile.read(file)), ({ row }) => Result.getSuccess(row))
    if (Option.isNone(row)) continue
    for (const [role, column] of Object.entries(columns)) {
      if (!Object.hasOwn(Object(row.value), column))
        findings.push(finding(`${name}.columns.${role}`, `a column of ${file_name}`, describeValue(column)))
    }
  }
  return findings
})

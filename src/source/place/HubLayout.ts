/**
 * Finds data files as `datasets.load_dataset` does: the files that the card lists (`configs`), otherwise files with a
 * split's name in their folder or name, otherwise all files. Several configurations without a default are refused.
 */
import { Glob, Result, Schema } from "effect"
import * as SchemaIssues from "../../io/SchemaIssues.ts"
import * as FileExtensions from "./FileExtensions.ts"

const Paths = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** See https://huggingface.co/docs/hub/datasets-manual-configuration */
const Configuration = Schema.Struct({
  config_name: Schema.String,
  default: Schema.optionalKey(Schema.Boolean),
  data_dir: Schema.optionalKey(Schema.String),
  data_files: Schema.optionalKey(
    Schema.Union([Paths, Schema.Array(Schema.Struct({ split: Schema.String, path: Paths }))]),
  ),
})
type Configuration = typeof Configuration.Type

const Card = Schema.NullishOr(Schema.Struct({ configs: Schema.optionalKey(Schema.Array(Configuration)) }))
const decodeCard = Schema.decodeUnknownResult(Card, { reportInput: true })

export const dataFiles = (
  paths: ReadonlyArray<string>,
  card: unknown,
): Result.Result<ReadonlyArray<string>, string> => {
  const decoded = decodeCard(card)
  if (Result.isFailure(decoded)) {
    const problem = SchemaIssues.describe(decoded.failure.issue)
    return Result.fail(
      `README.md: ${problem}; correct README.md, or choose the files yourself, such as DATASET/data/*.parquet`,
    )
  }
  const configurations = decoded.success?.configs ?? []
  const configuration =
    configurations.length > 1
      ? (configurations.find((one) => one.default) ??
        configurations.find(({ config_name }) => config_name === "default"))
      : configurations[0]
  if (configuration === undefined && configurations.length > 1) {
    const examples = configurations
      .slice(0, 5)
      .map((one) => `${one.config_name} (${patternsOf(one)[0] ?? "its folder"})`)
    return Result.fail(
      `the dataset has ${configurations.length} configurations, and none is the default; append the path of one configuration's files to the dataset's name: ${examples.join(", ")}`,
    )
  }
  const folder = configuration?.data_dir === undefined ? "" : `${normalize(configuration.data_dir).replace(/\/$/, "")}/`
  const candidates = paths.filter((path) => path.startsWith(folder)).toSorted()
  const patterns = configuration === undefined ? [] : patternsOf(configuration)
  const files =
    patterns.length === 0
      ? defaultFiles(candidates.filter(isVisible))
      : patterns.flatMap((pattern) => {
          const glob = Glob.make(pattern)
          return candidates.filter((path) => path === pattern || (isVisible(path) && Glob.match(glob, path)))
        })
  const readable = [...new Set(files)].filter((path) => FileExtensions.formatOf(path) !== undefined)
  return readable.length === 0
    ? Result.fail(
        "no JSON Lines, JSON, CSV, TSV, or Parquet files; to read the Hub's copy in Parquet, append @refs/convert/parquet to the dataset's name",
      )
    : Result.succeed(readable)
}

const normalize = (pattern: string): string => pattern.replace(/^(\.?\/)+/, "")

const patternsOf = ({ data_dir, data_files = [] }: Configuration): ReadonlyArray<string> =>
  [data_files]
    .flat()
    .flatMap((entry) => (typeof entry === "string" ? entry : entry.path))
    .map((pattern) => normalize(`${data_dir ?? ""}/${normalize(pattern)}`))

const isVisible = (path: string): boolean =>
  !/(^|\/)(\.|__)/.test(path) && FileExtensions.isDataFile(path.replace(/^.*\//, ""))

const separator = "[-._ 0-9]"
const split = `(?:train|training|validation|valid|dev|val|test|testing|eval|evaluation)`

/** See https://huggingface.co/docs/hub/datasets-file-names-and-splits */
const layouts: ReadonlyArray<RegExp> = [
  /^data\/[^/]+-\d{5}-of-\d{5}[^/]*$/,
  new RegExp(`(?:^|/)(?:[^/]*${separator})?${split}(?:${separator}[^/]*)?/`),
  new RegExp(`(?:^|/)(?:[^/]*${separator})?${split}${separator}[^/]*$`),
  /^/,
]

const defaultFiles = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const layout = layouts.find((layout) => paths.some((path) => layout.test(path)))
  const files = paths.filter((path) => layout?.test(path))
  const counts = Map.groupBy(files, FileExtensions.formatOf)
  const [format] = [...counts].toSorted(
    ([a, as], [b, bs]) => bs.length - as.length || Number(b === "parquet") - Number(a === "parquet"),
  )
  return format?.[1] ?? []
}

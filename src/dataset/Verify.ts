/** Checks a dataset against its manifest, and its files against each other, but not its rows against the ledger. */
import { Effect, FileSystem, Option, Path, Schema, Struct } from "effect"
import * as Kinds from "../io/SettingKinds.ts"
import * as Card from "./Card.ts"
import type { Finding } from "./file/Finding.ts"
import * as Findings from "./Findings.ts"
import type { FormatName, TrainerFormat } from "./format/TrainerFormats.ts"
import * as Manifest from "./Manifest.ts"
import * as ReadBack from "./file/ReadBack.ts"
import * as Read from "./Read.ts"
import { formatsKind } from "./TrainerFiles.ts"
import * as VerifyRows from "./VerifyRows.ts"

/** The result of `verify`: findings, and what was checked. */
export interface Verification {
  /** The directory as the caller wrote it. */
  readonly directory: string
  /** Number of preference pairs in the manifest. */
  readonly rows: number
  /** Number of files in the manifest, without the manifest itself. */
  readonly files: number
  /** The problems. An intact dataset has no errors. Warnings are for misread rows and for unchecked custom formats. */
  readonly findings: ReadonlyArray<Finding>
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** The custom formats whose rows are checked. `formats` of `write` can be passed unchanged. Default: none. */
  readonly formats?: ReadonlyArray<FormatName | TrainerFormat> | undefined
}

/** Verifies a dataset. Never fails: a file that cannot be read is a finding. */
export const verify: (
  directory: string,
  options?: VerifyOptions,
) => Effect.Effect<Verification, never, FileSystem.FileSystem | Path.Path> = Effect.fn("Dataset.verify")(function* (
  directory,
  options = {},
) {
  const findings = Findings.make()
  const wrong = Kinds.wrongIn(options, { formats: formatsKind })
  if (wrong !== undefined) {
    findings.add({ ...Struct.pick(wrong, ["expected", "found"]), file: wrong.setting })
    return { directory, rows: 0, files: 0, findings: findings.all() }
  }
  const custom = (options.formats ?? []).filter((format) => typeof format !== "string")
  const manifest = yield* Read.manifest(directory).pipe(
    Effect.tapError((failure) =>
      Effect.sync(() => findings.add({ ...Struct.pick(failure, ["expected", "found"]), file: Manifest.fileName })),
    ),
    Effect.option,
  )
  if (Option.isNone(manifest)) return { directory, rows: 0, files: 0, findings: findings.all() }
  const { files, rows } = manifest.value
  yield* checkEntries(directory, manifest.value, findings)
  const intact: Array<Manifest.DatasetFile> = []
  for (const file of files) if (yield* isIntact(directory, file, findings)) intact.push(file)
  checkCounts(manifest.value, findings)
  yield* VerifyRows.check(directory, manifest.value, intact, findings, custom)
  const isPresent = (name: string) => intact.some(({ path }) => path === name)
  if (isPresent(Card.fileName)) yield* checkCard(directory, manifest.value, findings)
  if (isPresent(reportFile)) yield* checkFunnel(directory, manifest.value, findings)
  return { directory, rows, files: files.length, findings: findings.all() }
})

const checkEntries = Effect.fnUntraced(function* (
  directory: string,
  manifest: Manifest.Manifest,
  findings: Findings.Findings,
) {
  const fs = yield* FileSystem.FileSystem
  const entries = yield* Effect.orElseSucceed(fs.readDirectory(directory, { recursive: true }), () => [])
  for (const file of Manifest.unexpectedEntries(Option.some(manifest), entries)) {
    findings.add({ file, expected: "a file that the manifest lists", found: "a file or folder that it does not list" })
  }
})

const isIntact = Effect.fnUntraced(function* (
  directory: string,
  { bytes, path: file, rows, sha256 }: Manifest.DatasetFile,
  findings: Findings.Findings,
) {
  const paths = yield* Path.Path
  const present = yield* Effect.option(ReadBack.digest(paths.join(directory, file)))
  if (Option.isNone(present)) {
    findings.add({ file, expected: `a file of ${bytes} bytes`, found: "no readable file" })
    return false
  }
  const digest = present.value
  if (digest.bytes !== bytes) findings.add({ file, expected: `${bytes} bytes`, found: `${digest.bytes}` })
  else if (digest.sha256 !== sha256) findings.add({ file, expected: `SHA-256 ${sha256}`, found: digest.sha256 })
  else if (file.endsWith(".jsonl") && digest.lines !== rows) {
    findings.add({ file, expected: `${rows} lines`, found: `${digest.lines}` })
  }
  return digest.bytes === bytes && digest.sha256 === sha256
})

const checkCounts = (manifest: Manifest.Manifest, findings: Findings.Findings) => {
  const compare = (field: string, expected: number, actual: number) => {
    if (expected !== actual) {
      findings.add({ file: Manifest.fileName, field, expected: `${expected} rows in total`, found: `${actual}` })
    }
  }
  const rowsUnder = (prefix: string) =>
    manifest.files.reduce((sum, { path, rows }) => (path.startsWith(prefix) ? sum + (rows ?? 0) : sum), 0)
  compare(
    "splits",
    manifest.rows,
    manifest.splits.reduce((sum, { rows }) => sum + rows, 0),
  )
  for (const { rows, split } of manifest.splits) {
    for (const folder of ["data", "jsonl"]) compare(`${folder}/${split}`, rows, rowsUnder(`${folder}/${split}-`))
  }
  for (const { format, rows } of manifest.formats) compare(`formats/${format}`, rows, rowsUnder(`formats/${format}/`))
}

const FrontMatter = Schema.Struct({
  dataset_info: Schema.Struct({
    splits: Schema.Array(Schema.Struct({ name: Schema.String, num_bytes: Schema.Int, num_examples: Schema.Int })),
    download_size: Schema.Int,
    dataset_size: Schema.Int,
  }),
})

const checkCard = Effect.fnUntraced(function* (
  directory: string,
  { files, splits }: Manifest.Manifest,
  findings: Findings.Findings,
) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const file = Card.fileName
  const text = yield* Effect.orElseSucceed(fs.readFileString(paths.join(directory, file)), () => "")
  const card = Option.flatMap(Card.readFrontMatter(text), Schema.decodeUnknownOption(FrontMatter))
  if (Option.isNone(card)) {
    findings.add({ file, expected: "front matter with the sizes of the splits", found: "none" })
    return
  }
  const stated = card.value.dataset_info
  const compare = (field: string, expected: unknown, actual: unknown) => {
    if (JSON.stringify(expected) !== JSON.stringify(actual)) {
      findings.add({ file, field, expected: Findings.describe(expected), found: Findings.describe(actual) })
    }
  }
  const expected = Card.sizes({ files, splits })
  compare("dataset_info.splits", expected.splits, stated.splits)
  compare("dataset_info.download_size", expected.download_size, stated.download_size)
  compare("dataset_info.dataset_size", expected.dataset_size, stated.dataset_size)
})

const reportFile = "report.json"

const Report = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.Literal("prefstream-report"),
    funnel: Schema.Array(
      Schema.Struct({
        step: Schema.String,
        count: Schema.Int,
        lost: Schema.Array(Schema.Struct({ count: Schema.Int })),
      }),
    ),
  }),
)

const checkFunnel = Effect.fnUntraced(function* (
  directory: string,
  { counts, rows }: Manifest.Manifest,
  findings: Findings.Findings,
) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const text = yield* Effect.orElseSucceed(fs.readFileString(paths.join(directory, reportFile)), () => "")
  const report = Schema.decodeUnknownOption(Report)(text)
  if (Option.isNone(report)) return
  const { funnel } = report.value
  const compare = (file: string, field: string, actual: number | undefined, expected: number, why: string) => {
    if (actual !== expected) findings.add({ file, field, expected: `${expected}${why}`, found: String(actual) })
  }
  for (const [i, { count, lost, step }] of funnel.entries()) {
    const before = funnel[i - 1]
    if (step === "pairs") compare(reportFile, "funnel.pairs", count, rows, " (as in the manifest)")
    else if (before !== undefined) {
      const gone = lost.reduce((sum, { count }) => sum + count, 0)
      const why = ` (${before.step} ${before.count} minus ${gone} lost)`
      compare(reportFile, `funnel.${step}`, count, before.count - gone, why)
    }
    if (counts !== undefined)
      compare(Manifest.fileName, `counts.${step}`, counts[step], count, ` (as in ${reportFile})`)
  }
})

/**
 * Exports a dataset, unless it is up to date. It is up to date if ledger (`Ledger.fingerprint`), settings, campaign,
 * version, manifest, and file sizes match `export.json`. An export with custom code is never skipped, because code
 * cannot be compared. Only `prefstream verify` checks the checksums. Only `force` replaces another job's dataset.
 */
import { Effect, FileSystem, Option, Schema, Struct } from "effect"
import * as Dataset from "../dataset/Dataset.ts"
import * as Manifest from "../dataset/Manifest.ts"
import * as Sha256 from "../node/Sha256.ts"
import { runtime, version } from "../node/Version.ts"
import { bestAgainstRest, isBuiltIn, settingsOf } from "../pair/PairStrategy.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import * as Export from "./Export.ts"
import * as JobFolder from "./JobFolder.ts"
import { settingNames } from "./DatasetSettings.ts"

/** Options of `exportDataset`. */
export interface ExportOptions {
  /** The campaign to write: a number or `"all"`. Default: the campaign of the last run. */
  readonly campaign?: number | "all" | undefined
  /** Whether to write the dataset even if it is up to date. Default false. */
  readonly force?: boolean | undefined
}

type Settings = Parameters<typeof Export.exportDataset>[0] & ExportOptions

/** A digest of all that the dataset depends on; none if it depends on custom code. */
const fingerprintOf = Effect.fnUntraced(function* (settings: Settings) {
  const { campaign, checks = [], formats = [], pairs = bestAgainstRest } = settings
  const hasOwnCode = !isBuiltIn(pairs) || checks.length > 0 || formats.some((format) => typeof format !== "string")
  if (hasOwnCode) return Option.none<string>()
  const ledger = yield* LedgerReader
  const which = campaign === "all" ? Option.none<number>() : yield* ledger.campaignOf(Option.fromUndefinedOr(campaign))
  // `JSON.stringify` leaves out functions. Therefore, the settings of the pair strategy replace the function `pairs`.
  const compared = { ...Struct.pick(settings, settingNames), pairs: settingsOf(pairs) }
  const state = yield* ledger.fingerprint(which)
  return Option.some(Sha256.hex(JSON.stringify([version, runtime, campaign === "all", compared, state])))
})

const ExportRecord = Schema.fromJsonString(
  Schema.Struct({
    /** A digest of the exported state. Empty if the dataset depends on custom code, which cannot be compared. */
    fingerprint: Schema.String,
    job: Schema.String,
    manifest: Schema.String,
    exported: Schema.Unknown,
  }),
)

const readRecord = (directory: string) =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(JobFolder.exported(directory))).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(ExportRecord)),
  )

/** Fails if the folder has the dataset of another job, which an export would replace. */
export const checkOwner = Effect.fnUntraced(function* (directory: string) {
  const dataset = JobFolder.dataset(directory)
  if (!(yield* (yield* FileSystem.FileSystem).exists(dataset))) return
  const { job } = yield* Effect.orElseSucceed(readRecord(directory), () => ({ job: undefined }))
  if (job === undefined || job === (yield* LedgerReader).jobName) return
  const expected = "a folder without a dataset of another job (choose another folder, or remove the dataset)"
  return yield* new SettingInvalid({ setting: "directory", expected, found: `${dataset} of job ${job}` })
})

const existing = Effect.fnUntraced(function* (directory: string, fingerprint: string) {
  const fs = yield* FileSystem.FileSystem
  const dataset = JobFolder.dataset(directory)
  const record = yield* readRecord(directory)
  const text = yield* fs.readFileString(`${dataset}/${Manifest.fileName}`)
  const manifestSha256 = Sha256.hex(text)
  if (record.fingerprint !== fingerprint || record.manifest !== manifestSha256) return Option.none<Export.Exported>()
  const manifest = yield* Manifest.decode(text)
  for (const { bytes, path } of manifest.files) {
    if (Number((yield* fs.stat(`${dataset}/${path}`)).size) !== bytes) return Option.none()
  }
  const info = {
    directory: dataset,
    ...Struct.pick(manifest, ["rows", "splits", "formats", "omitted", "files"]),
    manifestSha256,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this version wrote it, as the fingerprint tells
  const { example, leftOut, measured } = record.exported as RecordedExport
  return Option.some<Export.Exported>({
    dataset: Option.some(info),
    example: Option.fromNullishOr(example),
    leftOut,
    measured,
  })
})

type RecordedExport = Pick<Export.Exported, "leftOut" | "measured"> & {
  readonly example: Option.Option.Value<Export.Exported["example"]> | null
}

/** Failures are ignored: without this record, the next export writes the dataset again. */
const writeRecord = Effect.fnUntraced(
  function* ({ directory }: Settings, fingerprint: string, { dataset, example, leftOut, measured }: Export.Exported) {
    const fs = yield* FileSystem.FileSystem
    const { manifestSha256: manifest } = yield* Effect.fromOption(dataset)
    const { jobName: job } = yield* LedgerReader
    const exported: RecordedExport = { example: Option.getOrNull(example), leftOut, measured }
    yield* fs.writeFileString(
      JobFolder.exported(directory),
      `${JSON.stringify({ fingerprint, job, manifest, exported }, undefined, 2)}\n`,
    )
  },
  (effect) => Effect.ignore(effect),
)

export const exportDataset = Effect.fnUntraced(function* (settings: Settings) {
  const { directory, force = false } = settings
  if (!force) yield* checkOwner(directory)
  const fingerprint = yield* fingerprintOf(settings)
  if (!force && Option.isSome(fingerprint)) {
    const fs = yield* FileSystem.FileSystem
    yield* Dataset.recover(JobFolder.dataset(directory))
    const current = yield* Effect.orElseSucceed(existing(directory, fingerprint.value), () =>
      Option.none<Export.Exported>(),
    )
    if (Option.isSome(current)) {
      yield* fs.remove(JobFolder.refused(directory), { recursive: true, force: true })
      yield* Effect.logInfo(
        `the dataset ${JobFolder.dataset(directory)} is up to date: same ledger, settings, and version; to write the dataset again, use \`Pipeline.exportDataset(pipeline, { force: true })\``,
      )
      return current.value
    }
  }
  const exported = yield* Export.exportDataset(settings)
  yield* writeRecord(
    settings,
    Option.getOrElse(fingerprint, () => ""),
    exported,
  )
  return exported
}, LedgerReader.snapshot)

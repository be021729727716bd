/** Detects that a used job folder has lost its ledger. With a new ledger, all items would be billed again. */
import { Effect, FileSystem, Predicate, Schema } from "effect"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as Manifest from "../dataset/Manifest.ts"
import * as JobFolder from "./JobFolder.ts"
import type { SettingInvalid } from "../io/SettingInvalid.ts"

const advice = (group: string | undefined): string =>
  group === undefined
    ? "If you create a new ledger, and the earlier tasks belong to a group, also set `group` to the name of this group. A service that honors Idempotency-Key recognizes the earlier tasks, and does not bill them again"
    : `With a new ledger, keep all other settings, and set \`group: ${JSON.stringify(group)}\`, which is the group of the last run's tasks. A service that honors Idempotency-Key recognizes these tasks, and does not bill them again`

/** An earlier run used the job folder, but the ledger has no record of the job. */
export class LedgerLost extends Schema.TaggedError<LedgerLost>()("LedgerLost", {
  /** The job folder. */
  directory: Schema.String,
  /** A description of the ledger and the job for messages, without the password. */
  ledger: Schema.String,
  /** Files of the folder that an earlier run wrote. */
  found: Schema.Array(Schema.String),
  /** The group of the last run's tasks at the service; absent if it is unknown. */
  group: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return `the ledger ${this.ledger} has no record of this job, though an earlier run wrote ${this.found.join(" and ")}: with a new ledger, all items would be submitted and billed again. Restore the ledger from a backup, name it with \`ledger\` or PREFSTREAM_LEDGER, or create a new ledger with \`newLedger: true\`. ${advice(this.group)}`
  }
}

const check = Effect.fnUntraced(function* (directory: string, location: LedgerLocation.LedgerLocation) {
  const fs = yield* FileSystem.FileSystem
  const dataset = `${JobFolder.dataset(directory)}/${Manifest.fileName}`
  const files = yield* Effect.filter([JobFolder.settings(directory), dataset], (file) => fs.exists(file))
  if (files.length === 0) return
  const record = yield* LedgerLocation.recordOf(location)
  // A first run that was killed early leaves the job's name in the ledger, but no dataset. Nothing was lost.
  if (record === "runs" || (record === "name" && !files.includes(dataset))) return
  const group = yield* Effect.orElseSucceed(fs.readFileString(JobFolder.group(directory)), () => "")
  const ledger = LedgerLocation.describe(location)
  return yield* new LedgerLost({ directory, ledger, found: files, ...(group !== "" && { group }) })
})

const isLedger = (value: unknown) =>
  Predicate.hasProperty(value, "_tag") || typeof value === "string" || Kinds.redacted[1](value)

const placeKinds: Kinds.Kinds = {
  directory: ["the path of the job folder", Kinds.text[1]],
  newLedger: Kinds.flag,
  ledger: ["a path, or a URL such as postgres://user@host/database", isLedger],
  job: Kinds.anyText,
}

export const checkPlace = (settings: object): Effect.Effect<void, SettingInvalid> =>
  Kinds.check(settings, placeKinds, ["directory"], "settings")

export const locate = Effect.fn("LostLedger.locate")(function* (
  settings: LedgerLocation.LedgerSettings & { readonly directory: string; readonly newLedger?: boolean | undefined },
) {
  yield* checkPlace(settings)
  const { directory, newLedger = false, ...where } = settings
  const location = yield* LedgerLocation.of({ ...where, file: JobFolder.ledger(directory) })
  if (!newLedger) yield* check(directory, location)
  return location
})

/** Imports votes that were given elsewhere, and writes the rejects file. An import needs no annotation service. */
import { Effect, type FileSystem, Layer, type Path, type Stream } from "effect"
import type { VoteRecord } from "../domain/VotedItem.ts"
import * as Kinds from "../io/SettingKinds.ts"
import type { SourceError } from "../source/record/SourceError.ts"
import * as Import from "../task/ImportVotes.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import * as JobFolder from "./JobFolder.ts"
import * as LostLedger from "./LostLedger.ts"
import { recordingInputs } from "./Reading.ts"
import { type EarlierCounts, earlierThan } from "./RunReport.ts"
import type { RejectCount } from "./RejectCounts.ts"
import * as RejectsFile from "./RejectsFile.ts"
import type { Settings } from "./Settings.ts"

/** Job folder, votes, their guidelines and task type, and the limit of rejects. */
export interface ImportSettings extends Import.ImportOptions {
  /** The job folder. */
  readonly directory: string
  /** The votes to import, such as `Source.votes(FILE)`. */
  readonly votes: {
    readonly description: string
    readonly records: Stream.Stream<VoteRecord, SourceError, FileSystem.FileSystem | Path.Path>
  }
}

/** The result of an import, as `prefstream import --json` prints it. */
export interface ImportReport extends Import.ImportCounts {
  /** The rejected records by reason. */
  readonly rejects: ReadonlyArray<RejectCount>
  /** Counts of the records of earlier imports and runs. No other count includes these records. */
  readonly earlier: EarlierCounts
}

/** Reads votes into the ledger of the job. */
export const importVotes = Effect.fn("Pipeline.importVotes")(function* (settings: ImportSettings) {
  yield* LostLedger.checkPlace(settings)
  yield* Kinds.check(settings, { votes: ["votes, such as Source.votes(FILE)", Kinds.source[1]] }, ["votes"])
  const { directory, votes, ...options } = settings
  const counts = yield* Import.importVotes(votes.records, options).pipe(
    recordingInputs([]),
    Effect.onError(() => Effect.ignore(RejectsFile.write(directory))),
  )
  const report: ImportReport = {
    ...counts,
    rejects: yield* RejectsFile.write(directory),
    earlier: yield* earlierThan(counts.run),
  }
  return report
})

/** Creates the ledger if missing. Fails with `LedgerLost` if an earlier ledger is gone. */
export const layer = (where: Pick<Settings, "directory" | "ledger" | "job" | "newLedger">) =>
  Layer.unwrap(Effect.map(LostLedger.locate(where), LedgerLocation.layer)).pipe(
    Layer.provide(
      Layer.effectDiscard(Effect.andThen(LostLedger.checkPlace(where), () => JobFolder.create(where.directory))),
    ),
  )

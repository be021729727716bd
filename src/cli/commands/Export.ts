/** `prefstream export` writes the dataset from the ledger. It needs neither the service nor the input. */
import { Effect } from "effect"
import { exportDataset } from "../../pipeline/Reexport.ts"
import * as RunReport from "../../pipeline/RunReport.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import { makeCommand } from "../flags/Definition.ts"
import { campaignFlag } from "../flags/CampaignFlag.ts"
import { datasetFlags, datasetOf } from "../flags/DatasetFlags.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun, loadPipeline, pipelineArgument } from "../flags/PipelineFile.ts"
import { check } from "../flags/FlagCombinations.ts"
import { toggle } from "../flags/Values.ts"
import * as Settings from "../settings/Settings.ts"
import * as Summary from "../output/Summary.ts"
import { reportExpectedFailures } from "./Job.ts"

export const command = makeCommand(
  "export",
  "Write the dataset from all results so far. The same ledger and settings always give identical files. Therefore, a dataset that is up to date is not written again. " +
    "Exits with 3 while results are missing; a later export adds them.",
  {
    pipeline: pipelineArgument,
    campaign: campaignFlag("export"),
    force: toggle("force", "Write the dataset even if it is up to date", { isTypedOnly: true }),
    ...datasetFlags,
    ...ledgerFlags,
  },
  Effect.fn("prefstream export")(function* (flags) {
    const pipeline = flags.pipeline === undefined ? undefined : yield* loadPipeline(flags.pipeline)
    yield* check(flags, pipeline)
    const place = yield* placeOf(flags, pipeline)
    const settings = {
      ...(yield* datasetOf(flags, pipeline)),
      directory: place.directory,
      campaign: flags.campaign,
      force: flags.force,
    }
    yield* endOfDryRun()
    yield* Settings.announceFromLastRun
    yield* Effect.timed(exportDataset(settings)).pipe(
      Effect.flatMap(([elapsed, written]) => RunReport.make({ elapsed, ...written })),
      // The export and the summary read one snapshot of the ledger. Results that arrive later are in neither.
      LedgerReader.snapshot,
      reportExpectedFailures,
      Effect.flatMap((report) => Summary.finish(report, { ...place, json: flags.json })),
      Effect.provide(existingLedger(place.location)),
    )
  }),
  {
    "prefstream export --dir week-48": "Write week-48/dataset",
    "prefstream export pipelines/quickstart.ts": "Use the dataset settings of a pipeline file",
  },
)

/**
 * `prefstream export`: the dataset from the ledger, without the service or the input.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as RunReport from "../../pipeline/RunReport.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import { datasetFlags, datasetOf } from "../flags/DatasetFlags.ts"
import { orLimits } from "./Job.ts"
import { existingLedger, ledgerFlags, ledgerOf, placeOf } from "../flags/LedgerFlags.ts"
import { jobOf, pipelineArgument } from "../flags/PipelineFile.ts"
import * as Settings from "../flags/Settings.ts"
import * as Summary from "../output/Summary.ts"

const campaignOf = (text: string): Option.Option<number | "all"> =>
  text === "all" ? Option.some(text) : /^[1-9]\d{0,8}$/.test(text) ? Option.some(Number(text)) : Option.none()

const campaign = Flag.String("campaign").pipe(
  Flag.withMetavar("N|all"),
  Flag.withDescription("Results of this campaign, or of all (default: the campaign of the last run)"),
  Flag.filterMap(campaignOf, () => "the number of a campaign, or all"),
  Flag.optional,
)

export const exportCommand = Command.make(
  "export",
  {
    pipeline: pipelineArgument,
    directory: Settings.directory,
    campaign,
    ...datasetFlags,
    ...ledgerFlags,
    json: Settings.json,
  },
  Effect.fn("prefstream export")(function* (flags) {
    const { directory, pipeline } = yield* jobOf(flags)
    const ledger = yield* ledgerOf(flags, directory, pipeline)
    const settings = yield* datasetOf(flags, pipeline)
    yield* Settings.endOfCheck()
    yield* Effect.gen(function* () {
      const report = yield* Effect.timed(
        Pipeline.exportDataset({ ...settings, directory, campaign: Option.getOrUndefined(flags.campaign) }),
      ).pipe(
        Effect.flatMap(([elapsed, written]) => RunReport.make({ elapsed, ...written })),
        // The summary counts what the dataset was made of, though results come in meanwhile.
        LedgerReader.snapshot,
        orLimits,
      )
      yield* Summary.print(report, { ...(yield* placeOf(flags, directory, ledger)), json: flags.json })
      if (report.status === "limits_not_kept") yield* Summary.end(report)
    }).pipe(Effect.provide(existingLedger(ledger)))
  }),
).pipe(
  Command.withDescription(
    "Write the dataset of all results that the ledger holds. The same ledger gives the same bytes. " +
      "Results that are still missing are left out, and come in with the next export.",
  ),
  Command.withShortDescription("Write the dataset from the ledger"),
  Command.withExamples([
    { command: "prefstream export --dir week-48", description: "Write week-48/dataset" },
    { command: "prefstream export pipelines/quickstart.ts", description: "With the pairs that a pipeline makes" },
  ]),
)

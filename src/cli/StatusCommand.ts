/**
 * `prefstream status`: what the ledger says, also while another process works it.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as RunReport from "../pipeline/RunReport.ts"
import { existingLedger } from "./ExportCommand.ts"
import * as Settings from "./Settings.ts"
import * as Summary from "./Summary.ts"

export const statusCommand = Command.make(
  "status",
  { directory: Settings.directory, json: Settings.json },
  Effect.fn("prefstream status")(function* (flags) {
    const directory = Settings.directoryOf(flags.directory)
    const report = yield* RunReport.make({}).pipe(Effect.provide(yield* existingLedger(directory)))
    yield* Summary.finish(report, { directory, json: flags.json })
  }),
).pipe(
  Command.withDescription(
    "Show what the last run read, the tasks by state, and those that need attention. " +
      "The exit status says how the job stands: 0 all done, 3 waiting, 4 tasks in doubt, 1 results that can't be used.",
  ),
  Command.withShortDescription("Show how a job stands"),
)

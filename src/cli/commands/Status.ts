/**
 * `prefstream status`: what the ledger says, also while another process works it.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as JobStatus from "../../pipeline/JobStatus.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { existingLedger, ledgerFlags, ledgerOf, placeOf } from "../flags/LedgerFlags.ts"
import * as Settings from "../flags/Settings.ts"
import * as StatusSummary from "../output/StatusSummary.ts"
import * as Summary from "../output/Summary.ts"

export const statusCommand = Command.make(
  "status",
  { directory: Settings.directory, ...ledgerFlags, json: Settings.json },
  Effect.fn("prefstream status")(function* (flags) {
    const directory = Settings.directoryOf(flags.directory)
    const location = yield* ledgerOf(flags, directory)
    const ledger = existingLedger(location)
    const status = yield* LedgerLocation.holder(location).pipe(
      Effect.flatMap((holder) => JobStatus.make(holder)),
      Effect.provide(ledger),
    )
    const options = yield* placeOf(flags, directory, location)
    yield* Console.log(flags.json ? JSON.stringify(status) : Summary.printable(StatusSummary.text(status, options)))
    yield* Summary.end(status)
  }),
).pipe(
  Command.withDescription(
    "Show what the last run read, the tasks by state, what is waited for and for how long, how fast results come in and " +
      "when the last may be there, who works the job now, and which tasks need attention. " +
      "The exit status says how the job stands: 0 all done, 3 waiting, 4 tasks in doubt, 1 results that can't be used, or an input that was not read to its end.",
  ),
  Command.withShortDescription("Show how a job stands"),
)

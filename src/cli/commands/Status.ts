/** `prefstream status` prints the state of a job from its ledger, which another process may be using. */
import { Console, Effect } from "effect"
import * as JobStatus from "../../pipeline/JobStatus.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { makeCommand } from "../flags/Definition.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import * as StatusSummary from "../output/StatusSummary.ts"
import * as Summary from "../output/Summary.ts"
import { printable } from "../output/Text.ts"

export const command = makeCommand(
  "status",
  "Show the state of a job: what the last run read, the tasks by state, and which tasks need attention. " +
    "For outstanding tasks, show how old they are, how fast results arrive, and when the last may arrive. " +
    "Exit status: 0 all done, 3 waiting, 4 tasks in doubt, 1 failed tasks, unusable results, every record rejected, or input that was not read to its end, 8 the budget is used up.",
  ledgerFlags,
  Effect.fn("prefstream status")(function* (flags) {
    const place = yield* placeOf(flags)
    const status = yield* LedgerLocation.holder(place.location).pipe(
      Effect.flatMap(JobStatus.make),
      Effect.provide(existingLedger(place.location)),
    )
    yield* Console.log(flags.json ? JSON.stringify(status) : printable(StatusSummary.text(status, place)))
    yield* Summary.end(status)
  }),
)

/** `prefstream status` prints the state of a job from its ledger, which another process may be using. */
import { Console, Effect } from "effect"
import * as JobStatus from "../../pipeline/JobStatus.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { makeCommand } from "../flags/Definition.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { inFlags, inRejects } from "../output/Flags.ts"
import * as JudgeCosts from "../output/JudgeCosts.ts"
import * as StatusSummary from "../output/StatusSummary.ts"
import * as Summary from "../output/Summary.ts"
import { printable } from "../output/Text.ts"

export const command = makeCommand(
  "status",
  "Show the state of a job: the number of records in the last run, the number of tasks in each state, and the tasks that need attention. " +
    "For outstanding tasks, show their age, how fast results arrive, and when the last result is expected. " +
    "Exit status: 0 if all is done; 3 while results are outstanding; 4 if tasks are in doubt; 8 if the budget is used up; 1 if tasks failed, results are unusable, all records were rejected, or the input was not read to the end.",
  ledgerFlags,
  Effect.fn("prefstream status")(function* (flags) {
    const place = yield* placeOf(flags)
    const jobStatus = yield* LedgerLocation.holder(place.location).pipe(
      Effect.flatMap(JobStatus.make),
      Effect.provide(existingLedger(place.location)),
    )
    const { last_run: last } = jobStatus
    const failure = last?.failure == null ? null : inFlags(last.failure)
    const judges = yield* JudgeCosts.read(place.directory)
    const status = { ...inRejects(jobStatus), last_run: last && { ...last, failure }, judges }
    yield* Console.log(flags.json ? JSON.stringify(status) : printable(StatusSummary.text(status, place)))
    yield* Summary.end(status)
  }),
)

/** The exit statuses of all commands. 75 is `EX_TEMPFAIL` of sysexits.h. A signal gives 128 + its number. */
import { Schema } from "effect"
import type { RunStatus } from "../../pipeline/RunReport.ts"
import { inFlags } from "./Flags.ts"

export const done = 0
export const failure = 1
export const usage = 2
export const waiting = 3
export const inDoubt = 4
export const rejects = 5
export const thresholds = 6
export const noPairs = 7
export const budget = 8
export const busy = 75

const meanings: { readonly [status: number]: string } = {
  [done]: "done",
  [failure]: "failure",
  [usage]: "invalid command line or setting",
  [waiting]: "results are outstanding",
  [inDoubt]: "tasks in doubt",
  [rejects]: "too many rejects",
  [thresholds]: "a threshold is exceeded",
  [noPairs]: "the results gave no pairs",
  [budget]: "the budget is used up",
  [busy]: "another process is running the same job",
}

export const meaning = (status: number): string =>
  meanings[status] ?? (status > 128 ? "stopped by a signal" : "unknown")

export const ofRun: { readonly [Status in RunStatus]: number } = {
  done,
  thresholds_exceeded: thresholds,
  no_pairs: noPairs,
  over_budget: budget,
  results_invalid: failure,
  all_rejected: failure,
  unfinished: failure,
  waiting,
  stopped: waiting,
  in_doubt: inDoubt,
}

export class Finished extends Schema.TaggedError<Finished>()("Finished", { status: Schema.Int }) {}

export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { message: Schema.String }) {}

export const usageError = (message: string) => new UsageError({ message: inFlags(message) })

export const asUsageError = ({ message }: { readonly message: string }) => usageError(message)

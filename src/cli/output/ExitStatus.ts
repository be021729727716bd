/**
 * The exit status of the process, the same for every command.
 *
 * | status | meaning |
 * | --- | --- |
 * | 0 | done |
 * | 1 | failure, including failed tasks and unusable results |
 * | 2 | invalid command line or setting |
 * | 3 | results are outstanding, or items need further votes |
 * | 4 | tasks in doubt: they may have arrived, and are not sent again |
 * | 5 | more records were rejected than `--max-rejects` allows |
 * | 6 | a `--threshold` is exceeded, and the dataset was not written |
 * | 7 | no pair came of the results, and the dataset was not written |
 * | 8 | the budget is used up, and items are left |
 * | 75 | another process is running the same job |
 *
 * 75 is `EX_TEMPFAIL` of sysexits.h, which schedulers and mailers understand as "try again later".
 * If a signal stops a command, the status is 128 + the signal's number: 130 for SIGINT, 143 for SIGTERM.
 */
import { Schema } from "effect"
import type { RunStatus } from "../../pipeline/RunReport.ts"

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

export const meaning = (status: number): string =>
  new Map([
    [done, "done"],
    [failure, "failure"],
    [usage, "invalid command line or setting"],
    [waiting, "results are outstanding"],
    [inDoubt, "tasks in doubt"],
    [rejects, "too many rejects"],
    [thresholds, "a threshold is exceeded"],
    [noPairs, "no pair came of the results"],
    [budget, "the budget is used up"],
    [busy, "another process is running the same job"],
  ]).get(status) ?? (status > 128 ? "stopped by a signal" : "unknown")

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

/** Ends the command with this status. All messages have been printed before. */
export class Finished extends Schema.TaggedError<Finished>()("Finished", { status: Schema.Int }) {}

/** The command line, or a setting, is invalid. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { message: Schema.String }) {}

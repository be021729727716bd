/**
 * The exit status of the process, the same for every command.
 *
 * | status | meaning |
 * | --- | --- |
 * | 0 | done |
 * | 1 | failure; or tasks whose results do not fit, or that the service gave up |
 * | 2 | the command line or a setting is wrong |
 * | 3 | still waiting for results |
 * | 4 | tasks in doubt: they may have been created, and are not sent again |
 * | 5 | more records were rejected than `--max-rejects` allows |
 * | 6 | the dataset does not keep to a `--limit`, and was not written |
 * | 75 | another process works the same job |
 *
 * 75 is `EX_TEMPFAIL` of sysexits.h, for which schedulers and mailers know "try again later".
 * A command that was stopped by a signal ends with 128 + its number: 130 for SIGINT, 143 for SIGTERM.
 */
import { Schema } from "effect"
import type { RunStatus } from "../../pipeline/RunReport.ts"

export const done = 0
export const failure = 1
export const usage = 2
export const waiting = 3
export const inDoubt = 4
export const rejects = 5
export const limits = 6
export const busy = 75

/** What a status means, in a few words, for whoever sees the number alone. */
export const meaning = (status: number): string =>
  new Map([
    [done, "done"],
    [failure, "failure"],
    [usage, "wrong command line or setting"],
    [waiting, "still waiting for results"],
    [inDoubt, "tasks in doubt"],
    [rejects, "too many rejects"],
    [limits, "a limit was not kept"],
    [busy, "another process works the same job"],
  ]).get(status) ?? (status > 128 ? "stopped by a signal" : "unknown")

export const ofRun: { readonly [Status in RunStatus]: number } = {
  done,
  limits_not_kept: limits,
  results_invalid: failure,
  all_rejected: failure,
  unfinished: failure,
  waiting,
  stopped: waiting,
  in_doubt: inDoubt,
}

/** The command has said all that there is to say, and ends with this status. */
export class Finished extends Schema.TaggedError<Finished>()("Finished", { status: Schema.Int }) {}

/** What was asked can't be done as it was asked. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { message: Schema.String }) {}

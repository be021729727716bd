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
 */
import { Schema } from "effect"
import type { RunStatus } from "../pipeline/RunReport.ts"

export const done = 0
export const failure = 1
export const usage = 2
export const waiting = 3
export const inDoubt = 4
export const rejects = 5

export const ofRun: { readonly [Status in RunStatus]: number } = {
  done,
  results_invalid: failure,
  all_rejected: failure,
  unfinished: failure,
  waiting,
  in_doubt: inDoubt,
}

/** The command has said all that there is to say, and ends with this status. */
export class Finished extends Schema.TaggedError<Finished>()("Finished", { status: Schema.Int }) {}

/** What was asked can't be done as it was asked. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { message: Schema.String }) {}

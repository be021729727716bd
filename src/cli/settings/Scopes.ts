/** Which settings a file may set, which a job folder keeps, and which commands read them. */
import { groups } from "../flags/Groups.ts"

/** Flags of a single invocation, which would be wrong or dangerous as a habit: they cannot be set in a file. */
export const commandLineOnly: ReadonlySet<string> = new Set([
  "adopt", "all", "before", "campaign", "csv", "dry-run", "force", "give-up", "json", "moved", "new-campaign", "new-ledger", "now", "quick", "raw",
  "rejects", "results", "resubmit", "send-again", "show", "sign-in-link",
]) // prettier-ignore

/** The settings of a run that are saved in its job folder: those that later commands of the job also take, and no paths of files. */
export const kept: ReadonlySet<string> = new Set(
  ["job", "ledger", "SERVICE", "WEBHOOK", "DATASET"]
    .flatMap((name) => groups[name] ?? [name])
    .filter((name) => !commandLineOnly.has(name)),
)

/** A flag on the command line, and those that it replaces, wherever they are set. */
export const replaced: { readonly [given: string]: ReadonlyArray<string> } = {
  guidelines: ["guidelines-file"],
  "guidelines-file": ["guidelines"],
  listen: ["once"],
  once: groups["WEBHOOK"] ?? [],
}

/** Commands that reuse the settings of the last run. */
export const followers: ReadonlySet<string> = new Set([
  "collect", "doctor", "export", "export-votes", "leaderboard", "plan", "resolve", "status", "ledger backup", "ledger check", "ledger compact", "ledger prune",
]) // prettier-ignore

/**
 * How flags are grouped in help, and which are shown without `--help-all`. Contains names only, so that help loads no
 * other module.
 *
 * A flag that no group names is specific to its command, and is listed first.
 */

/** The flags of each group, in the order of their help. */
export const groups: { readonly [heading: string]: ReadonlyArray<string> } = {
  INPUT: [
    "layout", "prompt-path", "completion-path", "completions-path", "completions", "key", "missing", "model-path", "models-from-columns",
    "system-path", "history-path", "id-path", "gold-path", "metadata-path", "keep", "ignore-field", "keep-reordered", "input-format", "encoding",
    "delimiter", "quote", "header", "idle-timeout", "max-row-group-bytes", "max-rejects",
  ],
  VOTES: [
    "choice-path", "choice-as", "choice-map", "votes-path", "expert-path", "rationale-path", "strength-path", "judged-at-path",
  ],
  TASKS: [
    "guidelines", "guidelines-file", "rubric", "new-campaign", "new-ledger", "votes", "confidence", "price", "budget", "gold", "gold-rate",
    "batch-size", "batch-bytes",
    "completions-per-item", "completions-seed", "shuffle", "shuffle-seed", "resubmit", "max-attempts",
  ],
  SERVICE: [
    "base-url", "idempotency-key", "idempotency-key-lifetime", "concurrency", "requests-per-second",
    "max-completions", "moved", "poll-min", "poll-max", "patience",
  ],
  WEBHOOK: [
    "listen", "webhook-path", "webhook-scheme", "webhook-header", "webhook-tolerance", "webhook-task-ids",
    "webhook-delivery-id",
  ],
  EXPERTS: [
    "expert", "turnaround", "judge-base-url", "judge-template", "judge-body", "judge-concurrency", "judge-disagreement",
  ],
  DATASET: [
    "pairs", "pair-seed", "aggregate", "annotation-path", "min-votes", "min-agreement", "ties", "drop", "threshold", "evaluation-prompts",
    "evaluation-path", "split", "split-seed", "format", "margin", "margin-from", "edited", "conversational",
    "expert-names", "allow-empty", "title", "license",
  ],
  JOB: [
    "dir", "ledger", "job", "once", "dry-run", "timeout", "grace", "lock-wait", "waiting-ok", "quiet", "json", "monitor",
  ],
} // prettier-ignore

/** What help shows of a command with many flags, in addition to those specific to it; `usage` is how it is called. */
export const isEssential = (name: string, usage: string) =>
  essential.has(name) ||
  (usage.startsWith("prefstream worker ") && ["ledger", "job"].includes(name)) ||
  (usage.startsWith("prefstream plan ") && name === "price")

export const essential: ReadonlySet<string> = new Set([
  "prompt-path", "completion-path", "completions", "key", "choice-path", "choice-as", "choice-map", "votes-path", "expert-path", "guidelines-file", "votes", "base-url", "listen", "expert",
  "threshold", "format", "dir", "once", "json",
]) // prettier-ignore

/** A command with more of them has groups, and shows all of them only by `--help-all`. */
export const maxUngrouped = 20

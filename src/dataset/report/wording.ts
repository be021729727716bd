/** Describes numbers in words: kappa by the thresholds of Landis and Koch (1977), Cohen's d by Cohen's own (1988). */
import type { Check, FunnelStep, QualityReport } from "../../domain/QualityReport.ts"
import { count, decimal, plural, share, shortShare } from "./format.ts"

export const list = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`

export const describeKappa = (kappa: number): string => {
  if (kappa > 0.8) return "almost perfect"
  if (kappa > 0.6) return "substantial"
  if (kappa > 0.4) return "moderate"
  if (kappa > 0.2) return "fair"
  return kappa > 0 ? "slight" : "no better than chance"
}

export const describeEffect = (d: number): string => {
  const size = Math.abs(d)
  if (size >= 0.8) return "large"
  if (size >= 0.5) return "medium"
  return size >= 0.2 ? "small" : "negligible"
}

export const pValue = (p: number): string => (p < 0.001 ? "p < 0.001" : `p = ${decimal(p, 3)}`)

export const describePValue = (p: number): string => {
  if (p >= 0.05) return `${pValue(p)}: chance often causes a difference like this one`
  if (p < 0.001) return `${pValue(p)}: chance alone causes a difference like this one in fewer than 1 of 1,000 datasets`
  return `${pValue(p)}: chance alone causes a difference like this one in about 1 of ${count(1 / p)} datasets`
}

const reasons: Record<string, string> = {
  further_vote: "with votes on an item that the job already had",
  duplicate: "repeating an earlier item",
  reordered: "repeating an earlier item with reordered completions",
  not_submitted: "not submitted yet",
  invalid_json: "invalid JSON",
  invalid_csv: "invalid CSV",
  invalid_shape: "with an unexpected shape",
  no_match: "without a match in the join",
  conflicting_id: "with an id that belongs to other content",
  too_many_completions: "with more completions than the service accepts",
  too_long: "with a longer text than the service accepts",
  refused_by_service: "refused by the service",
  in_doubt: "in doubt: the service may have received them",
  pruned: "removed from the ledger",
  waiting: "without a result yet",
  failed: "failed at the service",
  invalid: "with an invalid result",
  withdrawn: "withdrawn at the service",
  unanswered: "that none of the permitted experts could judge",
  unusable: "with a recorded result that cannot be used",
  too_few_votes: "with too few votes",
  tie: "with a tie",
  low_agreement: "with too little agreement",
  contamination: "contaminated with evaluation prompts",
  flagged: "flagged by an expert",
  no_rationale: "without a rationale",
  copied_rationale: "with a copied rationale",
  against_votes: "whose votes mostly contradict every possible pair",
  no_pair: "whose best completion is blank, or equal to all other completions",
  near_duplicate: "with a near-duplicate prompt",
  lone_surrogate: "with a lone surrogate, which files cannot represent",
}

export const describeReason = (reason: string): string =>
  Object.hasOwn(reasons, reason) ? (reasons[reason] ?? reason) : reason.replaceAll(/[-_]/g, " ")

export const stepNames: Record<FunnelStep["step"], string> = {
  read: "Read",
  submitted: "Submitted or imported",
  judged: "Judged",
  kept: "Kept",
  pairs: "Pairs",
}

export const checkValue = (check: Check, value: number | null): string => {
  if (value === null) return "–"
  return check.is_share ? share(value) : decimal(value, Number.isInteger(value) ? 0 : 3).replace(/(\.\d*?)0+$/, "$1")
}

export const describeThreshold = (check: Check): string =>
  check.threshold === null
    ? "none set"
    : `${check.direction === "below" ? "at most" : "at least"} ${check.is_share ? shortShare(check.threshold) : checkValue(check, check.threshold)}`

export const stepCount = (report: QualityReport, step: FunnelStep["step"]): number =>
  report.funnel.find((each) => each.step === step)?.count ?? 0

export const headline = (report: QualityReport): string => {
  const pairs = stepCount(report, "pairs")
  if (pairs === 0) return "No preference pairs."
  const named = report.experts.filter(({ expert }) => expert !== null).length
  const items = plural(stepCount(report, "kept"), "item")
  const by = named === 0 ? "" : `; ${plural(named, "expert")} voted`
  const splits = report.splits.filter((each) => each.pairs > 0)
  const parts = splits.length < 2 ? "" : `, in ${plural(splits.length, "split")}`
  return `${plural(pairs, "preference pair")} from ${items}${parts}${by}.`
}

export const describeMainLoss = (report: QualityReport): string | null => {
  const losses = report.funnel.flatMap(({ lost, step }) => lost.map((each) => ({ ...each, step })))
  const largest = losses.toSorted((a, b) => b.count - a.count)[0]
  return largest === undefined || largest.count === 0
    ? null
    : `The most common reason for a lost record or item is “${describeReason(largest.reason)}”: ${count(largest.count)} did not reach the step “${stepNames[largest.step]}”.`
}

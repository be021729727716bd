/**
 * The quality checks of a dataset. Each has a name, a value, and optionally a threshold. Some can leave out the items
 * that they find.
 *
 * Guarantees: items that a check leaves out still count in its value, so that leaving them out cannot satisfy the
 * threshold. A check with a threshold but without a value fails.
 *
 * To add a check, add a definition here and a value in `Curation`. The report page shows the definition's texts.
 */
import { Struct } from "effect"
import type { Check } from "../domain/QualityReport.ts"

interface Definition {
  readonly measure: string
  readonly unit: Check["unit"]
  /** Whether the value and the threshold are shares, which the report shows in percent. */
  readonly isShare: boolean
  readonly advice: string
  /** Whether values `below` or `above` the threshold pass. A value equal to the threshold always passes. */
  readonly direction: Check["direction"]
  readonly range: readonly [min: number, max: number]
  readonly canDrop: boolean
}

const share = { direction: "below", range: [0, 1], isShare: true, canDrop: false } as const

const lengthAdvice =
  "A model trained on this may learn that longer is better. Balance the lengths of the completions, or drop pairs with the largest differences, before training."

const disagreementAdvice =
  "Experts often disagree. Make the guidelines clearer, or ask for more votes; or keep items of higher agreement only."

export const checks = {
  "longer-chosen": {
    measure: "share with the longer completion chosen, where lengths differ; each item counts once",
    unit: "items",
    advice: lengthAdvice,
    ...share,
  },
  "length-effect": {
    measure: "difference in length between chosen and rejected, as Cohen's d without its sign",
    unit: "items",
    isShare: false,
    advice: lengthAdvice,
    direction: "below",
    range: [0, Infinity],
    canDrop: false,
  },
  "position-bias": {
    measure: "p-value of equal choice of the first and the second half of the order shown, each item counted once",
    unit: "items",
    isShare: false,
    advice:
      "Experts may prefer a position. Check that completions are shuffled for each item, and check the experts who chose the first one most often.",
    direction: "above",
    range: [0, 1],
    canDrop: false,
  },
  "near-duplicates": {
    ...share,
    measure: "share of items whose prompt nearly repeats that of an earlier item",
    unit: "items",
    advice:
      "Near-duplicate prompts count several times. Keep one of each group, or make sure that a group stays in one split.",
    canDrop: true,
  },
  contamination: {
    ...share,
    measure: "share of items that hold an evaluation prompt",
    unit: "items",
    advice:
      "Prompts of an evaluation are in the data: results on that evaluation would be worth nothing. Leave these items out.",
    canDrop: true,
  },
  flagged: {
    ...share,
    measure: "share of items that an expert flagged",
    unit: "items",
    advice: "Experts flagged these items. Read the flags, and correct or leave out what they are about.",
    canDrop: true,
  },
  "other-languages": {
    ...share,
    measure: "share of items whose prompt is in another language than most",
    unit: "items",
    advice: "Prompts are in several languages. Filter the input, or raise the threshold if the mix is intended.",
  },
  "no-rationale": {
    ...share,
    measure: "share of items without a rationale",
    unit: "items",
    advice: "Many judgments come without a reason. Ask for one in the guidelines, or do without rationales.",
    canDrop: true,
  },
  "copied-rationale": {
    ...share,
    measure: "share of items whose rationale is that of an earlier item, or repeats the prompt or a completion",
    unit: "items",
    advice: "Rationales repeat each other or the completions. Check who wrote them before trusting these votes.",
    canDrop: true,
  },
  disagreement: {
    ...share,
    measure: "share of the votes on items with several that were not for the choice that came out",
    unit: "votes",
    advice: disagreementAdvice,
  },
  kappa: {
    measure: "agreement of the votes beyond chance, as Randolph's free-marginal kappa",
    unit: "items",
    isShare: false,
    advice: disagreementAdvice,
    direction: "above",
    range: [-1, 1],
    canDrop: false,
  },
  "gold-accuracy": {
    measure: "share of right votes on items whose answer is known",
    unit: "votes",
    isShare: true,
    advice:
      "Experts fail items whose answer is known. Read the wrong ones below: either the answers or the experts are not right.",
    direction: "above",
    range: [0, 1],
    canDrop: false,
  },
} as const satisfies { readonly [name: string]: Definition }

/** The name of a check: `longer-chosen`, `contamination`, `kappa`, … */
export type CheckName = keyof typeof checks
/** The names of all checks. */
export const names: ReadonlyArray<CheckName> = Struct.keys(checks)

/** The name of a check that can leave out the items that it finds. */
export type DropName = { [Name in CheckName]: (typeof checks)[Name]["canDrop"] extends true ? Name : never }[CheckName]
const isDropName = (name: CheckName): name is DropName => checks[name].canDrop
/** The names of the checks that can leave out the items that they find. */
export const dropNames: ReadonlyArray<DropName> = names.filter(isDropName)

export const isThreshold = (name: string, threshold: number): boolean => {
  const [min, max] = isCheckName(name) ? checks[name].range : [NaN, NaN]
  return threshold >= min && threshold <= max
}

export const describeRange = (name: string): string => {
  const [min, max] = isCheckName(name) ? checks[name].range : [0, 1]
  return max === Infinity ? `a number, ${min} or more` : `a number from ${min} to ${max}`
}

export const isCheckName = (name: string): name is CheckName => Object.hasOwn(checks, name)

/**
 * Thresholds by check, in the unit and range of the check's value: a share from 0 to 1, Cohen's d from 0, a p-value, or
 * kappa from -1 to 1. The value of `position-bias`, `kappa`, and `gold-accuracy` must not be below the threshold; the
 * value of other checks must not exceed it.
 */
export type Thresholds = { readonly [Name in CheckName]?: number | undefined }

/** A check's value, how many items or votes it found out of how many, and examples. */
export interface Measured extends Pick<Check, "value" | "count" | "of" | "examples"> {}

export const evaluate = (
  check: CheckName,
  measured: Measured,
  thresholds: Thresholds,
  drop: ReadonlyArray<DropName>,
): Check => {
  const { advice, direction, isShare, measure, unit } = checks[check]
  const threshold = thresholds[check] ?? null
  const { value } = measured
  const passed =
    threshold === null || (value !== null && (direction === "below" ? value <= threshold : value >= threshold))
  return {
    check,
    measure,
    unit,
    is_share: isShare,
    direction,
    advice,
    ...measured,
    threshold,
    passed,
    dropped: drop.some((name) => name === check),
  }
}

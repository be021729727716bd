/**
 * The quality checks of a dataset. Some checks can drop items, such as items without a rationale. Dropped items still
 * count when the check is measured. Otherwise, the check would always pass. A check with a threshold fails if there is
 * nothing to measure. To add a check, compute the value in `Curation`, and define the check here.
 */
import { Result, Schema, Struct } from "effect"
import type { JudgedItem } from "../domain/Judgment.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { causeMessage, describeValue, isObject } from "../io/Values.ts"
import type { Check } from "../domain/QualityReport.ts"

interface Definition {
  readonly measure: string
  readonly unit: Check["unit"]
  readonly isShare: boolean
  readonly advice: string
  readonly direction: Check["direction"]
  readonly range: readonly [min: number, max: number]
  readonly canDrop: boolean
}

const share = { direction: "below", range: [0, 1], isShare: true, canDrop: false } as const

const lengthAdvice =
  "A model trained on these pairs may learn that longer is better. Balance the lengths of the completions, or drop pairs with the largest differences, before training."

const disagreementAdvice =
  "Experts often disagree. Make the guidelines clearer, request more votes, or keep only items with higher agreement."

export const checks = {
  "longer-chosen": {
    measure:
      "share of the pairs with different lengths in which the longer completion was chosen (each item counts once)",
    unit: "items",
    advice: lengthAdvice,
    ...share,
  },
  "length-effect": {
    ...share,
    measure:
      "difference in length between chosen and rejected completions, in standard deviations (Cohen's d without its sign)",
    unit: "items",
    isShare: false,
    advice: lengthAdvice,
    range: [0, Infinity],
  },
  "position-bias": {
    ...share,
    measure:
      "p-value of a test for position bias: how often completions in the first half of the order are chosen, compared with chance (each item counts once)",
    unit: "items",
    isShare: false,
    advice:
      "Experts may prefer the first place. Check that completions are shuffled for each item, and check the experts who chose the first completion most often.",
    direction: "above",
  },
  "near-duplicates": {
    ...share,
    measure: "share of items whose prompt is a near-duplicate of an earlier item's prompt",
    unit: "items",
    advice:
      "Near-duplicate prompts count several times. Keep one prompt per group, or make sure that each group stays in one split.",
    canDrop: true,
  },
  contamination: {
    ...share,
    measure: "share of items that contain an evaluation prompt",
    unit: "items",
    advice:
      "Items contain prompts of an evaluation. If a model is trained on these items, its results in the evaluation are invalid. Leave these items out.",
    canDrop: true,
  },
  flagged: {
    ...share,
    measure: "share of items that an expert flagged",
    unit: "items",
    advice: "Experts flagged these items. Read the flags, and correct or leave out the items.",
    canDrop: true,
  },
  "other-languages": {
    ...share,
    measure: "share of items whose prompt is not in the most common language",
    unit: "items",
    advice: "Prompts are in several languages. Filter the input, or raise the threshold if the mix is intended.",
  },
  "no-rationale": {
    ...share,
    measure: "share of items without a rationale",
    unit: "items",
    advice:
      "Many judgments have no rationale. Ask for rationales in the guidelines, or raise the threshold if you do not need them.",
    canDrop: true,
  },
  "copied-rationale": {
    ...share,
    measure: "share of items whose rationale repeats an earlier item's rationale, the prompt, or a completion",
    unit: "items",
    advice:
      "Rationales repeat each other, the prompt, or a completion. Check who wrote them before trusting these votes.",
    canDrop: true,
  },
  disagreement: {
    ...share,
    measure: "share of votes that differ from the choice in the dataset, on items with several votes",
    unit: "votes",
    advice: disagreementAdvice,
  },
  kappa: {
    ...share,
    measure:
      "agreement between the votes on an item, where 0 is chance and 1 is full agreement (Randolph's free-marginal kappa)",
    unit: "items",
    isShare: false,
    advice: disagreementAdvice,
    direction: "above",
    range: [-1, 1],
  },
  "gold-accuracy": {
    ...share,
    measure: "share of correct votes on items with a known answer",
    unit: "votes",
    advice:
      "Experts often vote against the known answer. Read these votes below: either the known answers or the votes are wrong.",
    direction: "above",
  },
} as const satisfies { readonly [name: string]: Definition }

/** The name of a check: `longer-chosen`, `contamination`, `kappa`, … */
export type CheckName = keyof typeof checks
/** The names of all checks. */
export const names: ReadonlyArray<CheckName> = Struct.keys(checks)

/** The name of a check whose findings can be left out of the dataset. */
export type DropName = { [Name in CheckName]: (typeof checks)[Name]["canDrop"] extends true ? Name : never }[CheckName]
const isDropName = (name: CheckName): name is DropName => checks[name].canDrop
/** The names of the checks whose findings can be left out of the dataset. */
export const dropNames: ReadonlyArray<DropName> = names.filter(isDropName)

/** A check that the program defines. The check's value is the mean of `valueOf` over the judged items. */
export interface OwnCheck {
  /** The name in reports and messages. No other check may have the same name. */
  readonly name: string
  /** A description of the value, such as `share of items with a code block in the chosen completion`. */
  readonly measure: string
  /** Advice for readers of the report if the check fails. Default: none. */
  readonly advice?: string | undefined
  /** The values that pass: those `below` the threshold, or those `above` the threshold. Default: `below`. */
  readonly direction?: Check["direction"] | undefined
  /** The threshold. Without one, the report shows the value, and the check always passes. */
  readonly threshold?: number | undefined
  /**
   * Returns a number that measures the item. The check's value is the mean of these numbers. True counts as 1 and false
   * as 0; an item with `undefined` is left out. `pairs` is empty if the item is not exported.
   */
  readonly valueOf: (item: JudgedItem, pairs: ReadonlyArray<PreferencePair>) => number | boolean | undefined
}

/** The function `valueOf` of an `OwnCheck` threw an exception or returned an invalid value. */
export class OwnCheckFailed extends Schema.TaggedError<OwnCheckFailed>()("OwnCheckFailed", {
  /** The name of the check. */
  check: Schema.String,
  /** The id of the item. */
  itemId: Schema.String,
  /** The problem, such as `returned NaN`. */
  problem: Schema.String,
  /** The exception. Absent if the returned value is invalid. */
  cause: Schema.optionalKey(Schema.Defect()),
}) {
  override get message() {
    return `the check ${JSON.stringify(this.check)} failed for item ${JSON.stringify(this.itemId)}: \`valueOf\` ${this.problem}`
  }
}

// `Object.hasOwn` is necessary, because every object inherits a function `valueOf`.
export const isOwn = (value: unknown): value is OwnCheck =>
  isObject(value) &&
  Object.hasOwn(value, "valueOf") &&
  [typeof value["name"], typeof value["measure"], typeof value["valueOf"]].join() === "string,string,function"

export const measureOwn = (check: OwnCheck) => {
  const { advice = "", direction = "below", measure, name, threshold = null, valueOf } = check
  let [sum, count, of, isShare] = [0, 0, 0, true]
  return {
    add: (item: JudgedItem, pairs: ReadonlyArray<PreferencePair>): void => {
      const failureOf = (problem: string, cause?: unknown) =>
        new OwnCheckFailed({ check: name, itemId: item.itemId, problem, ...(cause !== undefined && { cause }) })
      const result = Result.try(() => valueOf(item, pairs))
      if (Result.isFailure(result))
        throw failureOf(`threw an exception: ${causeMessage(result.failure)}`, result.failure)
      const value = result.success
      if (value === undefined) return
      if (typeof value !== "boolean" && !Number.isFinite(value))
        throw failureOf(`returned ${describeValue(value)}, expected a finite number, true, false, or undefined`)
      of++
      sum += Number(value)
      if (Number(value) !== 0) count++
      isShare &&= typeof value === "boolean"
    },
    finish: (): Check => {
      const value = of === 0 ? null : sum / of
      const passed = passes(value, threshold, direction)
      const measured = { value, count, of, unit: "items", is_share: isShare, examples: [] } as const
      return { check: name, measure, advice, direction, threshold, passed, dropped: false, ...measured }
    },
  }
}

const passes = (value: number | null, threshold: number | null, direction: Check["direction"]): boolean =>
  threshold === null || (value !== null && (direction === "below" ? value <= threshold : value >= threshold))

export const isThreshold = (name: CheckName, threshold: number): boolean => {
  const [min, max] = checks[name].range
  return Number.isFinite(threshold) && threshold >= min && threshold <= max
}

export const describeRange = (name: CheckName): string => {
  const [min, max] = checks[name].range
  return max === Infinity ? `a number, ${min} or more` : `a number from ${min} to ${max}`
}

export const isCheckName = (name: string): name is CheckName => Object.hasOwn(checks, name)

/**
 * Thresholds in the unit of the check's value: a share from 0 to 1, Cohen's d from 0, a p-value, or kappa from -1 to 1.
 * `position-bias`, `kappa`, and `gold-accuracy` fail below the threshold, others above it.
 */
export type Thresholds = { readonly [Name in CheckName]?: number | undefined }

/** `of` is the number of examined items or votes. `count` is how many of them have the property, such as a flag. */
export interface Measured extends Pick<Check, "value" | "count" | "of" | "examples"> {}

export const evaluate = (
  check: CheckName,
  measured: Measured,
  thresholds: Thresholds,
  drop: ReadonlyArray<DropName>,
): Check => {
  const { advice, direction, isShare, measure, unit } = checks[check]
  const threshold = thresholds[check] ?? null
  return {
    check,
    measure,
    unit,
    is_share: isShare,
    direction,
    advice,
    ...measured,
    threshold,
    passed: passes(measured.value, threshold, direction),
    dropped: drop.some((name) => name === check),
  }
}

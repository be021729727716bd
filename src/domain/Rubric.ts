/**
 * The questions that a rubric asks experts besides the choice: strength, whether all completions are bad, flags, an
 * edit, and aspects. An answer is optional unless the rubric requires it.
 *
 * Guarantees: each scale has 2 to 9 steps, so that one digit key enters a rating. Names are distinct and not blank.
 */
import { Schema } from "effect"

const Name = Schema.String.check(
  Schema.makeFilter((name) => (name.trim() === "" ? "expected a name with text, found a blank one" : undefined)),
  Schema.isMaxLength(80),
)

const repeated = (names: ReadonlyArray<string>): string | undefined => {
  const twice = names.find((name, i) => names.indexOf(name) < i)
  return twice === undefined ? undefined : `expected distinct names, found ${JSON.stringify(twice)} twice`
}
const distinct = Schema.makeFilter(repeated)

const atLeastTwo = Schema.makeFilter((labels: ReadonlyArray<string>) =>
  labels.length === 1 ? "expected at least 2 labels (the weakest first), found 1" : undefined,
)

/** A scale from 1 to `steps`; higher is better. */
export const Aspect = Schema.Struct({
  name: Name,
  steps: Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 9 })),
  /** Label of the lowest step; `high` is the label of the highest. */
  low: Schema.optionalKey(Name),
  high: Schema.optionalKey(Name),
  /** Whether each completion must be rated. */
  required: Schema.optionalKey(Schema.Boolean),
})
export type Aspect = typeof Aspect.Type

/** Questions that people must answer. `all_bad` and `flags` cannot be required: leaving them unmarked is an answer. */
const required = Schema.Array(Schema.Literals(["strength", "edit", "rationale"]))

export const Rubric = Schema.Struct({
  /**
   * Labels of the strengths, the weakest first. The position of a label, from 1, is the strength. If empty, experts are
   * not asked.
   */
  strength: Schema.Array(Name).check(atLeastTwo, Schema.isMaxLength(9), distinct),
  all_bad: Schema.Boolean,
  /** Problems that experts can mark. If empty, experts are not asked. */
  flags: Schema.Array(Name).check(Schema.isMaxLength(20), distinct),
  edit: Schema.Boolean,
  aspects: Schema.Array(Aspect).check(
    Schema.isMaxLength(20),
    Schema.makeFilter((aspects) => repeated(aspects.map(({ name }) => name))),
  ),
  required,
})
export type Rubric = typeof Rubric.Type

export const none: Rubric = { strength: [], all_bad: false, flags: [], edit: false, aspects: [], required: [] }

/** The labels for `strength: true`. */
export const defaultStrengths: ReadonlyArray<string> = ["slightly better", "clearly better", "much better"]

export const defaultSteps = 5

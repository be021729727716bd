/**
 * The questions that a rubric asks besides the choice. Answers are optional, unless the rubric requires them. A scale
 * has 2 to 9 steps, so that one digit key enters a rating.
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
  /** Labels of the lowest and of the highest step. */
  low: Schema.optionalKey(Name),
  high: Schema.optionalKey(Name),
  /** Whether each completion must be rated. Default: false. */
  required: Schema.optionalKey(Schema.Boolean),
})
export type Aspect = typeof Aspect.Type

/** `all_bad` and `flags` cannot be required: an expert switches them on for "yes", and off means "no". */
const required = Schema.Array(Schema.Literals(["strength", "edit", "rationale"]))

export const Rubric = Schema.Struct({
  /** Labels, weakest first; the first one is strength 1. If the list is empty, experts are not asked for a strength. */
  strength: Schema.Array(Name).check(atLeastTwo, Schema.isMaxLength(9), distinct),
  all_bad: Schema.Boolean,
  /** Problems that experts can mark. If the list is empty, experts are not asked for problems. */
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

export const defaultStrengths: ReadonlyArray<string> = ["slightly better", "clearly better", "much better"]

export const defaultSteps = 5

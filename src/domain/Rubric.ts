/**
 * What experts are asked besides the choice, all of it optional for them: strength, all bad, flags, an edit, aspects.
 *
 * Guarantees: each scale has 2 to 9 steps, so that one key gives one; names are distinct and have text.
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
  labels.length === 1 ? "expected at least 2 labels, the weakest first, found 1" : undefined,
)

/** A scale from 1 to `steps`, higher being better. */
export const Aspect = Schema.Struct({
  name: Name,
  steps: Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 9 })),
  /** What the ends of the scale mean. */
  low: Schema.optionalKey(Name),
  high: Schema.optionalKey(Name),
})
export type Aspect = typeof Aspect.Type

export const Rubric = Schema.Struct({
  /** Labels of the strengths, the weakest first; its number, from 1 on, is the strength. Empty: not asked. */
  strength: Schema.Array(Name).check(atLeastTwo, Schema.isMaxLength(9), distinct),
  all_bad: Schema.Boolean,
  /** What experts can mark. Empty: nothing. */
  flags: Schema.Array(Name).check(Schema.isMaxLength(20), distinct),
  edit: Schema.Boolean,
  aspects: Schema.Array(Aspect).check(
    Schema.isMaxLength(20),
    Schema.makeFilter((aspects) => repeated(aspects.map(({ name }) => name))),
  ),
})
export type Rubric = typeof Rubric.Type

/** Nothing but the choice. */
export const none: Rubric = { strength: [], all_bad: false, flags: [], edit: false, aspects: [] }

/** The strengths of `strength: true`. */
export const defaultStrengths: ReadonlyArray<string> = ["slightly better", "clearly better", "much better"]

export const defaultSteps = 5

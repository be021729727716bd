/**
 * Guidelines with a rubric in their front matter, which is how a rubric reaches a service: as text, so that a service
 * that knows no rubrics shows it to its experts.
 *
 * Guarantees: guidelines without a `rubric` in their front matter are text alone, whatever they begin with.
 *
 * ```
 * ---
 * rubric:
 *   strength: true
 *   all_bad: true
 *   edit: true
 *   flags: [unsafe, unclear prompt]
 *   aspects: [helpfulness, { name: truthfulness, steps: 3, low: wrong, high: right }]
 * ---
 * Prefer the answer that …
 * ```
 */
import { Predicate, Result, Schema } from "effect"
import { parse as parseYaml, stringify } from "yaml"
import { Aspect, defaultSteps, defaultStrengths, none, Rubric } from "../domain/Rubric.ts"

export interface Guidelines {
  readonly rubric: Rubric
  /** For the experts; undefined where there is only a rubric, or nothing. */
  readonly text: string | undefined
}

/** A rubric as it is written: shorter than as it is read. */
const Written = Schema.Struct({
  strength: Schema.optionalKey(Schema.Union([Schema.Boolean, Rubric.fields.strength])),
  all_bad: Schema.optionalKey(Schema.Boolean),
  flags: Schema.optionalKey(Rubric.fields.flags),
  edit: Schema.optionalKey(Schema.Boolean),
  aspects: Schema.optionalKey(
    Schema.Array(
      Schema.Union([
        Aspect.fields.name,
        Schema.Struct({ ...Aspect.fields, steps: Schema.optionalKey(Aspect.fields.steps) }),
      ]),
    ),
  ),
})
const decodeWritten = Schema.decodeUnknownResult(Written, { onExcessProperty: "error" })
const decodeRubric = Schema.decodeUnknownResult(Rubric)

const oneLine = ({ message }: { readonly message: string }): string => message.replaceAll(/\s+/g, " ")

/** The rubric of a value of YAML or JSON, or what is wrong with it. */
export const rubricOf = (value: unknown): Result.Result<Rubric, string> =>
  decodeWritten(value).pipe(
    Result.flatMap(({ aspects = [], strength = false, ...rest }) =>
      decodeRubric({
        ...none,
        ...rest,
        strength: strength === true ? defaultStrengths : strength === false ? [] : strength,
        aspects: aspects.map((aspect) =>
          typeof aspect === "string" ? { name: aspect, steps: defaultSteps } : { steps: defaultSteps, ...aspect },
        ),
      }),
    ),
    Result.mapError(oneLine),
  )

const frontMatter = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

const yamlOf = (text: string): unknown => {
  // The parser throws; what it can't read is no front matter.
  try {
    return parseYaml(text, { maxAliasCount: 0 })
  } catch {
    return undefined
  }
}

/** The front matter as an object, and what follows it. */
const split = (guidelines: string): readonly [members: { readonly [name: string]: unknown }, text: string] => {
  const [whole = "", yaml] = frontMatter.exec(guidelines) ?? []
  const members = yaml === undefined ? undefined : yamlOf(yaml)
  return Predicate.isObject(members) && "rubric" in members
    ? [members, guidelines.slice(whole.length)]
    : [{}, guidelines]
}

/** Fails with what is wrong with the rubric. */
export const parse = (guidelines: string | undefined): Result.Result<Guidelines, string> => {
  if (guidelines === undefined) return Result.succeed({ rubric: none, text: undefined })
  const [members, text] = split(guidelines)
  if (!("rubric" in members)) return Result.succeed({ rubric: none, text })
  return Result.map(rubricOf(members["rubric"]), (rubric) => ({ rubric, text: text.trim() === "" ? undefined : text }))
}

/** The text for the experts, whether or not the rubric can be read. */
export const textOf = (guidelines: string | undefined): string | undefined =>
  guidelines === undefined ? undefined : split(guidelines)[1]

/** Guidelines that carry a rubric, given as YAML with the members of a rubric. Fails where they have one, or it is invalid. */
export const withRubric = (guidelines: string | undefined, yaml: string): Result.Result<string, string> => {
  const value = yamlOf(yaml)
  const written = Predicate.isObject(value) && "rubric" in value ? value["rubric"] : value
  const [members, text] = split(guidelines ?? "")
  if ("rubric" in members) return Result.fail("the guidelines have a rubric of their own in their front matter")
  return Result.map(rubricOf(written), () => `---\n${stringify({ rubric: written })}---\n\n${text}`)
}

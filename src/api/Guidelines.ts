/**
 * Reads rubrics in the YAML front matter of guidelines. The rubric is the member `rubric` of the front matter, such as
 * `rubric: { strength: true, flags: [unsafe] }`. Guidelines without this member are plain text. Services that do not
 * know rubrics show the front matter as text. `src/service/README.md` describes all members of a rubric.
 */
import { Predicate, Result, Schema, Struct } from "effect"
import { isNode, LineCounter, parseDocument, stringify } from "yaml"
import { Aspect, defaultSteps, defaultStrengths, none, Rubric } from "../domain/Rubric.ts"
import { didYouMean, editsBetween } from "../io/NearestName.ts"
import { problems } from "../io/SchemaIssues.ts"
import { describeValue } from "../io/Values.ts"

export interface Guidelines {
  readonly rubric: Rubric
  /** The guidelines without the rubric's front matter. If nothing is left, this is undefined. */
  readonly text: string | undefined
}

const Required = Schema.Literal("required")

const Written = Schema.Struct({
  strength: Schema.optionalKey(
    Schema.Union([
      Schema.Boolean,
      Required,
      Rubric.fields.strength,
      Schema.Struct({ labels: Rubric.fields.strength, required: Schema.optionalKey(Schema.Boolean) }),
    ]),
  ),
  all_bad: Schema.optionalKey(Schema.Boolean),
  flags: Schema.optionalKey(Rubric.fields.flags),
  edit: Schema.optionalKey(Schema.Union([Schema.Boolean, Required])),
  rationale: Schema.optionalKey(Schema.Literals(["required", "optional"])),
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

const memberNames = Struct.keys(Written.fields)
const aspectNames = Struct.keys(Aspect.fields)

const oneLine = ({ message }: { readonly message: string }): string => message.replaceAll(/\s+/g, " ")

type Keys = ReadonlyArray<string | number>

interface Yaml {
  readonly value: unknown
  readonly at: (keys: Keys) => string
}

const yamlOf = (text: string, file: string | undefined, linesBefore = 0): Result.Result<Yaml, string> => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number) => {
    const line = linesBefore + lines.linePos(Math.min(offset, text.trimEnd().length)).line
    return file === undefined ? `line ${line}: ` : `${file}:${line}: `
  }
  const [error] = document.errors
  if (error !== undefined) {
    return Result.fail(`${at(error.pos[0])}expected YAML such as "strength: true", found an error: ${oneLine(error)}`)
  }
  return Result.try({
    try: (): Yaml => ({
      value: document.toJS({ maxAliasCount: 0 }),
      at: (keys) => {
        const node = document.getIn(keys, true)
        return at(isNode(node) ? (node.range?.[0] ?? 0) : 0)
      },
    }),
    catch: () => `${at(0)}expected YAML without aliases`,
  })
}

const readRubric = ({ at, value }: Yaml, written: unknown, within: Keys): Result.Result<Rubric, string> => {
  const wrong = (keys: Keys, problem: string) => Result.fail(at([...within, ...keys]) + problem)
  if (!Predicate.isObject(written)) {
    const actual = written === undefined || written === null ? "nothing" : describeValue(written)
    return wrong([], `expected a map with ${memberNames.join(", ")}, found ${actual}`)
  }
  const { aspects } = written
  // If a file misspells the name `rubric`, the whole file is read as a rubric. The error must suggest `rubric`.
  const names = written === value ? [...memberNames, "rubric"] : memberNames
  const unknown = [
    ...unknownIn(written, names, []),
    ...(Array.isArray(aspects) ? aspects.flatMap((of, i) => unknownIn(of, aspectNames, ["aspects", i])) : []),
  ]
  const [first] = unknown
  if (first !== undefined) return wrong(first.keys, first.problem)
  return Result.mapError(decode(written), ({ issue, message }) => {
    const [member] = problems(issue)[0]?.path ?? []
    return at(typeof member === "string" ? [...within, member] : within) + oneLine({ message })
  })
}

const unknownIn = (value: unknown, names: ReadonlyArray<string>, within: Keys) =>
  Predicate.isObject(value)
    ? Object.keys(value)
        .filter((name) => !names.includes(name))
        .map((name) => ({ keys: [...within, name], problem: `unknown member ${name}${didYouMean(name, names)}` }))
    : []

const decode = (written: unknown) =>
  Result.flatMap(decodeWritten(written), ({ aspects = [], edit = false, rationale, strength = false, ...rest }) => {
    const [labels, isStrengthRequired = false] = Predicate.isObject(strength)
      ? [strength.labels, strength.required]
      : [strength, strength === "required"]
    return decodeRubric({
      ...none,
      ...rest,
      strength: labels === false ? [] : Array.isArray(labels) ? labels : defaultStrengths,
      edit: edit !== false,
      required: [
        ...(isStrengthRequired ? ["strength"] : []),
        ...(edit === "required" ? ["edit"] : []),
        ...(rationale === "required" ? ["rationale"] : []),
      ],
      aspects: aspects.map((aspect) =>
        typeof aspect === "string" ? { name: aspect, steps: defaultSteps } : { steps: defaultSteps, ...aspect },
      ),
    })
  })

const frontMatter = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:$|\r?\n(?:[ \t]*\r?\n)*)/

/** Matches misspellings such as `rubrik` and `Rubrics`, but not `public`. */
const isLikeRubric = (name: string): boolean =>
  editsBetween(name.toLowerCase(), "rubric") <= (name.toLowerCase().startsWith("rub") ? 2 : 1)

interface Split {
  readonly yaml: Result.Result<Yaml, string> | undefined
  readonly text: string
}

const split = (guidelines: string, file?: string): Split => {
  const [whole = "", block] = frontMatter.exec(guidelines) ?? []
  const alone: Split = { yaml: undefined, text: guidelines }
  if (block === undefined) return alone
  const yaml = yamlOf(block, file, 1)
  if (Result.isFailure(yaml)) return /^rubric/m.test(block) ? { ...alone, yaml } : alone
  const { at, value } = yaml.success
  if (!Predicate.isObject(value)) return alone
  if ("rubric" in value) return { yaml, text: guidelines.slice(whole.length) }
  const like = Object.keys(value).find(isLikeRubric)
  return like === undefined
    ? alone
    : { ...alone, yaml: Result.fail(`${at([like])}unknown member ${like} (did you mean rubric?)`) }
}

const underRubric = (yaml: Yaml) => (Predicate.isObject(yaml.value) ? yaml.value["rubric"] : undefined)

export const parse = (guidelines: string | undefined, file?: string): Result.Result<Guidelines, string> => {
  if (guidelines === undefined) return Result.succeed({ rubric: none, text: undefined })
  const { text, yaml } = split(guidelines, file)
  if (yaml === undefined) return Result.succeed({ rubric: none, text })
  return yaml.pipe(
    Result.flatMap((yaml) => readRubric(yaml, underRubric(yaml), ["rubric"])),
    Result.map((rubric) => ({ rubric, text: text.trim() === "" ? undefined : text })),
  )
}

export const rubricOf = (guidelines: string | undefined): Rubric =>
  Result.getOrElse(parse(guidelines), () => ({ rubric: none })).rubric

export const textOf = (guidelines: string | undefined): string | undefined =>
  guidelines === undefined ? undefined : split(guidelines).text

export const withRubric = (
  guidelines: string | undefined,
  rubric: string,
  file?: string,
): Result.Result<string, string> => {
  const { text, yaml } = split(guidelines ?? "")
  if (yaml !== undefined)
    return Result.fail("the guidelines already have a rubric in their front matter; remove one of the two rubrics")
  return Result.flatMap(yamlOf(rubric, file), (yaml) => {
    const isWrapped = Predicate.isObject(yaml.value) && "rubric" in yaml.value
    const written = isWrapped ? underRubric(yaml) : yaml.value
    return Result.map(
      readRubric(yaml, written, isWrapped ? ["rubric"] : []),
      () => `---\n${stringify({ rubric: written })}---\n\n${text}`,
    )
  })
}

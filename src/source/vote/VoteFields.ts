/**
 * Where votes are in a record, and how they are read: a choice (a record per vote), several columns (one per expert, or
 * together one choice), or a list.
 *
 * Guarantees: options that are set are used, the others are detected in the first records by their names (`voteNames`)
 * and values. What is not certain is a failure of one line that names the option to set.
 */
import { Array as Arr, Option, Result, Schema } from "effect"
import type { VotedItem } from "../../domain/VotedItem.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import { describeValue, isEmpty, isObject, joinWords } from "../../io/Values.ts"
import type { SourceItem } from "../../domain/PromptItem.ts"
import * as Sample from "../detect/Sample.ts"
import * as UnknownFields from "../detect/UnknownFields.ts"
import * as Field from "../record/Field.ts"
import type { Row } from "../record/Row.ts"
import * as Choice from "./Choice.ts"
import * as ChoiceColumns from "./ChoiceColumns.ts"
import { numberOf } from "./ChoiceMap.ts"
import { isMissing } from "./ChoiceReadings.ts"
import * as VoteAssessment from "./VoteAssessment.ts"
import { expertColumn, voteNames } from "./VoteNames.ts"
import * as VoteRanking from "./VoteRanking.ts"
import { readable, text } from "./VoteText.ts"

/** Field paths of the parts of a vote. Options that are not set are detected. */
export interface VoteOptions {
  /**
   * The choice: a path, or one for each expert, who then has the path's name. Within `votes`, of its elements. If `choiceAs`
   * is `scores`, `ranks` or `one-hot`: the list of values, or a path for each completion, in their order.
   */
  readonly choice?: string | ReadonlyArray<string> | undefined
  /** The list of an item's votes. */
  readonly votes?: string | undefined
  readonly expert?: string | undefined
  readonly rationale?: string | undefined
  readonly strength?: string | undefined
  readonly judgedAt?: string | undefined
  /** How a choice names a completion. Default: detected, if there is one way only. */
  readonly choiceAs?: Choice.ChoiceKind | undefined
  /**
   * What each value of a choice means, instead of `choiceAs`: a place (`first`, `second`, …), `tie`, `all_bad` (a tie of which
   * all are bad), `none` (no vote), or the name of a column or model. A value may be a comparison: `{ ">0.5": "second" }`.
   * With `one-hot`, what each column means.
   */
  readonly choiceMap?: { readonly [value: string]: string } | undefined
}

export const flags = {
  choice: "--choice-path",
  votes: "--votes-path",
  expert: "--expert-path",
  rationale: "--rationale-path",
  strength: "--strength-path",
  judgedAt: "--judged-at-path",
  choiceAs: "--choice-as",
  choiceMap: "--choice-map",
} as const satisfies { readonly [option in keyof VoteOptions]: string }

export interface VoteFields {
  /** A single one, one for each expert or, if the choice is a value per completion, for each completion. */
  readonly choices: ReadonlyArray<Field.Field>
  readonly isPerCompletion: boolean
  readonly list: Field.Field | undefined
  readonly expert: Field.Field | undefined
  readonly rationale: Field.Field | undefined
  readonly strength: Field.Field | undefined
  readonly judgedAt: Field.Field | undefined
}

/** Reads paths in which names of the sample's members may be as they are. */
const parserOf = ({ members }: Pick<Sample.Sample, "members">) => {
  const names = members.map(({ name }) => name)
  const known = new Set(names)
  return (text: string, flag: string): Result.Result<Field.Field, string> =>
    Result.mapError(
      Field.parse(Field.ofMembers(text, known)),
      (problem) => `${flag}: ${problem}${UnknownFields.noMember(names)}`,
    )
}

/** The member of one of the names, in their order. */
const memberOf = ({ members }: Pick<Sample.Sample, "members">, names: ReadonlyArray<string>) =>
  names.flatMap((name) => members.filter(({ plainName, values }) => plainName === name && values.length > 0))[0]?.path

/** The elements of a list of votes, as records of their own. */
const elementsOf = (sample: Sample.Sample, list: Field.Field): ReadonlyArray<unknown> =>
  sample.rows.flatMap(({ isTextual, value }) => {
    const elements = Field.fromText(list.get(value, isTextual))
    return Array.isArray(elements) ? elements : []
  })

const asRow = (value: unknown): Row => ({ value, place: { file: "", line: 1, raw: undefined } })

/** The failure is one line, for the user. */
export const detect = (sample: Sample.Sample, options: VoteOptions): Result.Result<VoteFields, string> =>
  Result.gen(function* () {
    const { members } = sample
    const given = options.choice === undefined ? [] : [options.choice].flat()
    const numbered = members.filter(({ plainName }) => expertColumn.test(plainName)).map(({ path }) => path)
    const isList = ({ kinds }: Sample.Member) =>
      (["objects", "texts", "other"] as const).some((kind) => kinds.has(kind))
    const plain = { members: members.filter((member) => !isList(member)) }
    const oneHot = given.length > 0 ? [] : ChoiceColumns.oneHot(sample, voteNames.choice)
    const own = memberOf(sample, voteNames.choice) ?? oneHot[0] ?? memberOf(plain, ["labels"])
    const listed =
      given.length > 0 || numbered.length > 1 || own !== undefined
        ? undefined
        : memberOf({ members: members.filter(isList) }, voteNames.list)
    const listPath = options.votes ?? listed
    const list = listPath === undefined ? undefined : yield* parserOf(sample)(listPath, flags.votes)
    const within = list === undefined ? sample : Sample.of(elementsOf(sample, list).map(asRow))
    const find = (names: ReadonlyArray<string>) => memberOf(within, names)
    // Other objects are reported as not used. Cells are text, whatever they say.
    const texts = {
      members: within.members.filter(
        ({ isTextual, values }) => isTextual || values.some((value) => readable(value) !== undefined),
      ),
    }
    const parse = parserOf(within)
    const optional = (text: string | undefined, flag: string) =>
      text === undefined ? Result.succeed(undefined) : parse(text, flag)
    const paths =
      given.length > 0
        ? given
        : list !== undefined
          ? [find(voteNames.choice)].flatMap((path) => path ?? [])
          : numbered.length > 1
            ? numbered
            : oneHot.includes(own ?? "")
              ? oneHot
              : [own].flatMap((path) => path ?? [])
    if (paths.length === 0 && list === undefined) {
      const names = members.map(({ name }) => JSON.stringify(name))
      return yield* Result.fail(
        `found no votes in ${joinWords(names.slice(0, 20))}: ${ChoiceColumns.suggestion(sample) ?? `set ${flags.choice}, once or for each expert's column, or ${flags.votes}, a list`}`,
      )
    }
    const choices = yield* Result.all(paths.map((path) => parse(path, flags.choice)))
    const isPerCompletion = paths === oneHot || Choice.isPerCompletion(options.choiceAs)
    const isSingle = choices.length < 2 || isPerCompletion
    return {
      choices,
      isPerCompletion,
      list,
      expert: yield* optional(
        options.expert ?? (isSingle ? memberOf(texts, voteNames.expert) : undefined),
        flags.expert,
      ),
      rationale: yield* optional(options.rationale ?? memberOf(texts, voteNames.rationale), flags.rationale),
      strength: yield* optional(options.strength ?? memberOf(texts, voteNames.strength), flags.strength),
      judgedAt: yield* optional(options.judgedAt ?? memberOf(texts, voteNames.judgedAt), flags.judgedAt),
    }
  })

/** A vote as a record has it: what is chosen, and where its other parts are. */
interface Given {
  readonly choice: unknown
  /** For messages. */
  readonly name: string
  readonly expert: unknown
  /** Where the other parts are. */
  readonly at: unknown
  readonly isTextual: true | undefined
  /** Set where an expert's column has no value: no vote, unless the value has a meaning of its own. */
  readonly isOptional?: boolean
}

/** All votes of a record. */
const givenIn = (
  { choices, expert, isPerCompletion, list }: VoteFields,
  { isTextual, value }: Row,
): Result.Result<ReadonlyArray<Given>, string> => {
  if (list === undefined) {
    const columns = choices.map((field) => ({ field, choice: field.get(value, isTextual) }))
    const [first] = columns
    if (columns.length > 1 && isPerCompletion) {
      const choice = { columns: choices.map(({ label }) => label), values: columns.map(({ choice }) => choice) }
      const name = joinWords(choices.map(({ name }) => name))
      return Result.succeed([{ choice, name, expert: expert?.get(value, isTextual), at: value, isTextual }])
    }
    if (columns.length === 1 && first !== undefined) {
      const { choice, field } = first
      return Result.succeed([{ choice, name: field.name, expert: expert?.get(value, isTextual), at: value, isTextual }])
    }
    return Result.succeed(
      columns.map(({ choice, field }) => ({
        choice,
        name: field.name,
        expert: field.label,
        at: value,
        isTextual,
        isOptional: isMissing(choice),
      })),
    )
  }
  const elements = Field.fromText(list.get(value, isTextual))
  if (!Array.isArray(elements))
    return Result.fail(`${list.name}: expected a list of votes, found ${describeValue(elements)}`)
  return Result.succeed(
    elements.map((element: unknown, i) => {
      const [choice] = choices
      return isObject(element)
        ? {
            choice: choice?.get(element),
            name: `${list.nameAt(i)}.${choice?.name ?? "choice"}`,
            expert: expert?.get(element),
            at: element,
            isTextual: undefined,
          }
        : { choice: element, name: list.nameAt(i), expert: undefined, at: {}, isTextual: undefined }
    }),
  )
}

/** The choices of a record. */
export const choicesIn = (fields: VoteFields, row: Row): ReadonlyArray<Pick<Given, "choice" | "name">> =>
  Result.getOrElse(givenIn(fields, row), () => [])

const decodeOrder = Schema.decodeUnknownOption(Schema.Array(Schema.Int))

const member = (record: unknown, name: string, isTextual: true | undefined): unknown => {
  const value = isObject(record) && Object.hasOwn(record, name) ? record[name] : undefined
  return isTextual === true ? Field.fromText(value) : value
}

/** Reads the votes of a record. The failure is the reason, with the field. */
export const reader = (
  fields: VoteFields,
  read: ReturnType<typeof Choice.reader>,
): ((row: Row, item: SourceItem) => Result.Result<VotedItem["votes"], string>) => {
  const voteOf = (given: Given, item: SourceItem["item"]): Result.Result<ImportedVote | undefined, string> =>
    Result.gen(function* () {
      const { at, isTextual } = given
      const { completions } = item
      const all = completions.map((_, i) => i)
      const listed = member(at, "ranking", isTextual)
      const ranked =
        VoteRanking.ofIndices(listed, completions.length) ??
        (yield* VoteRanking.byName(member(at, "ranked", isTextual), completions.length, (value) => read(value, item)))
      const isByRanking = isEmpty(given.choice) && ranked !== undefined
      const asRead = isByRanking
        ? Result.succeed<Choice.Chosen>({ choice: ranked[0]![0], ranking: ranked })
        : read(given.choice, item)
      if (Result.isFailure(asRead) && given.isOptional === true) return undefined
      const values = Field.fromText(given.choice)
      const hint =
        fields.isPerCompletion && Array.isArray(values) && values.length !== completions.length
          ? `; if one element is the choice, set ${flags.choice} '${fields.choices[0]!.nameAt(0)}', without ${flags.choiceAs}`
          : ""
      const chosen = yield* Result.mapError(asRead, (reason) => `${given.name}: ${reason}${hint}`)
      if (chosen === undefined) return undefined
      const { allBad, choice } = chosen
      yield* VoteRanking.checkOrder(listed, completions.length, isByRanking ? undefined : choice)
      const first = choice ?? 0
      const ranking =
        chosen.ranking ??
        (ranked?.[0]?.includes(first) === true
          ? ranked
          : choice === undefined && Arr.isArrayNonEmpty(all)
            ? [all]
            : undefined)
      const order = Option.getOrUndefined(decodeOrder(member(at, "order", isTextual)))
      const seconds = numberOf(member(at, "seconds", isTextual))
      const rationale = text(fields.rationale?.get(at, isTextual))
      const stated = fields.strength?.get(at, isTextual) ?? chosen.strength
      const isNumeric = typeof stated === "string" && stated.trim() !== "" && Number.isFinite(Number(stated))
      const strength = isNumeric ? Number(stated) : stated
      const judged = fields.judgedAt?.get(at, isTextual)
      return {
        expert: text(given.expert) ?? null,
        choice: first,
        ...(ranking !== undefined && { ranking }),
        ...(order !== undefined && VoteRanking.isPermutation(order, completions.length) && { order }),
        ...(seconds !== undefined && Number.isFinite(seconds) && { seconds }),
        ...(rationale !== undefined && { rationale }),
        ...((typeof strength === "string" || typeof strength === "number") && strength !== "" && { strength }),
        ...(allBad === true && { all_bad: true }),
        ...VoteAssessment.read(at, first, completions.length, isTextual),
        ...((typeof judged === "string" || typeof judged === "number") && judged !== "" && { judged_at: judged }),
      }
    })
  return (row, { item }) =>
    Result.flatMap(givenIn(fields, row), (given) =>
      Result.flatMap(Result.all(given.map((one) => voteOf(one, item))), (read) => {
        const votes = read.flatMap((vote) => vote ?? [])
        return Arr.isArrayNonEmpty(votes)
          ? Result.succeed(votes)
          : Result.fail(`${(fields.list ?? fields.choices[0])!.name}: expected at least one vote, found none`)
      }),
    )
}

/** Finds a record's votes: a list, a column per expert, or one vote. One vote may have a column per completion. */
import { Array as Arr, Option, Result, Schema } from "effect"
import type { VotedItem } from "../../domain/VotedItem.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import * as OptionText from "../../io/OptionText.ts"
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
import * as VoteNumbers from "./VoteNumbers.ts"
import * as VoteRanking from "./VoteRanking.ts"

/** Field paths of the parts of a vote. Options that are not set are detected. */
export interface VoteOptions {
  /**
   * The path of the choice.
   * - If each expert has a column, set the paths of these columns. The name of a column is the name of the expert.
   * - If `choiceAs` is `scores`, `ranks`, or `one-hot`, set one path per completion, or the path of a list with one
   *   value per completion.
   * - If `votes` is set, a path begins inside an element of the list of votes.
   */
  readonly choice?: string | ReadonlyArray<string> | undefined
  /** The path of the list with one element per vote. */
  readonly votes?: string | undefined
  /** The path of the expert's name. */
  readonly expert?: string | undefined
  /** The path of the reason for the choice. */
  readonly rationale?: string | undefined
  /** The path of the strength of the preference. */
  readonly strength?: string | undefined
  /** The path of the time of the vote. */
  readonly judgedAt?: string | undefined
  /** How a choice identifies a completion. Default: detected, if only one way is possible. */
  readonly choiceAs?: Choice.ChoiceKind | undefined
  /**
   * The meaning of each value of the choice: a position (`first`, `second`, …), `tie`, `all_bad` (a tie of bad
   * completions), `none` (no vote), or the name of a column or model. A key of the map is a value, or a comparison such
   * as `>0.5`. With a map, `choiceAs` must be unset or `one-hot`. For `one-hot`, a key is the name of a column.
   */
  readonly choiceMap?: { readonly [value: string]: string } | undefined
}

// prettier-ignore
export const optionKinds: Kinds.KindsOf<VoteOptions> = {
  choice: Kinds.textOrTexts, votes: Kinds.anyText, expert: Kinds.anyText, rationale: Kinds.anyText,
  strength: Kinds.anyText, judgedAt: Kinds.anyText, choiceAs: Kinds.anyText,
  choiceMap: Kinds.recordOf("an object with the meaning of each value", Kinds.anyText),
}

export interface VoteFields {
  readonly choices: ReadonlyArray<Field.Field>
  readonly isPerCompletion: boolean
  readonly list?: Field.Field | undefined
  readonly expert?: Field.Field | undefined
  readonly rationale?: Field.Field | undefined
  readonly strength?: Field.Field | undefined
  readonly judgedAt?: Field.Field | undefined
}

const parserOf = ({ members }: Pick<Sample.Sample, "members">) => {
  const names = members.map(({ name }) => name)
  const memberNames = new Set(names)
  return (text: string, option: string): Result.Result<Field.Field, string> =>
    Result.mapError(
      Field.parse(Field.ofMembers(text, memberNames)),
      (problem) => `${OptionText.of(option)}: ${problem}${UnknownFields.noMember(names)}`,
    )
}

const memberOf = ({ members }: Pick<Sample.Sample, "members">, names: ReadonlyArray<string>) =>
  Sample.named(members, names).find(({ values }) => values.length > 0)?.path

const elementsOf = (sample: Sample.Sample, list: Field.Field): ReadonlyArray<unknown> =>
  sample.rows.flatMap(({ isTextual, value }) => {
    const elements = Field.fromText(list.get(value, isTextual))
    return Array.isArray(elements) ? elements : []
  })

const asRow = (value: unknown): Row => ({ value, place: { file: "", line: 1, raw: undefined } })

export const detect = (sample: Sample.Sample, options: VoteOptions): Result.Result<VoteFields, string> =>
  Result.gen(function* () {
    const { members } = sample
    const choicePaths = options.choice === undefined ? [] : [options.choice].flat()
    const expertPaths = members.filter(({ plainName }) => expertColumn.test(plainName)).map(({ path }) => path)
    const isList = ({ kinds }: Sample.Member) =>
      (["objects", "texts", "other"] as const).some((kind) => kinds.has(kind))
    const plain = { members: members.filter((member) => !isList(member)) }
    const oneHot = choicePaths.length > 0 ? [] : ChoiceColumns.oneHot(sample)
    const numbers = VoteNumbers.find(sample)
    const others = { members: members.filter((member) => member !== numbers) }
    const choicePath = memberOf(others, voteNames.choice) ?? oneHot[0] ?? memberOf(plain, ["labels"])
    const detectedList =
      choicePaths.length > 0 || expertPaths.length > 1 || choicePath !== undefined
        ? undefined
        : memberOf({ members: members.filter(isList) }, voteNames.list)
    const listPath = options.votes ?? detectedList
    const list = listPath === undefined ? undefined : yield* parserOf(sample)(listPath, "votes.votes")
    const voteSample = list === undefined ? sample : Sample.of(elementsOf(sample, list).map(asRow))
    const find = (names: ReadonlyArray<string>) => memberOf(voteSample, names)
    const texts = {
      members: voteSample.members.filter(
        ({ isTextual, values }) => isTextual || values.some((value) => readableValue(value) !== undefined),
      ),
    }
    const parse = parserOf(voteSample)
    const optional = (text: string | undefined, option: string) =>
      text === undefined ? Result.succeed(undefined) : parse(text, option)
    const paths =
      choicePaths.length > 0
        ? choicePaths
        : list !== undefined
          ? [find(voteNames.choice)].flatMap((path) => path ?? [])
          : expertPaths.length > 1
            ? expertPaths
            : oneHot.includes(choicePath ?? "")
              ? oneHot
              : [choicePath].flatMap((path) => path ?? [])
    if (paths.length === 0 && list === undefined && numbers !== undefined) {
      return yield* Result.fail(
        `${VoteNumbers.problem}: restore the column "chosen_index", or set ${OptionText.of("choice")} to the column that has the choices`,
      )
    }
    if (paths.length === 0 && list === undefined) {
      const names = members.map(({ name }) => JSON.stringify(name))
      return yield* Result.fail(
        `found no votes in ${joinWords(names.slice(0, 20))}: ${ChoiceColumns.suggestion(sample) ?? `set ${OptionText.of("choice")} to the column or columns that have the choices, or ${OptionText.of("votes.votes")} to the column that has a list of votes`}`,
      )
    }
    const choices = yield* Result.all(paths.map((path) => parse(path, "choice")))
    const isPerCompletion = paths === oneHot || Choice.isPerCompletion(options.choiceAs)
    const isSingle = choices.length < 2 || isPerCompletion
    return {
      choices,
      isPerCompletion,
      list,
      expert: yield* optional(options.expert ?? (isSingle ? memberOf(texts, voteNames.expert) : undefined), "expert"),
      rationale: yield* optional(options.rationale ?? memberOf(texts, voteNames.rationale), "rationale"),
      strength: yield* optional(options.strength ?? memberOf(texts, voteNames.strength), "strength"),
      judgedAt: yield* optional(options.judgedAt ?? memberOf(texts, voteNames.judgedAt), "judgedAt"),
    }
  })

const readableValue = (rawValue: unknown): unknown => {
  let value = rawValue
  while (isObject(value)) value = value["id"] ?? value["name"] ?? value["username"]
  return isEmpty(value) ? undefined : value
}

const text = (rawValue: unknown): string | undefined => {
  const value = readableValue(rawValue)
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value)
}

interface RawVote {
  readonly choice: unknown
  readonly name: string
  readonly expert: unknown
  readonly record: unknown
  readonly isTextual: true | undefined
  /** True if the cell is empty or has a text such as `NA`. If reading the cell fails, there is no vote and no error. */
  readonly isOptional?: boolean
}

const rawVotesIn = (
  { choices, expert, isPerCompletion, list }: VoteFields,
  { isTextual, value }: Row,
): Result.Result<ReadonlyArray<RawVote>, string> => {
  if (list === undefined) {
    const one = { expert: expert?.get(value, isTextual), record: value, isTextual }
    const cells = choices.map(({ get, label, name }) => ({ choice: get(value, isTextual), label, name }))
    if (cells.length > 1 && isPerCompletion) {
      const choice = { columns: cells.map(({ label }) => label), values: cells.map(({ choice }) => choice) }
      return Result.succeed([{ ...one, choice, name: joinWords(cells.map(({ name }) => name)) }])
    }
    return Result.succeed(
      cells.map(({ choice, label, name }) =>
        cells.length === 1
          ? { ...one, choice, name }
          : { ...one, choice, name, expert: label, isOptional: isMissing(choice) },
      ),
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
            record: element,
            isTextual: undefined,
          }
        : { choice: element, name: list.nameAt(i), expert: undefined, record: {}, isTextual: undefined }
    }),
  )
}

export const choicesIn = (fields: VoteFields, row: Row): ReadonlyArray<Pick<RawVote, "choice" | "name">> =>
  Result.getOrElse(rawVotesIn(fields, row), () => [])

const decodeOrder = Schema.decodeUnknownOption(Schema.Array(Schema.Int))

const member = (record: unknown, name: string, isTextual: true | undefined): unknown => {
  const value = isObject(record) && Object.hasOwn(record, name) ? record[name] : undefined
  return isTextual === true ? Field.fromText(value) : value
}

export const reader = (
  fields: VoteFields,
  read: ReturnType<typeof Choice.reader>,
): ((row: Row, item: SourceItem) => Result.Result<VotedItem["votes"], string>) => {
  const voteOf = (rawVote: RawVote, item: SourceItem["item"]): Result.Result<ImportedVote | undefined, string> =>
    Result.gen(function* () {
      const { record: at, isTextual } = rawVote
      const { completions } = item
      const allIndices = completions.map((_, i) => i)
      const rankingList = member(at, "ranking", isTextual)
      const detectedRanking =
        VoteRanking.ofIndices(rankingList, completions.length) ??
        (yield* VoteRanking.byName(member(at, "ranked", isTextual), completions.length, (value) => read(value, item)))
      const isByRanking = isEmpty(rawVote.choice) && detectedRanking !== undefined
      const choiceResult = isByRanking
        ? Result.succeed<Choice.ParsedChoice>({ choice: detectedRanking[0]![0], ranking: detectedRanking })
        : read(rawVote.choice, item)
      if (Result.isFailure(choiceResult) && rawVote.isOptional === true) return undefined
      const values = Field.fromText(rawVote.choice)
      const hint =
        fields.isPerCompletion && Array.isArray(values) && values.length !== completions.length
          ? `; if the choice is a single element of the list, such as the first, set ${OptionText.set({ choice: fields.choices[0]!.nameAt(0) })}, and omit ${OptionText.of("choiceAs")}`
          : ""
      const chosen = yield* Result.mapError(choiceResult, (reason) => `${rawVote.name}: ${reason}${hint}`)
      if (chosen === undefined) return undefined
      const { allBad, choice } = chosen
      yield* VoteRanking.checkOrder(rankingList, completions.length, isByRanking ? undefined : choice)
      const first = choice ?? 0
      const ranking =
        chosen.ranking ??
        (detectedRanking?.[0]?.includes(first) === true
          ? detectedRanking
          : choice === undefined && Arr.isArrayNonEmpty(allIndices)
            ? [allIndices]
            : undefined)
      const order = Option.getOrUndefined(decodeOrder(member(at, "order", isTextual)))
      const seconds = numberOf(member(at, "seconds", isTextual))
      const rationale = text(fields.rationale?.get(at, isTextual))
      const rawStrength = fields.strength?.get(at, isTextual) ?? chosen.strength
      const isNumeric =
        typeof rawStrength === "string" && rawStrength.trim() !== "" && Number.isFinite(Number(rawStrength))
      const strength = isNumeric ? Number(rawStrength) : rawStrength
      const judgedAt = fields.judgedAt?.get(at, isTextual)
      return {
        expert: text(rawVote.expert) ?? null,
        choice: first,
        ...(ranking !== undefined && { ranking }),
        ...(order !== undefined && VoteRanking.isPermutation(order, completions.length) && { order }),
        ...(seconds !== undefined && Number.isFinite(seconds) && { seconds }),
        ...(rationale !== undefined && { rationale }),
        ...((typeof strength === "string" || typeof strength === "number") && strength !== "" && { strength }),
        ...(allBad === true && { all_bad: true }),
        ...VoteAssessment.read(at, first, completions.length, isTextual),
        ...((typeof judgedAt === "string" || typeof judgedAt === "number") &&
          judgedAt !== "" && { judged_at: judgedAt }),
      }
    })
  return (row, { item }) =>
    Result.flatMap(rawVotesIn(fields, row), (rawVotes) =>
      Result.flatMap(Result.all(rawVotes.map((rawVote) => voteOf(rawVote, item))), (results) => {
        const votes = results.flatMap((vote) => vote ?? [])
        return Arr.isArrayNonEmpty(votes)
          ? Result.succeed(votes)
          : Result.fail(`${(fields.list ?? fields.choices[0])!.name}: expected at least one vote, found none`)
      }),
    )
}

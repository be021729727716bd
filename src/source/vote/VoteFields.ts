/**
 * Where votes are in a record, and how they are read: a choice (a record per vote), several columns (one per expert), or a
 * list.
 *
 * Guarantees: options that are set are used, the others are detected in the first records by their names (`voteNames`)
 * and values. What is not certain is a failure of one line that names the option to set.
 */
import { Array as Arr, Option, Result, Schema } from "effect"
import type { VotedItem } from "../../domain/VotedItem.ts"
import { type ImportedVote, Ranking } from "../../domain/Vote.ts"
import { describeValue, isEmpty, isObject, joinWords } from "../../io/Values.ts"
import type { SourceItem } from "../../domain/PromptItem.ts"
import * as Sample from "../detect/Sample.ts"
import * as Field from "../record/Field.ts"
import type { Row } from "../record/Row.ts"
import type * as Choice from "./Choice.ts"
import * as VoteAssessment from "./VoteAssessment.ts"

/** The members that are known, by what they say, in the order in which they are tried. */
export const voteNames = {
  choice: [
    "chosen_index", "best_completion_index", "choice", "vote", "preference", "preferred", "winner", "label", "best",
    "best_response", "best_completion", "selected", "judgment", "judgement", "verdict",
  ],
  expert: [
    "expert", "expert_id", "annotator", "annotator_id", "worker", "worker_id", "rater", "rater_id", "labeler", "labeler_id",
    "judge", "judge_id", "user_id", "user", "reviewer", "completed_by",
  ],
  rationale: ["rationale", "reason", "explanation", "justification", "comment", "feedback"],
  strength: ["strength", "preference_strength"],
  judgedAt: ["judged_at", "annotated_at", "submitted_at", "created_at", "timestamp", "tstamp"],
  list: ["votes", "annotations", "judgments", "judgements", "preferences", "labels"],
  item: ["item_id", "prompt_id", "question_id", "instruction_id", "pair_id", "example_id", "comparison_id", "id", "idx"],
} as const // prettier-ignore

/** Names of columns that are one expert's choice each. */
const expertColumn = /^(annotator|rater|expert|worker|labeler|judge|vote|human)[_ ]?\d+$/

/** Members by these names number completions from 0 on. */
const indexNames: ReadonlySet<string> = new Set(["chosen_index", "best_completion_index"])

/** Field paths of the parts of a vote. Options that are not set are detected. */
export interface VoteOptions {
  /** The choice: a path, or one for each expert, who then has the path's name. Within `votes`, of its elements. */
  readonly choice?: string | ReadonlyArray<string> | undefined
  /** The list of an item's votes. */
  readonly votes?: string | undefined
  readonly expert?: string | undefined
  readonly rationale?: string | undefined
  readonly strength?: string | undefined
  readonly judgedAt?: string | undefined
  /** How a choice names a completion. */
  readonly choiceAs?: Choice.ChoiceKind | undefined
}

export const flags = {
  choice: "--choice-path",
  votes: "--votes-path",
  expert: "--expert-path",
  rationale: "--rationale-path",
  strength: "--strength-path",
  judgedAt: "--judged-at-path",
  choiceAs: "--choice-as",
} as const satisfies { readonly [option in keyof VoteOptions]: string }

export interface VoteFields {
  readonly choices: ReadonlyArray<Field.Field>
  readonly list: Field.Field | undefined
  readonly expert: Field.Field | undefined
  readonly rationale: Field.Field | undefined
  readonly strength: Field.Field | undefined
  readonly judgedAt: Field.Field | undefined
}

const optional = (text: string | undefined, flag: string) =>
  text === undefined
    ? Result.succeed(undefined)
    : Result.mapError(Field.parse(text), (problem) => `${flag}: ${problem}`)

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
    const own = memberOf(sample, voteNames.choice)
    const isList = ({ kinds }: Sample.Member) =>
      (["objects", "texts", "other"] as const).some((kind) => kinds.has(kind))
    const listed =
      given.length > 0 || numbered.length > 1 || own !== undefined
        ? undefined
        : memberOf({ members: members.filter(isList) }, voteNames.list)
    const list = yield* optional(options.votes ?? listed, flags.votes)
    const within = list === undefined ? sample : Sample.of(elementsOf(sample, list).map(asRow))
    const find = (names: ReadonlyArray<string>) => memberOf(within, names)
    const paths =
      given.length > 0
        ? given
        : list !== undefined
          ? [find(voteNames.choice)].flatMap((path) => path ?? [])
          : numbered.length > 1
            ? numbered
            : [own].flatMap((path) => path ?? [])
    if (paths.length === 0 && list === undefined) {
      const names = members.map(({ name }) => JSON.stringify(name))
      return yield* Result.fail(
        `found no votes in ${joinWords(names.slice(0, 20))}: set ${flags.choice}, once or for each expert's column, or ${flags.votes}, a list`,
      )
    }
    const choices = yield* Result.all(
      paths.map((path) => Result.mapError(Field.parse(path), (problem) => `${flags.choice}: ${problem}`)),
    )
    const isSingle = choices.length < 2
    return {
      choices,
      list,
      expert: yield* optional(options.expert ?? (isSingle ? find(voteNames.expert) : undefined), flags.expert),
      rationale: yield* optional(options.rationale ?? find(voteNames.rationale), flags.rationale),
      strength: yield* optional(options.strength ?? find(voteNames.strength), flags.strength),
      judgedAt: yield* optional(options.judgedAt ?? find(voteNames.judgedAt), flags.judgedAt),
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
}

/** What spreadsheets, R and pandas write into a cell without a value. */
const isMissing = (value: unknown) =>
  isEmpty(value) || (typeof value !== "object" && /^\s*(?:na|n\/a|nan|null)\s*$/i.test(String(value)))

/** Lists and objects are no number: their conversion may fail. */
const numberOf = (value: unknown): number => (isEmpty(value) || typeof value === "object" ? Number.NaN : Number(value))

/** All votes of a record; cells of experts' columns without a value are none. */
const givenIn = (
  { choices, expert, list }: VoteFields,
  { isTextual, value }: Row,
): Result.Result<ReadonlyArray<Given>, string> => {
  if (list === undefined) {
    const columns = choices.map((field) => ({ field, choice: field.get(value, isTextual) }))
    const [first] = columns
    if (columns.length === 1 && first !== undefined) {
      const { choice, field } = first
      return Result.succeed([{ choice, name: field.name, expert: expert?.get(value, isTextual), at: value, isTextual }])
    }
    return Result.succeed(
      columns.flatMap(({ choice, field }) =>
        isMissing(choice) ? [] : [{ choice, name: field.name, expert: field.label, at: value, isTextual }],
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
            at: element,
            isTextual: undefined,
          }
        : { choice: element, name: list.nameAt(i), expert: undefined, at: {}, isTextual: undefined }
    }),
  )
}

/** Values of the choices of the first records, for `Choice.detect`. */
export const choicesIn = (fields: VoteFields, rows: ReadonlyArray<Row>): ReadonlyArray<unknown> =>
  rows.flatMap((row) => Result.getOrElse(givenIn(fields, row), () => []).map(({ choice }) => choice))

/** Whether a choice's name says that it numbers completions from 0 on. */
export const isIndexByName = ({ choices }: VoteFields): boolean =>
  choices.length === 1 && indexNames.has(Sample.plain(choices[0]!.label))

const text = (value: unknown): string | undefined =>
  isEmpty(value)
    ? undefined
    : typeof value === "string"
      ? value
      : isObject(value)
        ? text(value["id"] ?? value["name"] ?? value["username"])
        : JSON.stringify(value)

const decodeRanking = Schema.decodeUnknownOption(Ranking)
const decodeOrder = Schema.decodeUnknownOption(Schema.Array(Schema.Int))

const isPermutation = (indices: ReadonlyArray<number>, length: number): boolean =>
  indices.length === length &&
  new Set(indices).size === length &&
  indices.every((index) => index >= 0 && index < length)

/** A ranking that names each completion once; a list of indices is one without ties. */
const rankingIn = (value: unknown, length: number): Ranking | undefined => {
  const groups = Array.isArray(value)
    ? value.map((group: unknown) => (Array.isArray(group) ? group : [group]))
    : undefined
  return Option.getOrUndefined(Option.filter(decodeRanking(groups), (ranking) => isPermutation(ranking.flat(), length)))
}

/** Of elements with a rank and what names a completion (Argilla's ranking questions), each once. */
const rankedByName = (
  value: unknown,
  length: number,
  read: (value: unknown) => Result.Result<Choice.Chosen, string>,
): Result.Result<Ranking | undefined, string> => {
  if (!Array.isArray(value)) return Result.succeed(undefined)
  const elements = value.filter(isObject).toSorted((a, b) => numberOf(a["rank"]) - numberOf(b["rank"]))
  return Result.flatMap(Result.all(elements.map((element) => read(element["value"]))), (chosen) => {
    const groups = new Map<number, Array<number>>()
    for (const [i, { choice }] of chosen.entries()) {
      const rank = numberOf(elements[i]!["rank"])
      if (choice !== undefined) groups.set(rank, [...(groups.get(rank) ?? []), choice])
    }
    const ranking = [...groups.values()]
    return isPermutation(ranking.flat(), length)
      ? Result.succeed(Option.getOrUndefined(decodeRanking(ranking)))
      : Result.fail(`ranking: expected each of ${length} completions once, found ${describeValue(value)}`)
  })
}

const member = (record: unknown, name: string, isTextual: true | undefined): unknown => {
  const value = isObject(record) && Object.hasOwn(record, name) ? record[name] : undefined
  return isTextual === true ? Field.fromText(value) : value
}

/** Reads the votes of a record. The failure is the reason, with the field. */
export const reader = (
  fields: VoteFields,
  read: ReturnType<typeof Choice.reader>,
): ((row: Row, item: SourceItem) => Result.Result<VotedItem["votes"], string>) => {
  const voteOf = (given: Given, { completions, models }: SourceItem["item"]): Result.Result<ImportedVote, string> =>
    Result.gen(function* () {
      const { at, isTextual } = given
      const all = completions.map((_, i) => i)
      const ranked =
        rankingIn(member(at, "ranking", isTextual), completions.length) ??
        (yield* rankedByName(member(at, "ranked", isTextual), completions.length, (value) =>
          read(value, completions, models),
        ))
      const { choice, strength: scale } =
        isEmpty(given.choice) && ranked !== undefined
          ? { choice: ranked[0]![0], strength: undefined }
          : yield* Result.mapError(read(given.choice, completions, models), (reason) => `${given.name}: ${reason}`)
      const first = choice ?? 0
      const ranking =
        ranked?.[0]?.includes(first) === true
          ? ranked
          : choice === undefined && Arr.isArrayNonEmpty(all)
            ? [all]
            : undefined
      const order = Option.getOrUndefined(decodeOrder(member(at, "order", isTextual)))
      const seconds = numberOf(member(at, "seconds", isTextual))
      const rationale = text(fields.rationale?.get(at, isTextual))
      const stated = fields.strength?.get(at, isTextual) ?? scale
      const isNumeric = typeof stated === "string" && stated.trim() !== "" && Number.isFinite(Number(stated))
      const strength = isNumeric ? Number(stated) : stated
      const judged = fields.judgedAt?.get(at, isTextual)
      return {
        expert: text(given.expert) ?? null,
        choice: first,
        ...(ranking !== undefined && { ranking }),
        ...(order !== undefined && isPermutation(order, completions.length) && { order }),
        ...(Number.isFinite(seconds) && { seconds }),
        ...(rationale !== undefined && { rationale }),
        ...((typeof strength === "string" || typeof strength === "number") && strength !== "" && { strength }),
        ...VoteAssessment.read(at, first, completions.length, isTextual),
        ...((typeof judged === "string" || typeof judged === "number") && judged !== "" && { judged_at: judged }),
      }
    })
  return (row, { item }) =>
    Result.flatMap(givenIn(fields, row), (given) =>
      Result.flatMap(Result.all(given.map((one) => voteOf(one, item))), (votes) =>
        Arr.isArrayNonEmpty(votes)
          ? Result.succeed(votes)
          : Result.fail(`${(fields.list ?? fields.choices[0])!.name}: expected at least one vote, found none`),
      ),
    )
}

/**
 * Reads the scores of completions from a file of any format that `Source` reads. A record has one of these forms:
 * - `item_id` and `scores`: one score per completion of the item, in the order of the input. Their number is not
 *   checked, because a dataset does not tell how many completions an item has.
 * - `item_id`, `completion_index`, and `score`
 * - `item_id`, `chosen_index`, `rejected_index`, `chosen_score`, and `rejected_score`
 * - `chosen_score` and `rejected_score`: one record per pair, in the order of the dataset. This form is only for one
 *   split, because a wrong order of several splits could not be detected.
 *
 * Two different scores of one completion are an error. Memory: about 300 bytes per item, and 40 bytes per score.
 */
import { Effect, Result, Schema, Stream } from "effect"
import type { SplitSummary } from "../../dataset/Manifest.ts"
import * as Origin from "../../domain/Origin.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { count, describeValue, isObject, joinWords, type Members, memberOf } from "../../io/Values.ts"
import type { PairScores } from "../../pair/evaluation/Evaluation.ts"
import * as OpenFile from "../../source/OpenFile.ts"

/** The scores cannot be used. */
export class ScoresInvalid extends Schema.TaggedError<ScoresInvalid>()("ScoresInvalid", {
  /** The file and the line or row, or the URL of an endpoint. */
  place: Schema.String,
  /** The expected and the actual value. */
  problem: Schema.String,
}) {
  override get message() {
    return `${this.place}: ${this.problem}`
  }
}

const sides = ["chosen", "rejected"] as const

const namesOf = (side: (typeof sides)[number]) => [`${side}_score`, `score_${side}`, `scores_${side}`, `${side}_reward`]

const expected =
  "expected item_id and scores; or item_id, completion_index, and score; or chosen_score and rejected_score"

type Parsed =
  | { readonly itemId: string; readonly scores: ReadonlyArray<readonly [index: number, score: number]> }
  | { readonly inOrder: PairScores }

const isDecimalComma = (value: unknown) => typeof value === "string" && /^\s*[-+]?\d*,\d+(e[-+]?\d+)?\s*$/i.test(value)

const commaHint = (raw: string | undefined) =>
  raw !== undefined && !raw.includes("{") && /\d,\d/.test(raw)
    ? "; a decimal comma would split a number into two cells: write a decimal point"
    : ""

const numberOf = (value: unknown): number =>
  typeof value === "string" && value.trim() !== "" ? Number(value) : typeof value === "number" ? value : Number.NaN

const scoreOf = (name: string, value: unknown): Result.Result<number, string> => {
  const score = numberOf(value)
  return Number.isFinite(score)
    ? Result.succeed(score)
    : Result.fail(
        `${name}: expected a finite number, found ${value === null ? "null or NaN" : describeValue(value)}${isDecimalComma(value) ? ", with a decimal comma: write a decimal point" : ""}`,
      )
}

const indexOf = (record: Members, name: string): Result.Result<number, string> => {
  const index = numberOf(memberOf(record, name))
  return Number.isInteger(index) && index >= 0
    ? Result.succeed(index)
    : Result.fail(`${name}: expected an index of 0 or greater, found ${describeValue(memberOf(record, name))}`)
}

const parse = (record: unknown): Result.Result<Parsed, string> =>
  Result.gen(function* () {
    if (!isObject(record)) return yield* Result.fail(`${expected}, found ${describeValue(record)}`)
    const id = memberOf(record, "item_id") ?? memberOf(record, "id")
    const itemId = typeof id === "number" ? String(id) : id
    const scores = memberOf(record, "scores")
    const [chosenName, rejectedName] = sides.map((side) => namesOf(side).find((name) => Object.hasOwn(record, name)))
    if (chosenName !== undefined && rejectedName !== undefined) {
      const chosen = yield* scoreOf(chosenName, record[chosenName])
      const rejected = yield* scoreOf(rejectedName, record[rejectedName])
      if (typeof itemId !== "string") return { inOrder: { chosen, rejected } }
      const indices = [yield* indexOf(record, "chosen_index"), yield* indexOf(record, "rejected_index")] as const
      return { itemId, scores: [[indices[0], chosen] as const, [indices[1], rejected] as const] }
    }
    if (typeof itemId !== "string") return yield* Result.fail(`${expected}, found no item_id`)
    if (Array.isArray(scores)) {
      const list = yield* Result.all(scores.map((score, i) => scoreOf(`scores[${i}]`, score)))
      return { itemId, scores: list.map((score, index) => [index, score] as const) }
    }
    if (!Object.hasOwn(record, "score")) return yield* Result.fail(`${expected}, found no score`)
    const index = yield* indexOf(record, "completion_index")
    return { itemId, scores: [[index, yield* scoreOf("score", record["score"])] as const] }
  })

/** Call `scoresOf` for all pairs, in order. After that, `unmatched` returns the items that have scores, but no pair. */
export const read = Effect.fn("ScoreFile.read")(function* (
  file: string,
  splits: ReadonlyArray<Pick<SplitSummary, "rows" | "split">>,
) {
  const pairs = splits.reduce((sum, { rows }) => sum + rows, 0)

  const items = new Map<string, { readonly scores: Map<number, number>; isMatched: boolean }>()
  const inOrder: Array<PairScores> = []
  const opened = yield* OpenFile.open(file)
  yield* Stream.runForEach(opened.rows(), (row) =>
    Effect.gen(function* () {
      const origin = Result.isFailure(row) ? row.failure : row.success.place
      const failed = (problem: string) => new ScoresInvalid({ place: Origin.describe(origin), problem })
      if (Result.isFailure(row)) return yield* failed(row.failure.reason + commaHint(origin.raw))
      const { value } = row.success
      const isSplit = isObject(value) && Object.keys(value).length === 1
      const parsed = yield* Effect.mapError(Effect.fromResult(parse(value)), (problem) =>
        failed(problem + (isSplit ? commaHint(origin.raw) : "")),
      )
      if ("inOrder" in parsed) return void inOrder.push(parsed.inOrder)
      const { scores } = items.get(parsed.itemId) ?? { scores: new Map<number, number>() }
      items.set(parsed.itemId, { scores, isMatched: false })
      for (const [index, score] of parsed.scores) {
        const before = scores.get(index)
        if (before !== undefined && before !== score) {
          return yield* failed(`a completion has two scores: ${before} in an earlier record, and ${score} in this one`)
        }
        scores.set(index, score)
      }
    }),
  )
  const failed = (problem: string) => new ScoresInvalid({ place: file, problem })
  if (inOrder.length > 0 && items.size > 0) return yield* failed("expected an item_id in all records or in none")
  if (inOrder.length > 0 && splits.length > 1) {
    const names = joinWords(splits.map(({ split }) => split))
    const problem = `without item_id, the records must be in the order of the pairs of one split. The dataset has the splits ${names}: set \`split\`, or add item_id, chosen_index, and rejected_index to each record`
    return yield* failed(problem)
  }
  if (inOrder.length > 0 && inOrder.length !== pairs) {
    const problem = `without item_id, the file must have one record for each pair, in the order of the pairs: expected ${count(pairs, "record")}, found ${count(inOrder.length, "record")}`
    return yield* failed(problem)
  }
  if (inOrder.length === 0 && items.size === 0) return yield* failed("expected scores, found no records")
  let next = 0
  return {
    scoresOf: ({ chosen_index, item_id, rejected_index }: PreferencePair): PairScores | undefined => {
      if (inOrder.length > 0) return inOrder[next++]
      const item = items.get(item_id)
      if (item !== undefined) item.isMatched = true
      const [chosen, rejected] = [item?.scores.get(chosen_index), item?.scores.get(rejected_index)]
      return chosen === undefined || rejected === undefined ? undefined : { chosen, rejected }
    },
    unmatched: () => [...items].flatMap(([itemId, { isMatched }]) => (isMatched ? [] : [itemId])),
  }
}, Effect.scoped)

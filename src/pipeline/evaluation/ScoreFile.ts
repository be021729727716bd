/**
 * Reads the scores of completions from a file of any format that `Source` reads. A record has one of these forms:
 *
 * - `item_id`, and `scores`: a list with one score per completion of the item, in the order of the input
 * - `item_id`, `completion_index`, and `score`
 * - `chosen_score` and `rejected_score` of a pair, named by `item_id`, `chosen_index`, and `rejected_index`
 * - `chosen_score` and `rejected_score` alone: then the file has one record per pair, in the order of the dataset
 *
 * Guarantees: a record of another form, a score that is not a finite number, and two different scores of one completion
 * are errors with file and line. Memory: about 100 bytes per score.
 */
import { Effect, Result, Schema, Stream } from "effect"
import * as Origin from "../../domain/Origin.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { count, describeValue, isObject, type Members, memberOf } from "../../io/Values.ts"
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

/** Names of a score in records of pairs, such as those of common scripts. */
const namesOf = (side: (typeof sides)[number]) => [`${side}_score`, `score_${side}`, `scores_${side}`, `${side}_reward`]

const expected =
  "expected item_id with scores, item_id with completion_index and score, or chosen_score with rejected_score"

type Parsed =
  | { readonly keys: ReadonlyArray<string>; readonly scores: ReadonlyArray<number> }
  | { readonly inOrder: PairScores }

const keyOf = (itemId: string, ...indices: ReadonlyArray<number>) => `${indices.join(" ")} ${itemId}`

const numberOf = (value: unknown): number =>
  typeof value === "string" && value.trim() !== "" ? Number(value) : typeof value === "number" ? value : Number.NaN

const scoreOf = (name: string, value: unknown): Result.Result<number, string> => {
  const score = numberOf(value)
  return Number.isFinite(score)
    ? Result.succeed(score)
    : Result.fail(`${name}: expected a finite number, found ${describeValue(value)}`)
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
      return { keys: indices.map((index) => keyOf(itemId, index)), scores: [chosen, rejected] }
    }
    if (typeof itemId !== "string") return yield* Result.fail(`${expected}, found no item_id`)
    if (Array.isArray(scores)) {
      const list = yield* Result.all(scores.map((score, i) => scoreOf(`scores[${i}]`, score)))
      return { keys: list.map((_, index) => keyOf(itemId, index)), scores: list }
    }
    if (!Object.hasOwn(record, "score")) return yield* Result.fail(`${expected}, found no score`)
    const index = yield* indexOf(record, "completion_index")
    return { keys: [keyOf(itemId, index)], scores: [yield* scoreOf("score", record["score"])] }
  })

/** Returns a function that gives the scores of the dataset's next pair. Call it for each pair of the dataset, in order. */
export const read = Effect.fn("ScoreFile.read")(function* (file: string, pairs: number) {
  const byKey = new Map<string, number>()
  const inOrder: Array<PairScores> = []
  const opened = yield* OpenFile.open(file)
  yield* Stream.runForEach(opened.rows(), (row) =>
    Effect.gen(function* () {
      if (Result.isFailure(row)) {
        return yield* new ScoresInvalid({ place: Origin.describe(row.failure), problem: row.failure.reason })
      }
      const place = Origin.describe(row.success.place)
      const parsed = yield* Effect.mapError(
        Effect.fromResult(parse(row.success.value)),
        (problem) => new ScoresInvalid({ place, problem }),
      )
      if ("inOrder" in parsed) return void inOrder.push(parsed.inOrder)
      for (const [i, key] of parsed.keys.entries()) {
        const [score, before] = [parsed.scores[i]!, byKey.get(key)]
        if (before !== undefined && before !== score) {
          const problem = `a completion has two scores: ${before} in an earlier record, and ${score} in this one`
          return yield* new ScoresInvalid({ place, problem })
        }
        byKey.set(key, score)
      }
    }),
  )
  const failed = (problem: string) => new ScoresInvalid({ place: file, problem })
  if (inOrder.length > 0 && byKey.size > 0) return yield* failed("expected an item_id in all records or in none")
  if (inOrder.length > 0 && inOrder.length !== pairs) {
    const problem = `records without item_id are in the order of the pairs: expected ${count(pairs, "record")}, found ${count(inOrder.length, "record")}`
    return yield* failed(problem)
  }
  if (inOrder.length === 0 && byKey.size === 0) return yield* failed("expected scores, found no records")
  let next = 0
  return ({ chosen_index, item_id, rejected_index }: PreferencePair): PairScores | undefined => {
    if (inOrder.length > 0) return inOrder[next++]
    const [chosen, rejected] = [byKey.get(keyOf(item_id, chosen_index)), byKey.get(keyOf(item_id, rejected_index))]
    return chosen === undefined || rejected === undefined ? undefined : { chosen, rejected }
  }
}, Effect.scoped)

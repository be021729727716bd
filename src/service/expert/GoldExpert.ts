/**
 * An expert that knows answers from a JSON Lines file of prompt items with `gold`.
 *
 * Guarantees: answers only for exactly the known completions, in any order, by the text of the best one. An invalid
 * record stops the start with file, line and field; so does a file without gold. Memory: a hash and the rationale per
 * record.
 */
import { Effect, FileSystem, Option, Result, Schema, Stream } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import * as Origin from "../../domain/Origin.ts"
import { Gold, PromptItem } from "../../domain/PromptItem.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as Json from "../../io/Json.ts"
import * as Lines from "../../io/Lines.ts"
import * as SchemaIssues from "../../io/SchemaIssues.ts"
import type { Expert } from "./Expert.ts"

export class GoldFileError extends Schema.TaggedError<GoldFileError>()("GoldFileError", {
  file: Schema.String,
  /** One-based; absent where the whole file is meant. */
  line: Schema.optionalKey(Schema.Int),
  problem: Schema.String,
}) {
  override get message() {
    return `gold file ${Origin.describe(this)}: ${this.problem}`
  }
}

/** The best completion by its rank among the distinct completions in the order of their texts. */
interface Answer {
  readonly rank: number
  readonly rationale: string
}

/** What is used of a record. Null counts as absent: that is how tables are exported. */
const GoldRecord = Schema.Struct({
  prompt: PromptItem.fields.prompt,
  completions: PromptItem.fields.completions,
  gold: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        best_completion_index: Gold.fields.best_completion_index,
        rationale: Schema.optionalKey(Schema.NullOr(Schema.String)),
      }),
    ),
  ),
})
const decode = Schema.decodeUnknownResult(GoldRecord, { reportInput: true })

/** The right answer to a prompt, where the file knows it. */
export type GoldAnswers = (
  prompt: TaskPrompt,
) => Option.Option<{ readonly best_completion_index: number; readonly rationale: string }>

/** Reads the whole file. @param file path of a JSONL file of prompt items */
export const read = Effect.fn("GoldExpert.read")(function* (
  file: string,
): Effect.fn.Return<GoldAnswers, GoldFileError, FileSystem.FileSystem> {
  const fileSystem = yield* FileSystem.FileSystem
  const answers = new Map<string, Answer>()

  const learn = Effect.fnUntraced(function* (read: Lines.LineResult) {
    if (Result.isFailure(read)) {
      const { line, reason } = read.failure
      return yield* new GoldFileError({ file, ...(line === undefined ? {} : { line }), problem: reason })
    }
    const { number: line, text } = read.success
    const item = yield* Json.parse(text).pipe(
      Result.flatMap((value) => Result.mapError(decode(value), ({ issue }) => SchemaIssues.describe(issue))),
      Result.mapError((problem) => new GoldFileError({ file, line, problem })),
      Effect.fromResult,
    )
    if (item.gold === undefined || item.gold === null) return
    const best = item.completions[item.gold.best_completion_index]
    if (best === undefined) {
      const problem = `gold.best_completion_index: expected an index below ${item.completions.length}, found ${item.gold.best_completion_index}`
      return yield* new GoldFileError({ file, line, problem })
    }
    const sorted = sortDistinct(item.completions)
    const key = identify(Conversation.render(item.prompt), sorted)
    const rank = sorted.indexOf(best)
    const known = answers.get(key)
    if (known !== undefined && known.rank !== rank) {
      const problem = "gold.best_completion_index: an earlier line prefers another completion of the same prompt"
      return yield* new GoldFileError({ file, line, problem })
    }
    answers.set(key, { rank, rationale: item.gold.rationale ?? "The gold answer." })
  })

  yield* fileSystem.stream(file).pipe(
    Stream.mapError(
      (error) =>
        new GoldFileError({
          file,
          problem: error.reason._tag === "NotFound" ? "there is no such file" : error.message,
        }),
    ),
    Lines.fromBytes(file),
    Stream.runForEachArray((lines) => Effect.forEach(lines, learn, { discard: true })),
  )
  if (answers.size === 0) return yield* new GoldFileError({ file, problem: "no record has gold" })

  return ({ prompt, completions }) => {
    const sorted = sortDistinct(completions)
    const answer = answers.get(identify(prompt, sorted))
    if (answer === undefined) return Option.none()
    const { rank, rationale } = answer
    return Option.some({ best_completion_index: completions.indexOf(sorted[rank]!), rationale })
  }
})

export const gold = (file: string): Effect.Effect<Expert, GoldFileError, FileSystem.FileSystem> =>
  Effect.map(read(file), (answerTo) => ({
    name: `gold:${file}`,
    judge: (prompt) => Effect.sync(() => answerTo(prompt)),
  }))

/** The identity of a question, whatever the order of its completions. */
const identify = (prompt: string, sorted: ReadonlyArray<string>): string => Sha256.hex(JSON.stringify([prompt, sorted]))

const sortDistinct = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].toSorted()

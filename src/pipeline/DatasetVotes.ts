/**
 * Turns a dataset's pairs into votes for a leaderboard, one vote per item. The rows of an item must be adjacent. A
 * dataset lacks ties, minority votes, and experts.
 */
import { Effect, FileSystem, Option, Path, Result, Schema, Stream, Struct } from "effect"
import * as Manifest from "../dataset/Manifest.ts"
import * as Conversation from "../domain/Conversation.ts"
import { PreferencePairSchema } from "../domain/PreferencePair.ts"
import { Metadata } from "../domain/PromptItem.ts"
import type { RatedItem } from "../pair/rating/Leaderboard.ts"
import * as Messages from "../source/item/Messages.ts"
import { describeValue } from "../io/Values.ts"
import * as OpenFile from "../source/OpenFile.ts"

/** No dataset was found at the path, or a row is not a preference pair. */
export class NoDataset extends Schema.TaggedError<NoDataset>()("NoDataset", {
  /** The path as the caller wrote it. */
  path: Schema.String,
  /** The problem, with the file and the row if known. */
  problem: Schema.String,
}) {
  override get message() {
    return `${this.path}: ${this.problem}`
  }
}

const Completion = Schema.Union([Schema.String, Schema.NonEmptyArray(Schema.Unknown)])

const Row = Schema.Struct({
  chosen: Completion,
  rejected: Completion,
  ...Struct.pick(PreferencePairSchema.fields, [
    "item_id",
    "chosen_index",
    "rejected_index",
    "chosen_model",
    "rejected_model",
  ]),
  metadata: Schema.NullOr(Schema.fromJsonString(Metadata)),
})
interface Row extends Omit<typeof Row.Type, "chosen" | "rejected"> {
  readonly chosen: string
  readonly rejected: string
}

const columns = Object.keys(Row.fields)
const decodeRow = Schema.decodeUnknownResult(Row)

const textOf = (completion: typeof Completion.Type, column: string): Result.Result<string, string> =>
  typeof completion === "string"
    ? Result.succeed(completion)
    : Result.map(Messages.decodeCompletion(completion, undefined, column), Conversation.render)

const decode = (value: unknown): Result.Result<Row, string> =>
  Result.gen(function* () {
    const row = yield* Result.mapError(decodeRow(value), ({ message }) => message.replace(/\s+/g, " "))
    return {
      ...row,
      chosen: yield* textOf(row.chosen, "chosen"),
      rejected: yield* textOf(row.rejected, "rejected"),
    }
  })

const itemOf = (rows: ReadonlyArray<Row>): ReadonlyArray<RatedItem> => {
  const sides = rows.flatMap((row) => [
    { index: row.chosen_index, text: row.chosen, model: row.chosen_model },
    { index: row.rejected_index, text: row.rejected, model: row.rejected_model },
  ])
  const byIndex = new Map(sides.map((side) => [side.index, side]))
  const completions = [...byIndex.values()].toSorted((a, b) => a.index - b.index)
  const models = completions.flatMap(({ model }) => model ?? [])
  if (models.length < completions.length) return []
  const places = new Map(completions.map(({ index }, place) => [index, place]))
  const preferred = new Set(rows.map((row) => `${places.get(row.chosen_index)} ${places.get(row.rejected_index)}`))
  const lost = new Set(rows.map((row) => row.rejected_index))
  const best = rows.find((row) => !lost.has(row.chosen_index)) ?? rows[0]!
  const vote = {
    expert: null,
    choice: places.get(best.chosen_index)!,
    ranking: undefined,
    position: null,
    order: [],
    seconds: null,
    rationale: null,
  }
  return [
    {
      completions: completions.map(({ text }) => text),
      models,
      metadata: rows[0]!.metadata ?? undefined,
      votes: [vote],
      comparisonOf: (_, a, b) => (preferred.has(`${a} ${b}`) ? 1 : preferred.has(`${b} ${a}`) ? -1 : undefined),
    },
  ]
}

const filesOf = Effect.fnUntraced(function* (path: string) {
  if (typeof path !== "string") {
    return yield* new NoDataset({ path: describeValue(path), problem: "expected the path of a dataset" })
  }
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isNone(info)) return yield* new NoDataset({ path, problem: "there is no such file or folder" })
  if (info.value.type !== "Directory") return [path]
  const manifest = yield* Manifest.read(path)
  const files = Option.match(manifest, {
    onNone: () => [],
    onSome: ({ files }) => files.map((file) => file.path).filter((file) => file.startsWith("data/")),
  })
  if (files.length === 0) {
    return yield* new NoDataset({
      path,
      problem: `not a dataset: expected ${Manifest.fileName}, which lists its files`,
    })
  }
  return files.map((file) => paths.join(path, file))
})

const rowsOf = (path: string, file: string) =>
  Effect.map(OpenFile.open(file), ({ rows }) => rows(columns)).pipe(
    Stream.unwrap,
    Stream.mapEffect((read, i) => {
      const row = Result.flatMap(
        Result.mapError(read, ({ reason }) => reason),
        ({ value }) => decode(value),
      )
      return Effect.mapError(
        Effect.fromResult(row),
        (problem) => new NoDataset({ path, problem: `row ${i + 1} of ${file} is not a preference pair: ${problem}` }),
      )
    }),
  )

/** @param path a dataset's folder, or one of its files (Parquet or JSON Lines) */
export const items = (path: string) =>
  Effect.map(filesOf(path), (files) =>
    Stream.fromIterable(files).pipe(
      Stream.flatMap((file) => rowsOf(path, file)),
      Stream.mapAccumArray(
        (): ReadonlyArray<Row> => [],
        (held, rows) => {
          const done: Array<RatedItem> = []
          let open = [...held]
          for (const row of rows) {
            if (open[0] !== undefined && open[0].item_id !== row.item_id) {
              done.push(...itemOf(open))
              open = []
            }
            open.push(row)
          }
          return [open, done]
        },
        { onHalt: (open) => (open.length === 0 ? [] : itemOf(open)) },
      ),
    ),
  ).pipe(Stream.unwrap)

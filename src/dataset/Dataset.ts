/**
 * Preference pairs as a dataset on disk, in the folder that the Hugging Face Hub expects:
 * Parquet and JSON Lines with the same rows in the same order, what trainers read, a card,
 * and a manifest.
 *
 * Guarantees: one pass over the pairs, in memory that does not grow with their
 * number; the dataset appears whole or not at all; the same pairs and options give the same
 * bytes, on every machine with the same versions. A pair that can't be written unchanged,
 * because a text of it has a lone surrogate, is left out and counted.
 *
 * Not checked here: that no prompt is in two splits, and that the pairs of an item follow one
 * another, which keeps them in one shard. `verify` tells of the first.
 */
import { Effect, type FileSystem, type Path, type Scope, Stream, Struct } from "effect"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { type Split, splits } from "../domain/Split.ts"
import * as WorkerThreads from "../node/WorkerThreads.ts"
import * as AtomicDirectory from "./AtomicDirectory.ts"
import * as Card from "./Card.ts"
import { featuresOf, illFormed, type Row, type Shape, toRow } from "./Columns.ts"
import type { DatasetError } from "./file/DatasetError.ts"
import type { DatasetFacts } from "./DatasetFacts.ts"
import type { FormatName } from "./format/TrainerFormats.ts"
import * as Manifest from "./Manifest.ts"
import * as OutputFile from "./file/OutputFile.ts"
import * as Refused from "./OmittedPairs.ts"
import type * as RowGroup from "./file/RowGroup.ts"
import * as Shards from "./Shards.ts"
import * as TrainerFiles from "./TrainerFiles.ts"

export { recover } from "./AtomicDirectory.ts"
export { DatasetError } from "./file/DatasetError.ts"
export type { DatasetFacts } from "./DatasetFacts.ts"
export { type Finding, format as formatFinding } from "./Findings.ts"
export { type Verification, verify } from "./Verify.ts"

/** What was written. */
export interface Written {
  /** Preference pairs. */
  readonly rows: number
  /** Those that have rows, in their order. */
  readonly splits: ReadonlyArray<Manifest.SplitSummary>
  readonly formats: ReadonlyArray<Manifest.FormatSummary>
  /** Pairs that are in no file. An item that has lost one has weights that add up to less than 1. */
  readonly refused: Refused.Refused
  /** `path` is relative to the directory, `bytes` the size, `sha256` hexadecimal. */
  readonly files: ReadonlyArray<Manifest.DatasetFile>
}

export interface DatasetInfo extends Written {
  readonly directory: string
}

/** A file that goes into the dataset as it is. */
export interface Attachment {
  /** Relative to the directory, with `/`. */
  readonly path: string
  readonly content: Uint8Array | string
}

/** Errors and services of `splitOf`; of `attachments`, if they are others; of `describe`. */
export interface Options<E = never, R = never, AE = E, AR = R, DE = E, DR = R> {
  readonly directory: string
  /** Default: all pairs are in `train`. A split without pairs has no files. */
  readonly splitOf?: ((pair: PreferencePair) => Split | Effect.Effect<Split, E, R>) | undefined
  /** Prompt, chosen and rejected as lists of messages. Default: as text. */
  readonly conversational?: boolean | undefined
  /** For trainers that read neither, besides. Default: none. */
  readonly formats?: ReadonlyArray<FormatName> | undefined
  /** A `margin` from the votes in those formats that have one. */
  readonly margin?: boolean | undefined
  /** Size in memory at which a shard ends, in bytes. Default: 500 MB. */
  readonly shardBytes?: number | undefined
  /** More files, made once all pairs are written. */
  readonly attachments?: ((written: Written) => Effect.Effect<ReadonlyArray<Attachment>, AE, AR>) | undefined
  /** For card and manifest. */
  readonly facts?: DatasetFacts | undefined
  /** Facts that are known only once all pairs are written; they stand before those of `facts`. */
  readonly describe?: ((written: Written) => Effect.Effect<DatasetFacts, DE, DR>) | undefined
}

/** The thread that reads the pairs keeps two busy; each takes some 150 MB. */
const maxEncoders = 2

// Beside this file, with its ending: a source runs as it is.
const encoderThread = new URL(`./file/encoderThread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

/** As many as `datasets` takes: 500 MB. */
const defaultShardBytes = 500_000_000

/**
 * Writes the pairs into `directory`:
 *
 * ```
 * README.md                             the card
 * data/train-00000-of-00001.parquet
 * jsonl/train-00000-of-00001.jsonl      the same rows
 * formats/trl/train.jsonl               one folder for each of `formats`
 * manifest.json
 * ```
 *
 * The directory must be new, or empty, or hold a dataset written before, which is
 * replaced once the new one is complete. Fails with the stream's and the options' errors, or
 * with a `DatasetError`; then, and when interrupted, `directory` is as it was.
 */
export const write: <E, R, SE = never, SR = never, AE = never, AR = never, DE = never, DR = never>(
  pairs: Stream.Stream<PreferencePair, E, R>,
  options: Options<SE, SR, AE, AR, DE, DR>,
) => Effect.Effect<DatasetInfo, E | SE | AE | DE | DatasetError, R | SR | AR | DR | FileSystem.FileSystem | Path.Path> =
  Effect.fn("Dataset.write")(function* (pairs, options) {
    const written = yield* AtomicDirectory.write(options.directory, (next) => writeFiles(pairs, next, options))
    return { directory: options.directory, ...written }
  })

const writeFiles = Effect.fnUntraced(function* <E, R, SE, SR, AE, AR, DE, DR>(
  pairs: Stream.Stream<PreferencePair, E, R>,
  directory: string,
  options: Options<SE, SR, AE, AR, DE, DR>,
) {
  const shape: Shape = options.conversational === true ? "conversational" : "standard"
  const written = yield* writeRows(pairs, directory, shape, options)
  const attachments = options.attachments === undefined ? [] : yield* options.attachments(written)
  const files = [...written.files]
  for (const { content, path } of attachments) files.push(yield* writeText(directory, path, content))
  const described = options.describe === undefined ? {} : yield* options.describe({ ...written, files })
  const facts: DatasetFacts = { ...options.facts, ...described }
  files.push(yield* writeText(directory, Card.fileName, Card.make({ ...written, files }, shape, facts)))
  const whole = { ...written, files }
  const provenance = Struct.pick(facts, ["inputs", "judges", "service", "guidelines", "settings", "counts"])
  const manifest = Manifest.make({ shape, ...whole, ...provenance })
  yield* OutputFile.writeWhole(directory, Manifest.fileName, Manifest.encode(manifest))
  return whole
})

/** Writes a file without rows. */
const writeText = Effect.fnUntraced(function* (directory: string, path: string, content: Uint8Array | string) {
  const digest = yield* OutputFile.writeWhole(directory, path, content)
  return { path, rows: null, ...digest } satisfies Manifest.DatasetFile
})

/** What is written of a split: its rows, and the same for each trainer. */
interface SplitOutput {
  readonly rows: Shards.SplitWriter
  readonly trainers: ReadonlyArray<TrainerFiles.TrainerWriter>
}

const writeRows = Effect.fnUntraced(function* <E, R, E2, R2>(
  pairs: Stream.Stream<PreferencePair, E, R>,
  directory: string,
  shape: Shape,
  {
    formats: asked = [],
    margin,
    shardBytes = defaultShardBytes,
    splitOf,
  }: Pick<Options<E2, R2>, "formats" | "margin" | "shardBytes" | "splitOf">,
): Effect.fn.Return<Written, E | E2 | DatasetError, R | R2 | FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const formats = [...new Set(asked)]
  const refused = Refused.counter()
  const outputs = new Map<Split, SplitOutput>()

  const encoders = yield* WorkerThreads.make<RowGroup.Rows, RowGroup.EncodedGroup>(encoderThread, maxEncoders)

  const open = Effect.fnUntraced(function* (split: Split) {
    const rows = Shards.make(directory, split, { encoders, features: featuresOf(shape), shardBytes })
    const trainers = yield* Effect.forEach(formats, (format) => TrainerFiles.make(directory, format, split, { margin }))
    const output: SplitOutput = { rows, trainers }
    outputs.set(split, output)
    return output
  })

  yield* Stream.runForEachArray(
    pairs,
    Effect.fnUntraced(function* (chunk) {
      const parts = new Map<Split, { readonly pairs: Array<PreferencePair>; readonly rows: Array<Row> }>()
      for (const pair of chunk) {
        const field = illFormed(pair)
        if (field !== undefined) {
          refused.add({ item_id: pair.item_id, field, reason: "a lone surrogate, which no file can hold unchanged" })
          continue
        }
        const chosen = splitOf === undefined ? "train" : splitOf(pair)
        const split = Effect.isEffect(chosen) ? yield* chosen : chosen
        const part = parts.get(split) ?? { pairs: [], rows: [] }
        parts.set(split, part)
        part.pairs.push(pair)
        part.rows.push(toRow(pair, shape))
      }
      for (const [split, { pairs, rows }] of parts) {
        const output = outputs.get(split) ?? (yield* open(split))
        yield* Effect.all([output.rows.write(rows), ...output.trainers.map((trainer) => trainer.write(pairs))], {
          concurrency: "unbounded",
          discard: true,
        })
      }
    }),
  )

  // A dataset without any pair still has files that say which columns there would be.
  if (outputs.size === 0) yield* open("train")
  const finished = yield* Effect.forEach(
    splits.flatMap((split) => outputs.get(split) ?? []),
    ({ rows, trainers }) =>
      Effect.all([rows.finish, Effect.forEach(trainers, ({ finish }) => finish, { concurrency: "unbounded" })], {
        concurrency: "unbounded",
      }),
    { concurrency: "unbounded" },
  )
  const trainerFiles = finished.flatMap(([, files]) => files)
  const summaries = finished.map(([{ bytes, rows, split }]) => ({ split, rows, bytes }))
  const info = TrainerFiles.datasetInfo(trainerFiles)
  const infoFiles =
    info === undefined ? [] : [yield* writeText(directory, `${TrainerFiles.folder}/dataset_info.json`, info)]
  return {
    rows: summaries.reduce((sum, { rows }) => sum + rows, 0),
    splits: summaries,
    formats: formats.map((format) => {
      const ofFormat = trainerFiles.filter((file) => file.format === format)
      return {
        format,
        rows: sum(ofFormat.map(({ rows }) => rows)),
        refused: Refused.all(ofFormat.map(({ refused }) => refused)),
      }
    }),
    refused: refused.refused(),
    files: [...finished.flatMap(([{ files }]) => files), ...trainerFiles.map(({ file }) => file), ...infoFiles],
  }
}, Effect.scoped)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0)

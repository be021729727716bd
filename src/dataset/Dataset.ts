/**
 * Writes preference pairs in the folder layout of the Hugging Face Hub, in constant memory. The same pairs and options
 * give the same bytes. A pair with a lone surrogate is omitted. `write` does not check whether a prompt is in two
 * splits (`verify` does), or whether an item's pairs are consecutive.
 */
import { Effect, type FileSystem, Number, type Path, Result, Sink, Stream, Struct } from "effect"
import * as PairBytes from "../domain/PairBytes.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { type Split, splits } from "../domain/Split.ts"
import * as AtomicDirectory from "./AtomicDirectory.ts"
import * as Card from "./Card.ts"
import { featuresOf, findLoneSurrogate, type Form, needsTools, toRow } from "./Columns.ts"
import type { DatasetFacts } from "./DatasetFacts.ts"
import * as DatasetThread from "./DatasetThread.ts"
import { DatasetError, NoPairs, OptionInvalid } from "./file/DatasetError.ts"
import * as OmittedPairs from "./file/OmittedPairs.ts"
import type { TrainerFormat } from "./format/TrainerFormat.ts"
import type { FormatName } from "./format/TrainerFormats.ts"
import * as Manifest from "./Manifest.ts"
import * as TrainerFiles from "./TrainerFiles.ts"
import * as WrongValues from "./WrongValues.ts"

export { recover } from "./AtomicDirectory.ts"
export type { DatasetFacts } from "./DatasetFacts.ts"
export type { PreferencePair } from "../domain/PreferencePair.ts"
export {
  DatasetError,
  DatasetUnreadable,
  DirectoryNotReplaceable,
  FileSystemFailure,
  FormatFailed,
  NoPairs,
  NoSpace,
  OptionInvalid,
  PermissionDenied,
} from "./file/DatasetError.ts"
export { type Finding, format as formatFinding } from "./file/Finding.ts"
export {
  DatasetInvalid,
  ExpertsNamed,
  HubClientMissing,
  HubRefused,
  HubUnreachable,
  push,
  type Pushed,
  PushError,
  PushOptionInvalid,
  type PushOptions,
} from "./Push.ts"
export type { Manifest, Written } from "./Manifest.ts"
export type { Split } from "../domain/Split.ts"
export { ReportTemplateMissing } from "./ReportPage.ts"
export { ColumnUnknown, diff } from "./Diff.ts"
export type { DatasetDiff, DiffExample, DiffOptions, JobOutcome, PairDifference } from "./Diff.ts"
export { type DiffKind, kinds as diffKinds } from "./DiffItems.ts"
export { manifest, read, type ReadOptions } from "./Read.ts"
export { type Verification, verify, type VerifyOptions } from "./Verify.ts"

/** The contents of a dataset that was written, and its directory. */
export interface DatasetInfo extends Manifest.Written {
  /** The path as the caller wrote it. */
  readonly directory: string
  /** The hexadecimal SHA-256 of `manifest.json`, which identifies this dataset. */
  readonly manifestSha256: string
}

/** An additional file of the dataset, such as `report.json`. */
export interface Attachment {
  /** The path relative to the directory, with `/` as separator. */
  readonly path: string
  /** Text is written as UTF-8. */
  readonly content: Uint8Array | string
}

/** Attachments and facts that are known only after all pairs are written. */
export interface FinalAttachments {
  /** Additional files. Default: none. */
  readonly attachments?: ReadonlyArray<Attachment>
  /** Facts that override the facts in the options. */
  readonly facts?: DatasetFacts
}

/** Options of `write`; `E` and `R` are the errors and services of `splitOf` and `finalize`. */
export interface Options<E = never, R = never> {
  /** The directory. A dataset in it is replaced; anything else in it is an error (`DirectoryNotReplaceable`). */
  readonly directory: string
  /** Assigns a pair to a split. Default: all pairs are in `train`. A split without pairs has no files. */
  readonly splitOf?: ((pair: PreferencePair) => Split | Effect.Effect<Split, E, R>) | undefined
  /** Whether `prompt`, `chosen`, and `rejected` are lists of messages. Default: text. */
  readonly conversational?: boolean | undefined
  /** Whether to write tools and their calls. If false (default), a conversational dataset omits pairs with calls. */
  readonly tools?: boolean | undefined
  /** Additional files for trainers: built-in formats by name, or custom ones. Default: none. */
  readonly formats?: ReadonlyArray<FormatName | TrainerFormat> | undefined
  /** Whether to add a `margin` to formats that support one. */
  readonly margin?: boolean | undefined
  /** Source of the margin: votes or strengths. Default `votes`. */
  readonly marginFrom?: "votes" | "strength" | undefined
  /** `chosen`: trainer files contain an expert's edit in place of the chosen completion. Default `none`. */
  readonly edited?: "chosen" | "none" | undefined
  /** Size in memory at which a shard ends, in bytes. Default: 500 MB, as in `datasets`. */
  readonly shardBytes?: number | undefined
  /** Facts for the card and the manifest. */
  readonly facts?: DatasetFacts | undefined
  /** Whether a dataset with 0 pairs is written, and replaces an earlier dataset. If false (default), `write` fails. */
  readonly allowEmpty?: boolean | undefined
  /** Called after all pairs are written and before the dataset appears. */
  readonly finalize?: ((written: Manifest.Written) => Effect.Effect<FinalAttachments, E, R>) | undefined
}

const defaultShardBytes = 500_000_000

/**
 * A sink that writes the pairs into `directory`:
 *
 * ```
 * README.md                             the card
 * data/train-00000-of-00001.parquet
 * jsonl/train-00000-of-00001.jsonl      the same rows
 * formats/trl/train.jsonl               one folder for each of `formats`
 * manifest.json
 * ```
 *
 * The directory must be new, be empty, or contain an earlier dataset. The earlier dataset is replaced when all files
 * are complete. If the write fails or is interrupted, the directory does not change.
 */
export const write = <E = never, R = never>(
  options: Options<E, R>,
): Sink.Sink<DatasetInfo, PreferencePair, never, E | DatasetError, R | FileSystem.FileSystem | Path.Path> =>
  Sink.fromTransform((upstream) =>
    WrongValues.checkOptions(options).pipe(
      Effect.andThen(() =>
        AtomicDirectory.write(options.directory, (next) =>
          writeFiles(Stream.fromPull(Effect.succeed(upstream)), next, options),
        ),
      ),
      Effect.map((written) => [{ directory: options.directory, ...written }] as const),
      Effect.withSpan("Dataset.write"),
    ),
  )

const writeFiles = Effect.fnUntraced(function* <E, R>(
  pairs: Stream.Stream<PreferencePair>,
  directory: string,
  options: Options<E, R>,
) {
  const form: Form = {
    shape: options.conversational === true ? "conversational" : "standard",
    ...(options.tools === true && { tools: true }),
  }
  const { shardBytes = defaultShardBytes } = options
  if (!(shardBytes >= 1)) {
    const reason = new OptionInvalid({ option: "shardBytes", expected: "at least 1", found: String(shardBytes) })
    return yield* new DatasetError({ reason })
  }
  const formats = yield* TrainerFiles.resolve(options.formats ?? [])
  const thread = yield* DatasetThread.make(directory)
  const written = yield* writeRows(pairs, thread, form, formats, options)
  const final: FinalAttachments = options.finalize === undefined ? {} : yield* options.finalize(written)
  if (written.rows === 0 && options.allowEmpty !== true) {
    return yield* new DatasetError({ reason: new NoPairs({ directory: options.directory }) })
  }
  const files = [...written.files]
  for (const { content, path } of final.attachments ?? []) files.push(yield* writeText(thread, path, content))
  const facts: DatasetFacts = { ...options.facts, ...final.facts }
  const card = Card.make({ ...written, files }, formats, form, facts)
  files.push(yield* writeText(thread, Card.fileName, card))
  const whole = { ...written, files }
  const provenance = Struct.pick(facts, ["inputs", "judges", "service", "guidelines", "settings", "counts"])
  const manifest = Manifest.make({ ...form, ...whole, ...provenance })
  const { sha256: manifestSha256 } = yield* thread.file(Manifest.fileName, Manifest.encode(manifest))
  return { ...whole, manifestSha256 }
}, Effect.scoped)

const writeText = Effect.fnUntraced(function* (
  thread: DatasetThread.DatasetThread,
  path: string,
  content: Uint8Array | string,
) {
  const digest = yield* thread.file(path, content)
  return { path, rows: null, ...digest } satisfies Manifest.DatasetFile
})

interface SplitOutput {
  readonly split: Split
  readonly output: number
  readonly trainers: ReadonlyArray<TrainerFiles.TrainerWriter>
}

const writeRows = Effect.fnUntraced(function* <E, R>(
  pairs: Stream.Stream<PreferencePair>,
  thread: DatasetThread.DatasetThread,
  form: Form,
  formats: ReadonlyArray<TrainerFormat>,
  {
    shardBytes = defaultShardBytes,
    splitOf,
    ...trainerOptions
  }: Pick<Options<E, R>, "edited" | "margin" | "marginFrom" | "shardBytes" | "splitOf">,
): Effect.fn.Return<Manifest.Written, E | DatasetError, R> {
  const counter = OmittedPairs.counter()
  const outputs = new Map<Split, SplitOutput>()
  const options = { tools: form.tools, ...Struct.pick(trainerOptions, ["edited", "margin", "marginFrom"]) }

  const features = featuresOf(form)
  let pairCount = 0

  const open = (split: Split): SplitOutput => {
    const output = thread.open({ split, features, shardBytes })
    const trainers = formats.map((format) => TrainerFiles.make(thread, format, split, options))
    const opened = { split, output, trainers }
    outputs.set(split, opened)
    return opened
  }

  yield* Stream.runForEachArray(
    pairs,
    Effect.fnUntraced(function* (chunk) {
      for (const pair of chunk) {
        const reason = WrongValues.wrongText(pair, pairCount++)
        if (reason !== undefined) return yield* new DatasetError({ reason })
        const field = findLoneSurrogate(pair)
        if (field !== undefined) {
          counter.add({ item_id: pair.item_id, field, reason: "expected well-formed Unicode, found a lone surrogate" })
          continue
        }
        if (form.shape === "conversational" && form.tools === undefined && needsTools(pair)) {
          const reason =
            "expected messages without tool calls (the option `tools` is not set), found a tool call or its result"
          counter.add({ item_id: pair.item_id, field: "tool_calls", reason })
          continue
        }
        const chosen = splitOf === undefined ? "train" : splitOf(pair)
        const split = Effect.isEffect(chosen) ? yield* chosen : chosen
        const { output, trainers } = outputs.get(split) ?? open(split)
        const bytes = form.shape === "standard" ? PairBytes.of(pair) : undefined
        let isSent = thread.add(output, toRow(pair, form), bytes)
        for (const trainer of trainers) {
          const sent = trainer.write(pair)
          if (Result.isFailure(sent)) return yield* new DatasetError({ reason: sent.failure })
          isSent ||= sent.success
        }
        if (isSent) yield* thread.room
      }
    }),
  )

  // A dataset without pairs still has files, which declare its columns.
  if (outputs.size === 0) open("train")
  for (const trainer of [...outputs.values()].flatMap(({ trainers }) => trainers)) {
    const ended = trainer.end()
    if (Result.isFailure(ended)) return yield* new DatasetError({ reason: ended.failure })
  }
  const written = yield* thread.finish
  const inOrder = splits.flatMap((split) => outputs.get(split) ?? [])
  const trainerFiles = inOrder.flatMap(({ trainers }) =>
    trainers.map(({ output, summary }) => summary(written[output]!)),
  )
  const summaries = inOrder.map(({ output, split }) => ({ split, ...Struct.pick(written[output]!, ["rows", "bytes"]) }))
  const info = TrainerFiles.datasetInfo(trainerFiles)
  const infoFiles =
    info === undefined ? [] : [yield* writeText(thread, `${TrainerFiles.folder}/dataset_info.json`, info)]
  return {
    rows: Number.sumAll(summaries.map(({ rows }) => rows)),
    splits: summaries,
    formats: formats.map((format) => {
      const ofFormat = trainerFiles.filter((file) => file.format === format)
      const unwritten = TrainerFiles.combineUnwritten(ofFormat.map(({ unwritten }) => unwritten))
      return {
        format: format.name,
        rows: Number.sumAll(ofFormat.map(({ rows }) => rows)),
        omitted: OmittedPairs.combine(ofFormat.map(({ omitted }) => omitted)),
        ...(Struct.keys(unwritten).length > 0 && { unwritten }),
      }
    }),
    omitted: counter.omitted(),
    files: [
      ...inOrder.flatMap(({ output }) => written[output]!.files),
      ...trainerFiles.map(({ file }) => file),
      ...infoFiles,
    ],
  }
})

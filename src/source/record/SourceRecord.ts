/**
 * The interface of all sources.
 *
 * Guarantees: one `SourceRecord` per record read, so records are either items or rejects. Blank lines are not records.
 */
import type { Effect, FileSystem, Path, Result, Stream } from "effect"
import type { SourceItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { SourceError } from "./SourceError.ts"

/** One record of the input: an item, or the reason why it was rejected. */
export type SourceRecord = Result.Result<SourceItem, Reject>

/** What files are, and how their records make items. */
export interface InputSummary {
  /** The first files, up to one that has records. */
  readonly files: ReadonlyArray<{
    readonly name: string
    /** Such as `CSV with ";", gzip`. */ readonly description: string
  }>
  /** How many there are in all. */
  readonly count: number
  /** In a join, how many files of completions there are, which come last. */
  readonly joined?: number | undefined
  /** Folders and patterns without a file. */
  readonly empty: ReadonlyArray<string>
  /** Such as `wide: prompt at "input", completions at "output_1" and "output_2"`; nothing if no record can be read. */
  readonly layout: string | undefined
  /** Fields that are set and that none of the first records has: `"winer" (--gold-path)`. */
  readonly unknownFields: ReadonlyArray<string>
  /** What the records may be meant to be, and how to say so. */
  readonly hints: ReadonlyArray<string>
  /** Top-level members with a value that is neither used nor ignored, and the share of the first records that have one. */
  readonly unused: ReadonlyArray<{ readonly name: string; readonly share: number }>
}

/** A source of prompt items. `E` and `R` are the errors and services of reading it. */
export interface Source<out E = SourceError, out R = FileSystem.FileSystem | Path.Path> {
  /** For messages: `question.jsonl with 3 inputs of completions, joined by question_id`. */
  readonly description: string
  /** What is found in the first records, for those who want to see it before anything is read. */
  readonly summary?: Effect.Effect<InputSummary, E, R> | undefined
  /** Comes in arrays, one for each piece of the input. Fails only with what ends the run. */
  readonly records: Stream.Stream<SourceRecord, E, R>
}

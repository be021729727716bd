/** The interface of all sources. Each record gives an item or a reject. Blank lines are not records. */
import type { Effect, FileSystem, Path, Result, Stream } from "effect"
import type { SourceItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { SourceError } from "./SourceError.ts"

/** An item, or why its record was rejected. */
export type SourceRecord = Result.Result<SourceItem, Reject>

/** The detected files and layout. */
export interface InputSummary {
  /** The first files, up to one that has records. */
  readonly files: ReadonlyArray<{
    readonly name: string
    /** For example, `CSV with ";", gzip`. */ readonly description: string
  }>
  /** Number of all files. */
  readonly count: number
  /** Number of completions files in a join. They are the last of `files`. */
  readonly joined?: number | undefined
  /** Folders and patterns without a file. */
  readonly empty: ReadonlyArray<string>
  /** For example, `wide: prompt at "input", completions at "output_1" and "output_2"`. `undefined` if no record can be read. */
  readonly layout: string | undefined
  /** Paths that are set, but that no sampled record has: "winer" (`gold`). */
  readonly unknownFields: ReadonlyArray<string>
  /** Other ways to read the records, and the options that select them. */
  readonly hints: ReadonlyArray<string>
  /** Top-level members that are neither used nor ignored, and the share of sampled records that have a value there. */
  readonly unused: ReadonlyArray<{ readonly name: string; readonly share: number }>
}

/** A source of prompt items. Reading it may fail with `E`, and requires the services `R`. */
export interface Source<out E = SourceError, out R = FileSystem.FileSystem | Path.Path> {
  /** Used in messages: `question.jsonl with 3 inputs of completions, joined by question_id`. */
  readonly description: string
  /** The layout of the first records, to show before reading. */
  readonly summary?: Effect.Effect<InputSummary, E, R> | undefined
  /** The default of `maxPlanned` for this source. Default: no limit. */
  readonly maxPlanned?: number | undefined
  /** The records, in one array per piece of the input. Fails only with errors that end the run. */
  readonly records: Stream.Stream<SourceRecord, E, R>
}

/** Each record of a source becomes an item or a reject. Blank lines are not records. */
import type { Effect, FileSystem, Path, Result, Stream } from "effect"
import type { SourceItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { SourceError } from "./SourceError.ts"

/** An item, or the reason why its record was rejected. */
export type SourceRecord = Result.Result<SourceItem, Reject>

/** The files that were found and the layout that was detected. */
export interface InputSummary {
  /** The files that were opened for detection. */
  readonly files: ReadonlyArray<{
    readonly name: string
    /** The format and compression, such as `CSV with ";", gzip`. */ readonly description: string
  }>
  /** Number of files. */
  readonly count: number
  /** Number of completions files in a join; otherwise `undefined`. These files are the last ones in `files`. */
  readonly joined?: number | undefined
  /** Folders and patterns that match no file. */
  readonly empty: ReadonlyArray<string>
  /** For example, `wide: prompt at "input", completions at "output_1" and "output_2"`. `undefined` without records. */
  readonly layout: string | undefined
  /** Paths that no sampled record has, each with its option, such as "winer" (`gold`). */
  readonly unknownFields: ReadonlyArray<string>
  /** Other ways to read the records, and the options that select them. */
  readonly hints: ReadonlyArray<string>
  /** Top-level members that are neither used nor ignored, each with the share of sampled records that have it. */
  readonly unused: ReadonlyArray<{ readonly name: string; readonly share: number }>
}

/** A source of prompt items. Reading it may fail with `E`, and requires the services `R`. */
export interface Source<out E = SourceError, out R = FileSystem.FileSystem | Path.Path> {
  /** Names the source in messages, for example by the path of its file. */
  readonly description: string
  /** Describes the layout of the first records, before all are read. */
  readonly summary?: Effect.Effect<InputSummary, E, R> | undefined
  /** The default of the pipeline's option `maxPlanned`. If undefined, there is no limit. */
  readonly maxPlanned?: number | undefined
  /** Fails only with errors that end the run. */
  readonly records: Stream.Stream<SourceRecord, E, R>
}

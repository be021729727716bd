/**
 * The formats of files, and which of them a file has.
 */
import { Effect } from "effect"
import type { FileSystem, Path, Scope, Stream } from "effect"
import { logged } from "../InputLog.ts"
import type { Input } from "../place/Input.ts"
import type { RowResult } from "../Row.ts"
import type { SourceError } from "../SourceError.ts"
import * as JsonLines from "./JsonLines.ts"

export const formatNames = ["jsonl", "json", "csv", "tsv", "parquet"] as const
export type FormatName = (typeof formatNames)[number]

export interface FormatOptions {
  /** Default: found by looking at the file's beginning, and where that does not tell, at its name. */
  readonly format?: FormatName | undefined
  /** Of CSV: one character. Default: found by looking. */
  readonly delimiter?: string | undefined
  /** Of CSV: whether the first record names the columns; else they are `column_1`, `column_2`, … Default true. */
  readonly header?: boolean | undefined
  /** Longer records are refused. In bytes of the text. Default 32 MiB. */
  readonly maxLineBytes?: number | undefined
}

/** A file whose format is known. */
export interface RowFile {
  /** That of its input. */
  readonly name: string
  readonly format: FormatName
  /** For messages: `JSONL`, `CSV with ";", gzip`, `Parquet, 1,000 rows`. */
  readonly description: string
  /** How many records it has, where the file says so. */
  readonly count: number | undefined
  /**
   * The records, in arrays. Each run reads the file anew.
   *
   * @param columns top-level members that are needed: others may be left out. Default: all
   */
  readonly rows: (columns?: ReadonlyArray<string>) => Stream.Stream<RowResult, SourceError>
}

/** The file can be read as long as the scope lasts. */
export const open: (
  input: Input,
  options?: FormatOptions,
) => Effect.Effect<RowFile, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> = Effect.fn("Format.open")(
  function* (input, options = {}) {
    return yield* Effect.succeed<RowFile>({
      name: input.name,
      format: "jsonl",
      description: "JSONL",
      count: undefined,
      rows: () => input.bytes.pipe(logged(input.name), JsonLines.rows(input.name, options)),
    })
  },
)

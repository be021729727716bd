/**
 * The formats of files, and which of them a file has.
 *
 * Guarantees: compression is detected by a file's content and never by its name alone; for the format, see
 * `Sniff`. What cannot be read is a failure that says what it is and what to do. The input audit gets a file's
 * bytes as they are in the file.
 */
import { Effect, Option, Stream } from "effect"
import type { Duration, FileSystem, Path, Scope } from "effect"
import { audited, auditedLater, reportSliced, withRecordCount } from "../place/InputAudit.ts"
import type { Input, ReadInto } from "../place/Input.ts"
import * as Spool from "../place/Spool.ts"
import type { NamesOf } from "../record/KnownOptions.ts"
import type { RowResult } from "../record/Row.ts"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import * as Compression from "./compression/Compression.ts"
import * as Csv from "./csv/Csv.ts"
import * as Encoding from "./Encoding.ts"
import { concat } from "../../io/RecordBuffer.ts"
import * as JsonArray from "./json/JsonArray.ts"
import * as JsonLines from "./json/JsonLines.ts"
import * as PlainThread from "./json/PlainThread.ts"
import * as Lines from "../../io/Lines.ts"
import * as Sniff from "./Sniff.ts"

export { formatNames } from "./Sniff.ts"

export interface FormatOptions {
  /** Default: detected, see `Sniff`. */
  readonly format?: Sniff.FormatName | undefined
  /** Of text: as the Encoding Standard has it, such as `windows-1252`. Default: UTF-8; what looks otherwise is refused. */
  readonly encoding?: string | undefined
  /** Of CSV: one character. Default: detected. */
  readonly delimiter?: string | undefined
  /** Of CSV: whether quotes enclose cells, or are text like any other. Default: detected, see `Csv`. */
  readonly quote?: "double" | "none" | undefined
  /** Of CSV: whether the first record names the columns; else they are `column_1`, `column_2`, … Default true. */
  readonly header?: boolean | undefined
  /** Longer records are rejected. In bytes of the text. Default 32 MiB. */
  readonly maxLineBytes?: number | undefined
  /** Of Parquet: row groups whose columns need more memory are refused. In bytes. Default 1 GiB. */
  readonly maxRowGroupBytes?: number | undefined
  /** The longest time in which nothing comes of a remote file. Default 2 minutes. */
  readonly idleTimeout?: Duration.Input | undefined
}

export const optionNames: NamesOf<FormatOptions> = {
  format: true,
  encoding: true,
  delimiter: true,
  quote: true,
  header: true,
  maxLineBytes: true,
  maxRowGroupBytes: true,
  idleTimeout: true,
}

/** A file whose format is known. */
export interface RowFile {
  /** That of its input. */
  readonly name: string
  readonly format: Sniff.FormatName
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
  /** The same records, of which another thread reads those that are plain items. Set if that saves time. */
  readonly rowsByThread?: Stream.Stream<RowResult, SourceError> | undefined
}

/** The file can be read as long as the scope lasts. */
export const open = Effect.fn("Format.open")(function* (
  input: Input,
  options: FormatOptions = {},
): Effect.fn.Return<RowFile, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const { name } = input
  const { encoding } = options
  const decoded = encoding === undefined ? undefined : yield* Encoding.decoderOf(encoding)
  const packed = yield* beginningOf(input.bytes)
  const compression = Compression.detect(packed.head) ?? (yield* detectBrotli(name, packed))
  if (compression === undefined && Sniff.contradictsExtension(name, packed.head)) {
    return yield* unreadable(name, "its name says that it is compressed, but its content is not; get it again")
  }
  const unpack = compression === undefined ? (bytes: Bytes) => bytes : Compression.unpack(name, compression)
  const inside = compression === undefined ? packed : yield* beginningOf(unpack(input.bytes))
  const twice = compression === undefined ? undefined : Compression.detect(inside.head)
  if (twice !== undefined) {
    return yield* unreadable(name, `it is compressed twice, with ${twice} and then ${compression}; unpack it once`)
  }
  const isDecoded = decoded !== undefined && !Sniff.isParquet(inside.head)
  const unpacked = (bytes: Bytes) => (isDecoded ? decoded(name)(unpack(bytes)) : unpack(bytes))
  const beginning = isDecoded ? yield* beginningOf(unpacked(input.bytes)) : inside
  const format = yield* Effect.mapError(
    Effect.fromResult(
      options.format === undefined
        ? Sniff.sniff({ ...beginning, name, isDecoded })
        : Sniff.check(options.format, beginning.head, isDecoded),
    ),
    (problem) => unreadable(name, problem),
  )
  const described = (description: string) =>
    [description, ...(isDecoded ? [encoding] : []), ...(compression === undefined ? [] : [compression])].join(", ")
  if (format === "parquet") {
    const whole = yield* Spool.toFile(input)
    const Parquet = yield* Effect.promise(() => import("./parquet/Parquet.ts"))
    const packed = auditedLater(name, whole.bytes)
    const file = yield* Parquet.open(
      compression === undefined
        ? whole
        : yield* Spool.toFile({ name, size: undefined, slice: undefined, bytes: unpacked(packed.bytes) }),
      options,
    )
    const report = compression === undefined ? reportSliced(whole) : packed.report
    return {
      name,
      format,
      description: described(file.description),
      count: file.count,
      rows: (columns) => withRecordCount(Stream.concat(file.rows(columns), Stream.fromEffectDrain(report))),
    }
  }
  const text = textFormat(name, format, beginning, options)
  const isPlain = text.format === "jsonl" && compression === undefined && !isDecoded
  const begin = isPlain && PlainThread.isWorthwhile(input.size, options.maxLineBytes) ? input.begin : undefined
  return {
    name,
    format: text.format,
    description: described(text.description),
    count: undefined,
    rowsByThread: begin && withRecordCount(readWithinReach(name, begin, options)),
    rows: () => withRecordCount(withinReach(name, input.bytes.pipe(audited(name), unpacked), text.rows, options)),
  }
})

type Bytes = Stream.Stream<Uint8Array, SourceError>
type Beginning = Omit<Sniff.Beginning, "name">

interface TextFormat {
  readonly format: Sniff.FormatName
  readonly description: string
  readonly rows: (bytes: Bytes) => Stream.Stream<RowResult, SourceError>
}

const textFormat = (
  name: string,
  format: Exclude<Sniff.FormatName, "parquet">,
  { head, isWhole }: Beginning,
  options: FormatOptions,
): TextFormat => {
  if (format === "jsonl") return { format, description: "JSONL", rows: JsonLines.rows(name, options) }
  if (format === "json") {
    const isList = /^\uFEFF?\s*(?:\[|$)/.test(new TextDecoder("utf-8", { ignoreBOM: true }).decode(head))
    return {
      format,
      description: isList ? "JSON array" : "JSON objects",
      rows: JsonArray.rows(name, options),
    }
  }
  const dialect = Csv.sniff(head, { ...options, format }, isWhole)
  return {
    format: dialect.delimiter === "\t" ? "tsv" : "csv",
    description: dialect.description,
    rows: Csv.rows(name, dialect, options),
  }
}

/** Records, of which each has to end within so many of the largest that are read. */
const maxLines = 32

/** Fails if no record ends for so long that it may never end. */
const reach = (name: string, { maxLineBytes = Lines.defaultMaxLineBytes }: FormatOptions) => {
  let waiting = 0
  return {
    add: (bytes: number) => {
      waiting += bytes
      return waiting > maxLines * maxLineBytes
        ? unreadable(name, `no record ends in ${waiting} bytes; is it a file of records?`)
        : Effect.void
    },
    reset: <A>(rows: A): A => {
      waiting = 0
      return rows
    },
  }
}

/** The records of a stream of bytes. */
const withinReach = (
  name: string,
  bytes: Bytes,
  toRows: TextFormat["rows"],
  options: FormatOptions,
): ReturnType<TextFormat["rows"]> =>
  Stream.suspend(() => {
    const { add, reset } = reach(name, options)
    const counted = Stream.mapArrayEffect(bytes, (chunks) =>
      Effect.as(add(chunks.reduce((sum, { length }) => sum + length, 0)), chunks),
    )
    return Stream.mapArray(toRows(counted), reset)
  })

/** The records of a file that is read by a thread. */
const readWithinReach = (name: string, begin: NonNullable<Input["begin"]>, options: FormatOptions) =>
  Stream.suspend(() => {
    const { add, reset } = reach(name, options)
    const counted = Effect.map(
      begin,
      (read): ReadInto =>
        (buffer) =>
          Effect.tap(read(buffer), add),
    )
    return Stream.mapArray(PlainThread.rows(name, counted, options), reset)
  })

/** The first bytes, as many as are inspected. A failure behind them is none yet. */
const beginningOf = Effect.fnUntraced(function* (bytes: Bytes) {
  const parts: Array<Uint8Array> = []
  let size = 0
  const isWhole = yield* bytes.pipe(
    Stream.runForEachWhile((part) => {
      parts.push(part)
      size += part.length
      return Effect.succeed(size < Sniff.headBytes)
    }),
    Effect.matchEffect({
      onFailure: (error) => (size > 0 ? Effect.succeed(false) : Effect.fail(error)),
      onSuccess: () => Effect.succeed(size < Sniff.headBytes),
    }),
  )
  return { head: concat(parts, Sniff.headBytes), isWhole }
})

/** Brotli begins like anything else: so it is what a `.br` is that is nothing else, or what can be unpacked to text. */
const detectBrotli = Effect.fnUntraced(function* (name: string, { head }: Beginning) {
  if (head.length === 0 || Sniff.isPlainText(head) || Sniff.isKnownBinary(head)) return undefined
  if (Sniff.hasEnding(name, "br")) return "brotli" as const
  const text = yield* Compression.tryBrotli(head)
  return Option.isSome(text) && text.value.length > 0 && Sniff.isPlainText(text.value) ? ("brotli" as const) : undefined
})

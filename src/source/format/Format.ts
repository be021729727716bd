/** Opens files of any format. Compression is detected from the content. The input audit gets the original bytes. */
import { type Duration, Effect, type FileSystem, Option, type Path, Result, type Scope, Stream } from "effect"
import type { FormatName } from "../place/FileExtensions.ts"
import { audited, auditedLater, reportSliced, withRecordCount } from "../place/InputAudit.ts"
import type { Input, ReadInto } from "../place/Input.ts"
import * as Spool from "../place/Spool.ts"
import type { RowResult } from "../record/Row.ts"
import { invalidOption, type SourceError, unreadable } from "../record/SourceError.ts"
import * as Compression from "./compression/Compression.ts"
import * as Csv from "./csv/Csv.ts"
import { concat } from "../../io/RecordBuffer.ts"
import * as JsonArray from "./json/JsonArray.ts"
import * as JsonLines from "./json/JsonLines.ts"
import * as PlainThread from "./json/PlainThread.ts"
import * as Lines from "../../io/Lines.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import type { ParquetOptions } from "./parquet/Parquet.ts"
import * as Sniff from "./Sniff.ts"

export interface FormatOptions
  extends Omit<Csv.CsvOptions, "format">, Pick<Lines.LinesOptions, "maxLineBytes">, ParquetOptions {
  /** Default: detected. */
  readonly format?: FormatName | undefined
  /** Encoding of text, such as `windows-1252` (Encoding Standard). Without this option, text must be UTF-8. */
  readonly encoding?: string | undefined
  /** Maximum time without data from a remote file. Default: 2 minutes. */
  readonly idleTimeout?: Duration.Input | undefined
}

export const optionKinds: Kinds.KindsOf<FormatOptions> = {
  ...Kinds.all(Kinds.anyText, "format encoding delimiter quote"),
  header: Kinds.flag,
  ...Kinds.all(Kinds.number, "maxLineBytes maxRowGroupBytes"),
  idleTimeout: Kinds.time,
}

export interface RowFile {
  readonly name: string
  readonly format: FormatName
  readonly description: string
  readonly count: number | undefined
  readonly rows: (columns?: ReadonlyArray<string>) => Stream.Stream<RowResult, SourceError>
  /** Reads the records of `rows` faster, with a second thread. Only large files of uncompressed JSON Lines have it. */
  readonly rowsByThread?: Stream.Stream<RowResult, SourceError> | undefined
}

export const open = Effect.fn("Format.open")(function* (
  input: Input,
  options: FormatOptions = {},
): Effect.fn.Return<RowFile, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const { name } = input
  const { encoding } = options
  const fail = (problem: string) => unreadable(name, problem)
  const decoderFor = encoding === undefined ? undefined : yield* decoderOf(encoding)
  const compressedHead = yield* beginningOf(input.bytes)
  const compression = Compression.detect(compressedHead.head) ?? (yield* detectBrotli(name, compressedHead))
  if (compression === undefined && Sniff.contradictsExtension(name, compressedHead.head)) {
    return yield* fail(
      "the file name has the extension of a compressed file, but the content is not compressed; download the file again",
    )
  }
  const unpack = compression === undefined ? (bytes: Bytes) => bytes : Compression.unpack(name, compression)
  const unpackedHead = compression === undefined ? compressedHead : yield* beginningOf(unpack(input.bytes))
  const innerCompression = compression === undefined ? undefined : Compression.detect(unpackedHead.head)
  if (innerCompression !== undefined) {
    return yield* fail(`compressed twice, with ${innerCompression} and then ${compression}; decompress it once`)
  }
  const isDecoded = decoderFor !== undefined && !Sniff.isParquet(unpackedHead.head)
  const unpackAndDecode = (bytes: Bytes) => (isDecoded ? decoderFor(name)(unpack(bytes)) : unpack(bytes))
  const beginning = isDecoded ? yield* beginningOf(unpackAndDecode(input.bytes)) : unpackedHead
  const format = yield* Effect.mapError(
    Effect.fromResult(
      options.format === undefined
        ? Sniff.sniff({ ...beginning, name, isDecoded })
        : Sniff.check(options.format, beginning.head, isDecoded),
    ),
    fail,
  )
  const describe = (description: string) =>
    [description, ...(isDecoded ? [encoding] : []), ...(compression === undefined ? [] : [compression])].join(", ")
  if (format === "parquet") {
    const localFile = yield* Spool.toFile(input)
    const Parquet = yield* Effect.promise(() => import("./parquet/Parquet.ts"))
    const auditedFile = auditedLater(name, localFile.bytes)
    const file = yield* Parquet.open(
      compression === undefined
        ? localFile
        : yield* Spool.toFile({ name, size: undefined, slice: undefined, bytes: unpackAndDecode(auditedFile.bytes) }),
      options,
    )
    const report = compression === undefined ? reportSliced(localFile) : auditedFile.report
    return {
      name,
      format,
      description: describe(file.description),
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
    description: describe(text.description),
    count: undefined,
    rowsByThread: begin && withRecordCount(rowsByThread(name, begin, options)),
    rows: () => withRecordCount(readRows(name, input.bytes.pipe(audited(name), unpackAndDecode), text.rows, options)),
  }
})

type Bytes = Stream.Stream<Uint8Array, SourceError>
type Beginning = Omit<Sniff.Beginning, "name">

interface TextFormat {
  readonly format: FormatName
  readonly description: string
  readonly rows: (bytes: Bytes) => Stream.Stream<RowResult, SourceError>
}

const textFormat = (
  name: string,
  format: Exclude<FormatName, "parquet">,
  { head, isWhole }: Beginning,
  options: FormatOptions,
): TextFormat => {
  if (format === "jsonl") return { format, description: "JSONL", rows: JsonLines.rows(name, options) }
  if (format === "json") {
    const isList = /^\uFEFF?\s*(?:\[|$)/.test(new TextDecoder("utf-8", { ignoreBOM: true }).decode(head))
    return { format, description: isList ? "JSON array" : "JSON objects", rows: JsonArray.rows(name, options) }
  }
  const dialect = Csv.sniff(head, { ...options, format }, isWhole)
  return {
    format: dialect.delimiter === "\t" ? "tsv" : "csv",
    description: dialect.description,
    rows: Csv.rows(name, dialect, options),
  }
}

const maxOpenRecords = 32

const limitOpenBytes = (name: string, { maxLineBytes = Lines.defaultMaxLineBytes }: FormatOptions) => {
  let openBytes = 0
  return {
    add: (bytes: number) => {
      openBytes += bytes
      return openBytes > maxOpenRecords * maxLineBytes
        ? unreadable(
            name,
            `no record ends within ${openBytes} bytes; check that the file contains records, and that \`format\` is right`,
          )
        : Effect.void
    },
    reset: <A>(rows: A): A => {
      openBytes = 0
      return rows
    },
  }
}

const readRows = (
  name: string,
  bytes: Bytes,
  toRows: TextFormat["rows"],
  options: FormatOptions,
): ReturnType<TextFormat["rows"]> =>
  Stream.suspend(() => {
    const { add, reset } = limitOpenBytes(name, options)
    const counted = Stream.mapArrayEffect(bytes, (chunks) =>
      Effect.as(add(chunks.reduce((sum, { length }) => sum + length, 0)), chunks),
    )
    return Stream.mapArray(toRows(counted), reset)
  })

const rowsByThread = (name: string, begin: NonNullable<Input["begin"]>, options: FormatOptions) =>
  Stream.suspend(() => {
    const { add, reset } = limitOpenBytes(name, options)
    const counted = Effect.map(
      begin,
      (read): ReadInto =>
        (buffer) =>
          Effect.tap(read(buffer), add),
    )
    return Stream.mapArray(PlainThread.rows(name, counted, options), reset)
  })

/** If reading fails after some bytes, returns these bytes. The failure occurs again when the records are read. */
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

/** Brotli has no magic number: a binary file is Brotli if its name ends in `.br` or it decompresses to text. */
const detectBrotli = Effect.fnUntraced(function* (name: string, { head }: Beginning) {
  if (head.length === 0 || Sniff.isPlainText(head) || Sniff.isKnownBinary(head)) return undefined
  if (Sniff.hasExtension(name, "br")) return "brotli" as const
  const text = yield* Compression.tryBrotli(head)
  return Option.isSome(text) && text.value.length > 0 && Sniff.isPlainText(text.value) ? ("brotli" as const) : undefined
})

/** Decodes text that is not UTF-8. Invalid bytes are a failure. */
const decoderOf = (label: string): Effect.Effect<(name: string) => (bytes: Bytes) => Bytes, SourceError> =>
  Effect.try({
    try: () => new TextDecoder(label).encoding,
    catch: () => invalidOption("encoding", `expected an encoding such as windows-1252, found ${JSON.stringify(label)}`),
  }).pipe(Effect.map((encoding) => (name) => (bytes) => (encoding === "utf-8" ? bytes : toUtf8(name, encoding, bytes))))

const encoder = new TextEncoder()

const toUtf8 = (name: string, encoding: string, bytes: Bytes): Bytes =>
  Stream.suspend(() => {
    const decoder = new TextDecoder(encoding, { fatal: true })
    const decode = (chunk: Uint8Array | undefined) =>
      Result.match(
        Result.try(() => decoder.decode(chunk, { stream: chunk !== undefined })),
        {
          onSuccess: (text) => Effect.succeed(encoder.encode(text)),
          onFailure: (cause) => unreadable(name, `not valid ${encoding} (\`encoding\`)`, cause),
        },
      )
    return Stream.mapEffect(bytes, decode).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode(undefined)))),
    )
  })

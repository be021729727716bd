/**
 * Compressed files, unpacked as they are read: gzip (RFC 1952), Zstandard (RFC 8878), Brotli (RFC 7932).
 *
 * Guarantees: all members or frames of the file are read, and its last byte is accounted for: a file that is cut
 * short, damaged, or followed by other bytes gives what came before (but for the last 64 kB), then a
 * `SourceError`. Memory is bounded by several hundred kB and the decoder's window, at most 128 MiB. A file that
 * decompresses to more than 1 GiB and to more than 1,000 times its size is refused; texts stay below 20 times.
 *
 * Not guaranteed: Brotli has no checksum, and a Zstandard frame may lack one: damage in them can go unnoticed.
 * `Unpacker` reads members and frames itself, because Node's streams ignore bytes behind them.
 */
import { Cause, Effect, Option, Scope, Stream } from "effect"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import { ByteReader } from "./ByteReader.ts"
import { concat } from "../../../io/RecordBuffer.ts"
import * as Unpacker from "./Unpacker.ts"

export type Compression = "gzip" | "zstd" | "brotli"

export interface ExpansionLimit {
  /** So much may come out of any file. */
  readonly bytes: number
  /** More than that, if it is at most so many times what went in. */
  readonly times: number
}

const defaultLimit: ExpansionLimit = { bytes: 1024 ** 3, times: 1000 }

/** By the first bytes. Brotli begins like anything else. */
export const detect = (head: Uint8Array): Exclude<Compression, "brotli"> | undefined => {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip"
  return Unpacker.isZstd(head) ? "zstd" : undefined
}

/** What is cut short is believed to be Brotli if it gives so many bytes. */
const enoughBytes = 1000

/**
 * The first that these bytes of a file's beginning unpack to, if they are Brotli. It has no magic number: this is
 * a trial, which other bytes fail, unless they are very few.
 */
export const tryBrotli = (head: Uint8Array): Effect.Effect<Option.Option<Uint8Array>> =>
  Effect.suspend(() => {
    let isCutShort = false
    const bytes: Stream.Stream<Uint8Array, SourceError> = Stream.succeed(head)
    return Stream.transformPull(
      bytes,
      Effect.fnUntraced(function* (pull, scope) {
        const unpacker = Unpacker.brotli(new ByteReader(pull))
        yield* Scope.addFinalizer(scope, Effect.sync(unpacker.close))
        return Effect.flatMap(unpacker.next, (output) =>
          output === undefined ? Cause.done() : Effect.succeed([output] as const),
        )
      }),
    ).pipe(
      Stream.catchIf(
        (error) => error._tag === "Fault" && error.isCutShort === true,
        () => {
          isCutShort = true
          return Stream.empty
        },
      ),
      Stream.take(8),
      Stream.runCollect,
      Effect.map((parts) => concat(parts)),
      Effect.option,
      Effect.map(Option.filter((unpacked) => !isCutShort || unpacked.length >= enoughBytes)),
    )
  })

const unpackers = { gzip: Unpacker.gzip, zstd: Unpacker.zstd, brotli: Unpacker.brotli }

/** `file` is the name in errors. */
export const unpack =
  (file: string, compression: Compression, limit: ExpansionLimit = defaultLimit) =>
  <R>(bytes: Stream.Stream<Uint8Array, SourceError, R>): Stream.Stream<Uint8Array, SourceError, R> =>
    Stream.transformPull(
      bytes,
      Effect.fnUntraced(function* (pull, scope) {
        const reader = new ByteReader(pull)
        const unpacker = unpackers[compression](reader)
        yield* Scope.addFinalizer(scope, Effect.sync(unpacker.close))
        let unpackedBytes = 0
        return Effect.gen(function* () {
          const output = yield* unpacker.next
          if (output === undefined) return yield* Cause.done()
          unpackedBytes += output.length
          if (unpackedBytes > limit.bytes && unpackedBytes > limit.times * reader.pulledBytes) {
            const times = Math.round(unpackedBytes / reader.pulledBytes)
            const problem = `${grouped(reader.pulledBytes)} bytes of it unpack to ${grouped(unpackedBytes)}, ${grouped(times)} times as many; texts do not, so it looks made to fill memory or disk. If it is right, unpack it and name what comes out`
            return yield* new Unpacker.Fault({ problem })
          }
          return [output] as const
        }).pipe(Effect.catchTag("Fault", ({ problem }) => Effect.fail(unreadable(file, problem))))
      }),
    )

const grouped = (count: number): string => count.toLocaleString("en")

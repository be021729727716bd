/**
 * Decompresses gzip (RFC 1952), Zstandard (RFC 8878), and Brotli (RFC 7932). Reading fails if the file is cut off or
 * damaged. Up to 64 kB of the data before the damage may be lost. In a file without checksums, damage can go unnoticed.
 * A file is refused if its decompressed size exceeds both 1 GiB and 1,000 times the compressed size. A Zstandard window
 * has at most 128 MiB.
 */
import { Cause, Effect, Option, Scope, Stream } from "effect"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import { ByteReader } from "./ByteReader.ts"
import { concat } from "../../../io/RecordBuffer.ts"
import * as Unpacker from "./Unpacker.ts"

export type Compression = "gzip" | "zstd" | "brotli"

export interface ExpansionLimit {
  readonly bytes: number
  readonly times: number
}

const defaultLimit: ExpansionLimit = { bytes: 1024 ** 3, times: 1000 }

export const detect = (head: Uint8Array): Exclude<Compression, "brotli"> | undefined => {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip"
  return Unpacker.isZstd(head) ? "zstd" : undefined
}

/** A file counts as Brotli if all of it decompresses, or if its beginning decompresses to at least this many bytes. */
const minBrotliBytes = 1000

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
      Effect.map(Option.filter((unpacked) => !isCutShort || unpacked.length >= minBrotliBytes)),
    )
  })

const unpackers = { gzip: Unpacker.gzip, zstd: Unpacker.zstd, brotli: Unpacker.brotli }

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
            const problem = `${formatCount(reader.pulledBytes)} bytes decompress to ${formatCount(unpackedBytes)} bytes (${formatCount(times)} times the size): the file may be a decompression bomb. If you trust the file, decompress it and use the result as input`
            return yield* new Unpacker.Fault({ problem })
          }
          return [output] as const
        }).pipe(Effect.catchTag("Fault", ({ problem }) => Effect.fail(unreadable(file, problem))))
      }),
    )

const formatCount = (count: number): string => count.toLocaleString("en")

/**
 * A file to be read, wherever it is: what all places have in common.
 *
 * Guarantees: `bytes` are the file as it was found, from its first byte to its last: what is missing,
 * or was changed meanwhile, is a failure and no shorter file. Each run of `bytes` begins anew.
 */
import type { Effect, Stream } from "effect"
import type { SourceError } from "../record/SourceError.ts"

export interface Input {
  /** As messages, rejects and the manifest name it: a path, a URL, `standard input`. */
  readonly name: string
  /** In bytes, where it is known before reading. */
  readonly size: number | undefined
  readonly bytes: Stream.Stream<Uint8Array, SourceError>
  /**
   * The bytes from `start` up to `end`, exclusive; exactly so many. Absent where a file can only be read
   * from its beginning on.
   */
  readonly slice: ((start: number, end: number) => Effect.Effect<Uint8Array, SourceError>) | undefined
  /**
   * What the slices were read from, to be told once they are read: all its bytes, or what a server says of a file
   * that would have to be downloaded for that. A file that was changed since its first slice is a failure.
   */
  readonly sliced?: Stream.Stream<Uint8Array, SourceError> | Version
}

/** What a server says of a file as it is. */
export interface Version {
  readonly etag?: string
  readonly last_modified?: string
}

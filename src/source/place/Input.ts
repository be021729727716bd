/** An opened file. Each run of `bytes` returns the complete file as it was when opened, or fails. */
import type { Effect, Scope, Stream } from "effect"
import type { SourceError } from "../record/SourceError.ts"

export interface Input {
  readonly name: string
  readonly size: number | undefined
  readonly bytes: Stream.Stream<Uint8Array, SourceError>
  readonly begin?: Effect.Effect<ReadInto, SourceError, Scope.Scope>
  /** Reads from `start` to `end` (exclusive). `slice` is undefined if the file can only be read from its beginning. */
  readonly slice: ((start: number, end: number) => Effect.Effect<Uint8Array, SourceError>) | undefined
  /** Identifies a file that was read in slices: all bytes of a local file, or the version of a remote file. */
  readonly sliced?: Stream.Stream<Uint8Array, SourceError> | Version
}

/** Returns the number of bytes read into the buffer: 0 at the end of the file. */
export type ReadInto = (buffer: Uint8Array) => Effect.Effect<number, SourceError>

export interface Version {
  readonly etag?: string | undefined
  readonly last_modified?: string | undefined
}

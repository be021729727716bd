/**
 * A file to be read, wherever it is.
 *
 * Guarantees: `bytes` are the file as it was when opened, completely: missing or changed bytes are a failure. Each run
 * of `bytes` starts from the beginning.
 */
import type { Effect, Scope, Stream } from "effect"
import type { SourceError } from "../record/SourceError.ts"

export interface Input {
  /** As messages, rejects and the manifest name it: a path, a URL, `standard input`. */
  readonly name: string
  /** In bytes, where it is known before reading. */
  readonly size: number | undefined
  readonly bytes: Stream.Stream<Uint8Array, SourceError>
  /** Opens the file, to read it into buffers of the caller, with the failures of `bytes`. Only local files have it. */
  readonly begin?: Effect.Effect<ReadInto, SourceError, Scope.Scope>
  /**
   * The bytes from `start` up to `end`, exclusive; exactly so many. Absent where a file can only be read
   * from its beginning on.
   */
  readonly slice: ((start: number, end: number) => Effect.Effect<Uint8Array, SourceError>) | undefined
  /**
   * For the audit of a file that was read in slices: all its bytes, or the server's version of a file that would have
   * to be downloaded for them. A file that changed since its first slice is a failure.
   */
  readonly sliced?: Stream.Stream<Uint8Array, SourceError> | Version
}

/** Reads the next bytes into the buffer. Gives their number, which is 0 at the end of the file. */
export type ReadInto = (buffer: Uint8Array) => Effect.Effect<number, SourceError>

/** A server's version of a file. */
export interface Version {
  readonly etag?: string
  readonly last_modified?: string
}

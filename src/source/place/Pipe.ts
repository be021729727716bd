/**
 * What can be read only once: standard input, a FIFO, `<(zcat items.gz)`.
 *
 * Guarantees: within a process it can be read several times from its first byte, as long as at most `memoryLimit` bytes
 * were read of it, or once it was copied to a file (`Spool`). Of larger input, only the reader that has come furthest goes
 * on; reading it again is a failure that says so. A FIFO that others write to repeatedly is read as one file.
 */
import { Array, Cause, Effect, type Pull, Result, Stream } from "effect"
import { type IncomingBytes, pipe, StandardInput } from "../../node/IncomingBytes.ts"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"

/** In bytes. */
export const memoryLimit = 16 * 1024 * 1024

/** What was read of a pipe so far. */
interface Memory {
  /** All pieces that have come; none, once they are too many. */
  pieces: Array<Uint8Array>
  isDiscarded: boolean
  count: number
  bytes: number
  isEnded: boolean
  /** The whole, once it was put into a file. */
  copy: Input | undefined
}

/** Those of this process, for as long as the pipes are. */
const memories = new WeakMap<IncomingBytes, Memory>()

/** From which pipe an input is. */
const origins = new WeakMap<Input, Memory>()

export const standardInput: Effect.Effect<Input> = Effect.map(StandardInput, (incoming) =>
  open("standard input", incoming),
)

/** The pipes that were opened by name. */
const named = new Map<string, IncomingBytes>()

/** @param inode distinguishes a pipe from an earlier one of the same name */
export const byName = (name: string, inode: bigint | undefined): Input => {
  const id = `${inode} ${name}`
  const incoming = named.get(id) ?? pipe(name)
  named.set(id, incoming)
  return open(name, incoming)
}

const open = (name: string, incoming: IncomingBytes): Input => {
  const memory = memories.get(incoming) ?? {
    pieces: [],
    isDiscarded: false,
    count: 0,
    bytes: 0,
    isEnded: false,
    copy: undefined,
  }
  memories.set(incoming, memory)
  if (memory.copy !== undefined) return memory.copy
  const input: Input = { name, size: undefined, bytes: read(name, incoming, memory), slice: undefined }
  origins.set(input, memory)
  return input
}

/** The input is read from this file from now on, by whoever opens it. The file has to last as long as the process. */
export const keep = (input: Input, copy: Input): void => {
  const memory = origins.get(input)
  if (memory === undefined) return
  memory.copy = copy
  memory.pieces = []
  memory.isDiscarded = true
}

export const isPipe = (input: Input): boolean => origins.has(input)

const read = (name: string, incoming: IncomingBytes, memory: Memory): Stream.Stream<Uint8Array, SourceError> =>
  Stream.suspend(() => {
    let at = 0
    const pull: Pull.Pull<Array.NonEmptyReadonlyArray<Uint8Array>, SourceError> = Effect.suspend(() => {
      if (at < memory.count) {
        const piece = memory.pieces[at++]
        return piece === undefined ? Effect.fail(isGone(name)) : Effect.succeed(Array.of(piece))
      }
      if (memory.isEnded) return Cause.done()
      // Taken and remembered in one step, which nothing interrupts.
      const arrival = incoming.take()
      if (Result.isFailure(arrival)) return Effect.fail(broken(name, arrival.failure.cause))
      if (arrival.success === "nothing yet") return Effect.andThen(incoming.arrival, pull)
      if (arrival.success === "end") {
        memory.isEnded = true
        return Cause.done()
      }
      at++
      remember(memory, arrival.success)
      return Effect.succeed(Array.of(arrival.success))
    })
    return Stream.fromPull(Effect.succeed(pull))
  })

const remember = (memory: Memory, piece: Uint8Array): void => {
  memory.count++
  memory.bytes += piece.length
  if (memory.bytes > memoryLimit) memory.isDiscarded = true
  if (memory.isDiscarded) memory.pieces = []
  else memory.pieces.push(piece)
}

const isGone = (name: string) =>
  unreadable(
    name,
    `more than ${memoryLimit / 1024 / 1024} MiB were read from it, and it cannot be read again; save it to a file first`,
  )

const broken = (name: string, cause: unknown) =>
  unreadable(name, cause instanceof Error ? cause.message : "the pipe broke", cause)

/** Reads a pipe. A pipe of more than `memoryLimitBytes` can be read only once, unless `Spool` copies it first. */
import { Array, Cause, Effect, type Pull, Result, Stream } from "effect"
import { type IncomingBytes, pipe, StandardInput } from "../../node/IncomingBytes.ts"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"

export const memoryLimitBytes = 16 * 1024 * 1024

interface Memory {
  pieces: Array<Uint8Array>
  isDiscarded: boolean
  count: number
  bytes: number
  isEnded: boolean
  copy?: Input
}

const memories = new WeakMap<IncomingBytes, Memory>()

const origins = new WeakMap<Input, Memory>()

export const standardInput: Effect.Effect<Input> = Effect.map(StandardInput, (incoming) =>
  open("standard input", incoming),
)

const pipesByName = new Map<string, IncomingBytes>()

/** @param inode distinguishes a pipe from an earlier pipe with the same name */
export const byName = (name: string, inode: bigint | undefined): Input => {
  const id = `${inode} ${name}`
  const incoming = pipesByName.get(id) ?? pipe(name)
  pipesByName.set(id, incoming)
  return open(name, incoming)
}

const open = (name: string, incoming: IncomingBytes): Input => {
  const memory: Memory = memories.get(incoming) ?? {
    pieces: [],
    isDiscarded: false,
    count: 0,
    bytes: 0,
    isEnded: false,
  }
  memories.set(incoming, memory)
  if (memory.copy !== undefined) return memory.copy
  const input: Input = { name, size: undefined, bytes: read(name, incoming, memory), slice: undefined }
  origins.set(input, memory)
  return input
}

export const replaceByCopy = (input: Input, copy: Input): void => {
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
        return piece === undefined ? Effect.fail(discardedFailure(name)) : Effect.succeed(Array.of(piece))
      }
      if (memory.isEnded) return Cause.done()
      // Taking and remembering a piece is one synchronous step, so that an interruption cannot lose the piece.
      const arrival = incoming.take()
      if (Result.isFailure(arrival)) return Effect.fail(pipeFailure(name, arrival.failure.cause))
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
  if (memory.bytes > memoryLimitBytes) memory.isDiscarded = true
  if (memory.isDiscarded) memory.pieces = []
  else memory.pieces.push(piece)
}

const discardedFailure = (name: string) =>
  unreadable(
    name,
    `more than ${memoryLimitBytes / 1024 / 1024} MiB of the pipe were read, so it cannot be read again; save it to a file first`,
  )

const pipeFailure = (name: string, cause: unknown) =>
  unreadable(name, cause instanceof Error ? cause.message : "the pipe broke", cause)

/**
 * Adapter: bytes that come once, piece by piece, from a stream of Node: standard input, a named pipe.
 *
 * Guarantees: waiting can be interrupted at any time, and loses nothing of what comes; a stream that nobody
 * waits for does not keep the process alive.
 */
import { constants, openSync } from "node:fs"
import { Socket } from "node:net"
import type { Readable } from "node:stream"
import { Context, Effect, Result, Schema } from "effect"

/** The stream broke, or can't be opened; `cause` is the system's own error. */
export class NotReadable extends Schema.TaggedError<NotReadable>()("NotReadable", { cause: Schema.Defect() }) {}

/** What has come since the last time. */
export type Arrival = Uint8Array | "nothing yet" | "end"

export interface IncomingBytes {
  /** Takes what is there. */
  readonly take: () => Result.Result<Arrival, NotReadable>
  /** Waits until there is something to be taken. */
  readonly arrival: Effect.Effect<void>
}

/** @param open called once, when the first bytes are asked for */
export const fromReadable = (open: () => Readable): IncomingBytes => {
  let opened: Result.Result<Readable, NotReadable> | undefined
  const readable = () => (opened ??= Result.try({ try: open, catch: (cause) => new NotReadable({ cause }) }))
  return {
    take: () =>
      Result.flatMap(readable(), (stream): Result.Result<Arrival, NotReadable> => {
        const bytes = stream.read() as Uint8Array | null
        if (bytes !== null) return Result.succeed(bytes)
        if (stream.errored !== null) return Result.fail(new NotReadable({ cause: stream.errored }))
        return Result.succeed(stream.readableEnded || stream.destroyed ? "end" : "nothing yet")
      }),
    arrival: Effect.callback<void>((resume) => {
      const opened = readable()
      if (Result.isFailure(opened)) return resume(Effect.void)
      const stream = opened.success
      const rest = () => {
        for (const event of events) stream.off(event, arrived)
        keepAlive(stream, false)
      }
      const arrived = () => {
        rest()
        resume(Effect.void)
      }
      for (const event of events) stream.on(event, arrived)
      keepAlive(stream, true)
      return Effect.sync(rest)
    }),
  }
}

const events = ["readable", "end", "error", "close"] as const

/** What reads a file, as `prefstream - < items.jsonl` has it, knows of no such thing, and needs none. */
const keepAlive = (stream: Readable & { ref?(): void; unref?(): void }, isNeeded: boolean): void => {
  if (isNeeded) stream.ref?.()
  else stream.unref?.()
}

/** The process's own; programs and tests may put another in its place. */
export const StandardInput = Context.Reference<IncomingBytes>("prefstream/node/StandardInput", {
  defaultValue: () => fromReadable(() => process.stdin),
})

/** A named pipe, or one that a shell made for `<(command)`. Opened without waiting for who writes. */
export const pipe = (path: string): IncomingBytes =>
  fromReadable(() => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return new Socket({ fd, readable: true, writable: false })
  })

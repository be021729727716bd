/** Adapter: bytes that can be read once. An interrupted wait loses no bytes. */
import { constants, openSync } from "node:fs"
import { Socket } from "node:net"
import type { Readable } from "node:stream"
import { Context, Effect, Result, Schema } from "effect"

export class NotReadable extends Schema.TaggedError<NotReadable>()("NotReadable", { cause: Schema.Defect() }) {}

export type Arrival = Uint8Array | "nothing yet" | "end"

export interface IncomingBytes {
  readonly take: () => Result.Result<Arrival, NotReadable>
  readonly arrival: Effect.Effect<void>
}

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

/** If standard input is a file, its stream has no `ref` and needs none. */
const keepAlive = (stream: Readable & { ref?(): void; unref?(): void }, isNeeded: boolean): void => {
  if (isNeeded) stream.ref?.()
  else stream.unref?.()
}

export const StandardInput = Context.Reference<IncomingBytes>("prefstream/node/StandardInput", {
  defaultValue: () => fromReadable(() => process.stdin),
})

/** A named pipe, such as that of the shell's `<(command)`. Opening it does not wait for a writer. */
export const pipe = (path: string): IncomingBytes =>
  fromReadable(() => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return new Socket({ fd, readable: true, writable: false })
  })

/** Adapter: random access to a file, as the promise-based interface that `hyparquet` expects. */
import { open as openFile } from "node:fs/promises"
import { Effect, Schema } from "effect"

export class NotOpened extends Schema.TaggedError<NotOpened>()("NotOpened", { cause: Schema.Defect() }) {}

const notOpened = (cause: unknown) => new NotOpened({ cause })

export interface RandomAccessFile {
  readonly byteLength: number
  readonly slice: (start: number, end?: number) => Promise<ArrayBuffer>
}

export const open = Effect.fnUntraced(function* (path: string) {
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => openFile(path), catch: notOpened }),
    (handle) => Effect.promise(() => handle.close()),
  )
  const { size } = yield* Effect.tryPromise({ try: () => handle.stat(), catch: notOpened })
  const file: RandomAccessFile = {
    byteLength: size,
    slice: async (start, end = size) => {
      const buffer = new ArrayBuffer(Math.max(Math.min(end, size) - start, 0))
      const { bytesRead } = await handle.read(new Uint8Array(buffer), 0, buffer.byteLength, start)
      return bytesRead === buffer.byteLength ? buffer : buffer.slice(0, bytesRead)
    },
  }
  return file
})

/** Adapter: `node:zlib`, off the main thread. Node accepts a truncated Zstandard frame (fixed in 24.20 and 26.7). */
import type { Transform } from "node:stream"
import { crc32 as nodeCrc32, createBrotliDecompress, createInflateRaw, createZstdDecompress } from "node:zlib"
import { Data, Effect, Schema } from "effect"

/** `deflate` is data without a frame (RFC 1951). `brotli` is one stream. `zstd` is any number of whole frames. */
export type Method = "deflate" | "zstd" | "brotli"

export class CorruptData extends Schema.TaggedError<CorruptData>()("CorruptData", { problem: Schema.String }) {}

export type Step = Data.TaggedEnum<{
  Output: { readonly bytes: Uint8Array }
  NeedsInput: {}
  /** The compressed data ended within the last written bytes. `unused` is the rest of these bytes. */
  Ended: { readonly unused: Uint8Array }
}>
export const Step = Data.taggedEnum<Step>()

export interface Decoder {
  /** Call it only after `NeedsInput`. */
  readonly write: (bytes: Uint8Array) => void
  readonly end: () => void
  readonly next: Effect.Effect<Step, CorruptData>
  readonly close: () => void
}

export const crc32 = (bytes: Uint8Array, before: number): number => nodeCrc32(bytes, before)

const chunkSize = 64 * 1024

const streams: Record<Method, () => Transform & { readonly bytesWritten: number }> = {
  deflate: () => createInflateRaw({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize }),
  brotli: () => createBrotliDecompress({ chunkSize }),
}

export const make = (method: Method): Decoder => {
  const stream = streams[method]()
  let written = new Uint8Array(0)
  let usedBefore = 0
  let needsInput = true
  let isEnded = false
  let error: Error | undefined
  let wake: (() => void) | undefined
  const wakeUp = () => {
    const resume = wake
    wake = undefined
    resume?.()
  }
  stream.on("readable", wakeUp)
  stream.on("end", () => {
    isEnded = true
    wakeUp()
  })
  stream.on("error", (cause) => {
    error = cause
    wakeUp()
  })
  const next: Effect.Effect<Step, CorruptData> = Effect.suspend(() => {
    const bytes = stream.read() as Buffer | null
    if (bytes !== null) return Effect.succeed(Step.Output({ bytes }))
    if (error !== undefined) return Effect.fail(new CorruptData({ problem: error.message }))
    if (isEnded) return Effect.succeed(Step.Ended({ unused: written.subarray(stream.bytesWritten - usedBefore) }))
    if (needsInput) return Effect.succeed(Step.NeedsInput())
    return Effect.flatMap(
      Effect.callback<void>((resume) => {
        wake = () => resume(Effect.void)
      }),
      () => next,
    )
  })
  return {
    write: (bytes) => {
      written = bytes as Uint8Array<ArrayBuffer>
      usedBefore = stream.bytesWritten
      needsInput = false
      stream.write(bytes, () => {
        needsInput = true
        wakeUp()
      })
    },
    end: () => {
      written = new Uint8Array(0)
      usedBefore = stream.bytesWritten
      needsInput = false
      stream.end()
    },
    next,
    close: () => void stream.destroy(),
  }
}

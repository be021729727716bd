/** Joins the chunks of a record. If the record is too large, the first 64 KiB stay in memory, for the rejects file. */
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import type { Reject } from "../domain/Reject.ts"
import * as Windows1252 from "./Windows1252.ts"

const maxRawBytes = 64 * 1024

export class RecordBuffer {
  readonly #limit: number
  #parts: Array<Uint8Array> = []
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const isTruncated = this.#size > this.#limit && this.#parts[0]!.length === maxRawBytes
    this.#size += bytes.length
    if (isTruncated) return
    this.#parts.push(bytes)
    if (this.#size > this.#limit) this.#parts = [concat(this.#parts, maxRawBytes)]
  }

  take(): { readonly bytes: Uint8Array; readonly size: number } {
    const record = { bytes: concat(this.#parts), size: this.#size }
    this.#parts = []
    this.#size = 0
    return record
  }
}

export const concat = (parts: ReadonlyArray<Uint8Array>, limit = Infinity): Uint8Array => {
  if (parts.length === 1 && parts[0]!.length <= limit) return parts[0]!
  const whole = new Uint8Array(
    Math.min(
      limit,
      parts.reduce((size, part) => size + part.length, 0),
    ),
  )
  let at = 0
  for (const part of parts) {
    whole.set(part.subarray(0, whole.length - at), at)
    at = Math.min(at + part.length, whole.length)
  }
  return whole
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const decode = (bytes: Uint8Array): string | undefined =>
  Result.getOrUndefined(Result.try(() => decoder.decode(bytes)))

export const decodeBeginning = (bytes: Uint8Array): string | undefined =>
  Result.getOrUndefined(
    Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })),
  )

export const rawMembers = (bytes: Uint8Array, size: number): Pick<Reject, "raw" | "raw_base64" | "raw_bytes"> => {
  const shown = bytes.subarray(0, maxRawBytes)
  const text = size > shown.length ? decodeBeginning(shown) : decode(shown)
  return {
    ...(text === undefined ? { raw_base64: Base64.encode(shown) } : { raw: text }),
    ...(size > shown.length ? { raw_bytes: size } : undefined),
  }
}

export const tooLarge = (what: string, bytes: Uint8Array, size: number, limit: number) => ({
  code: "oversized_line" as const,
  reason: `expected ${what} of at most ${limit} bytes, found ${size}`,
  ...rawMembers(bytes, size),
  raw_bytes: size,
})

export const notUtf8 = (bytes: Uint8Array) => ({
  code: "invalid_utf8" as const,
  reason: `expected UTF-8, found other bytes (${Windows1252.countTextRuns(bytes) > 0 ? 'for Windows-1252, set `encoding: "windows-1252"`' : 'for another encoding, set `encoding: "NAME"`'}); see raw_base64`,
  raw_base64: Base64.encode(bytes),
})

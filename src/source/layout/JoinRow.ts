/**
 * A completion that a prompt asks for, and how it is written in a scratch database: as bytes, of which the engine's
 * memory holds none until they are read again.
 *
 * A row is three numbers of four bytes, little-endian, and text: the rank of the prompt, the size of the text in bytes,
 * the length of its beginning in UTF-16 units; the beginning is all that is short, as JSON, and the rest the completion.
 */
import type { Origin } from "../../domain/Origin.ts"
import type { Range } from "./JoinPrompts.ts"
import { toOrigin } from "./Scratch.ts"

/** Text, or what is to be read together with the prompt, as JSON. */
export interface Completion {
  readonly text: string
  readonly isJson: boolean
}

/** A completion that a prompt asks for. */
export interface JoinRow {
  /** Of the prompt. */
  readonly rank: number
  /** Index of the completions file. */
  readonly file: number
  /** Of the record in its file, counted from one. */
  readonly number: number
  readonly origin: Origin
  /** The key, cut, as reasons name it. */
  readonly shown: string
  readonly completion: Completion
  readonly model: string | null
  /** The record's text without that of the completion, as `ScratchText.cut` leaves it. */
  readonly rest: string | null
  readonly places: string | null
}

type Head = readonly [
  ...[file: number, number: number, line: number | null, row: number | null, shown: string],
  ...[isJson: 0 | 1, model: string | null, rest: string | null, places: string | null],
]

export interface Prepared {
  readonly rank: number
  readonly head: string
  readonly text: string
  /** It takes no more. */
  readonly mostBytes: number
}

const numberBytes = 12

export const prepare = ({ completion, file, model, number, origin, places, rank, rest, shown }: JoinRow): Prepared => {
  const { line = null, row = null } = origin
  const { isJson, text } = completion
  const parts: Head = [file, number, line, row, shown, isJson ? 1 : 0, model, rest, places]
  const head = JSON.stringify(parts)
  // No unit of UTF-16 takes more than three bytes.
  return { rank, head, text, mostBytes: numberBytes + 3 * (head.length + text.length) }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** @returns where the row ends */
export const write = ({ head, rank, text }: Prepared, bytes: Uint8Array, at: number): number => {
  const headStart = at + numberBytes
  const textStart = headStart + encoder.encodeInto(head, bytes.subarray(headStart)).written
  const end = textStart + encoder.encodeInto(text, bytes.subarray(textStart)).written
  const numbers = new DataView(bytes.buffer, bytes.byteOffset + at, numberBytes)
  numbers.setUint32(0, rank, true)
  numbers.setUint32(4, end - headStart, true)
  numbers.setUint32(8, head.length, true)
  return end
}

/** The rows of a range, in their order. @param files names of the completions files, by which they are told in origins */
export const readAll = (
  bytes: Uint8Array,
  { from, to }: Range,
  files: ReadonlyArray<string>,
): ReadonlyArray<JoinRow> => {
  const rows: Array<JoinRow> = []
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length;) {
    const rank = numbers.getUint32(at, true)
    const start = at + numberBytes
    const end = start + numbers.getUint32(at + 4, true)
    if (rank >= from && rank <= to) {
      const both = decoder.decode(bytes.subarray(start, end))
      const headLength = numbers.getUint32(at + 8, true)
      const parts: Head = JSON.parse(both.slice(0, headLength))
      const [file, number, line, row, shown, isJson, model, rest, places] = parts
      const origin = toOrigin(files[file]!, line, row)
      const completion = { text: both.slice(headLength), isJson: isJson === 1 }
      rows.push({ rank, file, number, origin, shown, completion, model, rest, places })
    }
    at = end
  }
  return rows
}

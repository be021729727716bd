/**
 * A completion that a prompt asks for, and how it is written in a scratch database: as bytes, of which the engine's
 * memory holds none until they are read again.
 *
 * A row is four numbers of four bytes, little-endian, and text: the rank of the prompt, the index of the file, the size of the
 * text in bytes, the length of its beginning in UTF-16 units; the beginning is all that is short, as JSON, and the rest the completion.
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
  /** What goes along, as JSON. */
  readonly kept: string | null
  /** The record's text without that of the completion, as `ScratchText.cut` leaves it. */
  readonly rest: string | null
  readonly places: string | null
}

type Head = readonly [
  ...[number: number, line: number | null, row: number | null, shown: string],
  ...[isJson: 0 | 1, model: string | null, kept: string | null, rest: string | null, places: string | null],
]

export interface Prepared {
  readonly rank: number
  readonly file: number
  readonly head: string
  readonly text: string
  /** It takes no more. */
  readonly mostBytes: number
}

const numberBytes = 16

export const prepare = ({
  completion,
  file,
  kept,
  model,
  number,
  origin,
  places,
  rank,
  rest,
  shown,
}: JoinRow): Prepared => {
  const { line = null, row = null } = origin
  const { isJson, text } = completion
  const parts: Head = [number, line, row, shown, isJson ? 1 : 0, model, kept, rest, places]
  const head = JSON.stringify(parts)
  // No unit of UTF-16 takes more than three bytes.
  return { rank, file, head, text, mostBytes: numberBytes + 3 * (head.length + text.length) }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** @returns where the row ends */
export const write = ({ file, head, rank, text }: Prepared, bytes: Uint8Array, at: number): number => {
  const headStart = at + numberBytes
  const textStart = headStart + encoder.encodeInto(head, bytes.subarray(headStart)).written
  const end = textStart + encoder.encodeInto(text, bytes.subarray(textStart)).written
  const numbers = new DataView(bytes.buffer, bytes.byteOffset + at, numberBytes)
  numbers.setUint32(0, rank, true)
  numbers.setUint32(4, file, true)
  numbers.setUint32(8, end - headStart, true)
  numbers.setUint32(12, head.length, true)
  return end
}

/** A row as it stands in bytes. */
export interface Written {
  readonly rank: number
  /** Index of the completions file. */
  readonly file: number
  readonly bytes: Uint8Array
  readonly at: number
}

/** The rows of a range, in their order. They are read when they are needed: until then the engine's memory has no text of them. */
export const find = (bytes: Uint8Array, { from, to }: Range): ReadonlyArray<Written> => {
  const rows: Array<Written> = []
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += numberBytes + numbers.getUint32(at + 8, true)) {
    const rank = numbers.getUint32(at, true)
    if (rank >= from && rank <= to) rows.push({ rank, file: numbers.getUint32(at + 4, true), bytes, at })
  }
  return rows
}

/** @param files names of the completions files, by which they are told in origins */
export const read = ({ at, bytes, file, rank }: Written, files: ReadonlyArray<string>): JoinRow => {
  const numbers = new DataView(bytes.buffer, bytes.byteOffset + at, numberBytes)
  const start = at + numberBytes
  const both = decoder.decode(bytes.subarray(start, start + numbers.getUint32(8, true)))
  const headLength = numbers.getUint32(12, true)
  const parts: Head = JSON.parse(both.slice(0, headLength))
  const [number, line, row, shown, isJson, model, kept, rest, places] = parts
  const origin = toOrigin(files[file]!, line, row)
  const completion = { text: both.slice(headLength), isJson: isJson === 1 }
  return { rank, file, number, origin, shown, completion, model, kept, rest, places }
}

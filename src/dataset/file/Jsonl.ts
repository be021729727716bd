/** The library `datasets` infers types from the first rows. Up to 100 rows with other types are moved to the start. */
import type { EncodedRow } from "./EncodedRow.ts"
import type { Features } from "./Features.ts"
import * as InferredTypes from "./InferredTypes.ts"
import * as JsonLine from "./JsonLine.ts"
import type { OutputFile } from "../../node/OutputFile.ts"
import type { RowWriter } from "./RowWriter.ts"

const bufferBytes = 1024 * 1024

const maxUnitBytes = 3

// `datasets` infers types from the first 10 MB of the first file. The moved rows (at most 4 MiB) and the first rows
// after them (4 MiB) fit in these 10 MB.
const maxStartBytes = 4 * 1024 * 1024

export const maxLeadingLines = 100

export const leadingLines = (features: Features) => {
  const types = InferredTypes.make(features)
  const lineOf = JsonLine.make(features)
  const lines: Array<string> = []
  let startBytes = 0
  let leadingBytes = 0
  return {
    lines: lines as ReadonlyArray<string>,
    /** Returns true if it added the row to `lines`, which are written first. Otherwise, the caller writes the row. */
    moveToStart: (row: EncodedRow): boolean => {
      const { columns } = row
      if (startBytes < maxStartBytes) {
        types.learn(columns)
        startBytes += Buffer.byteLength(lineOf(row)) + 1
        return false
      }
      if (types.misfit(columns) === undefined) return false
      const line = `${lineOf(row)}\n`
      const bytes = Buffer.byteLength(line)
      if (leadingBytes + bytes > maxStartBytes || lines.length === maxLeadingLines) return false
      types.learn(columns)
      leadingBytes += bytes
      lines.push(line)
      return true
    },
  }
}

export const make = (file: OutputFile, features: Features, leading: ReturnType<typeof leadingLines>): RowWriter => {
  const partsOf = JsonLine.parts(features)
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  let length = 0
  let count = 0

  const flush = () => {
    file.append(buffer.subarray(0, length))
    length = 0
  }
  const append = (part: string | Uint8Array) => {
    const maxBytes = typeof part === "string" ? maxUnitBytes * part.length : part.length
    if (length + maxBytes > buffer.length) flush()
    if (maxBytes > buffer.length) file.append(typeof part === "string" ? Buffer.from(part) : part)
    else if (typeof part === "string") length += buffer.write(part, length)
    else {
      buffer.set(part, length)
      length += part.length
    }
  }

  return {
    write: (row) => {
      if (leading.moveToStart(row)) return
      count++
      partsOf(row, append)
      append("\n")
    },
    finish: () => {
      flush()
      return { ...file.finish(), rows: count }
    },
    close: file.close,
  }
}

/**
 * Writes rows as JSON Lines: one object per line, members in column order, LF, UTF-8, numbers as in `JsonLine`.
 *
 * Guarantees: buffers 1 MB, whatever the number of rows; the same rows give the same bytes, however they are chunked.
 */
import { Effect } from "effect"
import type { Features } from "./Features.ts"
import * as JsonLine from "./JsonLine.ts"
import type { OutputFile, RowWriter } from "./OutputFile.ts"

const bufferBytes = 1024 * 1024

/** Of a UTF-16 code unit as UTF-8. */
const maxUnitBytes = 3

export const make = (file: OutputFile, features: Features): RowWriter => {
  const lineOf = JsonLine.make(features)
  const buffer = Buffer.allocUnsafe(bufferBytes)
  let length = 0

  const flush = Effect.suspend(() => file.append(buffer.subarray(0, length))).pipe(
    Effect.map(() => {
      length = 0
    }),
  )

  return {
    write: Effect.fnUntraced(function* (rows) {
      for (const row of rows) {
        const line = `${lineOf(row)}\n`
        const maxBytes = maxUnitBytes * line.length
        if (length + maxBytes > buffer.length) yield* flush
        if (maxBytes > buffer.length) yield* file.append(Buffer.from(line))
        else length += buffer.write(line, length)
      }
    }),
    end: flush,
    finish: file.finish,
  }
}

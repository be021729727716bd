/**
 * Writes rows as JSON Lines: one object per line, members in column order, LF, UTF-8, numbers as in `JsonLine`.
 *
 * Guarantees: buffers about 1 MB, whatever the number of rows; the same rows give the same bytes, however they are
 * chunked.
 */
import { Effect } from "effect"
import type { Features } from "./Features.ts"
import * as JsonLine from "./JsonLine.ts"
import type { OutputFile, RowWriter } from "./OutputFile.ts"

/** UTF-16 units gathered before they are written. */
const flushAt = 256 * 1024

export const make = (file: OutputFile, features: Features): RowWriter => {
  const lineOf = JsonLine.make(features)
  const encoder = new TextEncoder()
  let lines = ""

  const flush = Effect.suspend(() => {
    const bytes = encoder.encode(lines)
    lines = ""
    return file.append(bytes)
  })

  return {
    write: Effect.fnUntraced(function* (rows) {
      for (const { row } of rows) {
        lines += lineOf(row) + "\n"
        if (lines.length >= flushAt) yield* flush
      }
    }),
    end: flush,
    finish: file.finish,
  }
}

/** Stores rows as 52-bit hashes in a temporary file of 256 partitions. Memory holds 17 MB and one partition. */
import { Effect, FileSystem, Result, Stream } from "effect"
import * as Conversation from "../domain/Conversation.ts"
import type { Prompt } from "../domain/Message.ts"
import * as Lines from "../io/Lines.ts"
import * as ScratchFile from "../node/ScratchFile.ts"
import * as Sha256 from "../node/Sha256.ts"
import { causeMessage } from "../io/Values.ts"
import type { Json, JsonRow } from "./file/Features.ts"
import { DatasetUnreadable } from "./file/DatasetError.ts"

const partitionCount = 256
const bufferRecords = 256

/** Stands for null. No hash and no column has this value. */
const nullValue = -Number.MAX_SAFE_INTEGER

export const hash = Sha256.leading52Bits

export const make = Effect.fnUntraced(function* (width: number, directory: string | undefined) {
  const file = yield* ScratchFile.temporary(directory)
  const bufferBytes = width * bufferRecords * 8
  const partitions = Array.from({ length: partitionCount }, () => ({
    buffer: new Float64Array(width * bufferRecords),
    used: 0,
    starts: new Array<number>(),
  }))
  return {
    partitionCount,
    add: (record: Float64Array): void => {
      const partition = partitions[record[0]! % partitionCount]!
      partition.buffer.set(record, partition.used)
      partition.used += width
      if (partition.used < partition.buffer.length) return
      partition.starts.push(file.append(new Uint8Array(partition.buffer.buffer)))
      partition.used = 0
    },
    read: (number: number): Float64Array => {
      const { buffer, starts, used } = partitions[number]!
      const all = new Float64Array(starts.length * buffer.length + used)
      for (const [i, start] of starts.entries()) {
        file.readInto(new Uint8Array(all.buffer, i * bufferBytes, bufferBytes), start)
      }
      all.set(buffer.subarray(0, used), starts.length * buffer.length)
      return all
    },
  }
})

/** A list of messages and its text form have equal hashes, so datasets with different forms can be compared. */
export const valueOf = (value: Json | undefined): number => {
  if (value === undefined || value === null) return nullValue
  if (typeof value === "number") return value
  if (typeof value !== "string") return hash(Array.isArray(value) ? textOf(value) : JSON.stringify(value))
  if (value.length > maxCachedLength) return hash(value)
  const cached = hashes.get(value)
  if (cached !== undefined) return cached
  if (hashes.size === maxCached) hashes.clear()
  hashes.set(value, hash(value))
  return hashes.get(value)!
}

const hashes = new Map<string, number>()
const maxCached = 4096
const maxCachedLength = 40

const textOf = (messages: ReadonlyArray<Json>): string => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a list in a row is a list of messages
  const prompt = messages as unknown as Exclude<Prompt, string>
  const [first] = prompt
  return prompt.length === 1 && first.role === "assistant" && Object.keys(first).length === 2
    ? first.content
    : Conversation.toText(prompt)
}

export const forEachLine = Effect.fnUntraced(function* (path: string, onLine: (text: string, line: number) => void) {
  const fs = yield* FileSystem.FileSystem
  let at = 0
  const failed = (cause: unknown) =>
    ScratchFile.isFailure(cause)
      ? cause
      : new DatasetUnreadable({ file: path, row: at, expected: "a preference pair", found: causeMessage(cause) })
  yield* fs.stream(path, { chunkSize: 1024 * 1024 }).pipe(
    Lines.fromBytes(path, { maxLineBytes: Number.MAX_SAFE_INTEGER, isVerbatim: true }),
    Stream.mapError(failed),
    Stream.runForEachArray((lines) =>
      Effect.try({
        try: () => {
          for (const line of lines) {
            const { number, text } = Result.getOrThrow(line)
            onLine(text, (at = number))
          }
        },
        catch: failed,
      }),
    ),
  )
})

export const parse = (text: string): JsonRow & { readonly item_id: string } => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the check below
  const row = JSON.parse(text) as JsonRow & { readonly item_id: string }
  if (typeof row?.item_id !== "string") throw new Error("a row without item_id")
  return row
}

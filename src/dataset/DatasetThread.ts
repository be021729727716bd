/** Sends rows to the writing thread. Memory holds about 24 messages, with about half a megabyte of texts each. */
import { Effect, Predicate, type Scope } from "effect"
import { isText, type PairBytes, texts as placed } from "../domain/PairBytes.ts"
import type { FileDigest } from "../node/OutputFile.ts"
import * as Thread from "../node/Thread.ts"
import type { Answer, ColumnContent, Request, Output, Rows, Setup } from "./DatasetStage.ts"
import type { Json, JsonRow } from "./file/Features.ts"
import { DatasetError, reasonOf } from "./file/DatasetError.ts"
import type { OutputFiles } from "./Shards.ts"

const stage: Thread.StageModule<Setup, Request, Answer> = {
  path: "dataset/DatasetStage",
  load: () => import("./DatasetStage.ts"),
}

const ahead = 24

const messageBytes = 512 * 1024

/** Maximum rows of a message. Rows of a larger message would live so long that V8 moves them to its old generation. */
const messageRows = 256

const rowBytes = 200

export interface DatasetThread {
  readonly open: (output: Output) => number
  /** @returns whether a message was sent. If it was, the caller must wait for `room`. */
  readonly add: (output: number, row: JsonRow, bytes?: PairBytes) => boolean
  readonly room: Effect.Effect<void, DatasetError>
  readonly finish: Effect.Effect<ReadonlyArray<OutputFiles>, DatasetError>
  readonly file: (path: string, content: Uint8Array | string) => Effect.Effect<FileDigest, DatasetError>
}

interface Part {
  count: number
  readonly columns: Map<string, Array<Json | undefined>>
  readonly places: Array<number>
}

const lengthOf = (value: Json | undefined): number =>
  typeof value === "string"
    ? value.length
    : typeof value !== "object" || value === null
      ? 0
      : Object.values(value).reduce<number>((sum, member) => sum + 8 + lengthOf(member), 0)

export const sizeOf = (row: JsonRow): number => rowBytes + lengthOf(row)

const ofColumn = (values: ReadonlyArray<Json | undefined>): ColumnContent => {
  const [first] = values
  const isSame = first !== undefined && (first === null || typeof first !== "object")
  // Unlike `every`, `findIndex` does not skip holes in the array. A hole is a row without a value.
  return isSame && values.findIndex((value) => value !== first) === -1 ? first : values
}

const packed = (places: ReadonlyArray<number>, count: number): Int32Array<ArrayBuffer> => {
  const all = new Int32Array(2 * placed.length * count)
  all.set(places)
  return all
}

const rowsOf = (output: number, { columns, count, places }: Part): Rows => ({
  output,
  count,
  columns: [...columns].map(([name, values]) => {
    values.length = count
    return [name, ofColumn(values)] as const
  }),
  ...(places.length > 0 && { places: packed(places, count) }),
})

export const make = Effect.fnUntraced(function* (
  directory: string,
): Effect.fn.Return<DatasetThread, never, Scope.Scope> {
  const buffers: Array<Uint8Array<ArrayBuffer>> = []
  let latest: Answer = { kind: "accepted" }
  const thread = yield* Thread.make(
    stage,
    { directory },
    {
      ahead,
      onAnswer: (answer) => {
        latest = answer
        if (answer.kind === "accepted" && answer.texts?.length === messageBytes) buffers.push(answer.texts)
      },
    },
  )
  const failing = Effect.mapError(({ cause }: Thread.ThreadFailed) => {
    const path = Predicate.hasProperty(cause, "path") && typeof cause.path === "string" ? cause.path : directory
    return new DatasetError({ reason: reasonOf(path, cause) })
  })

  const columns: Array<
    { readonly all: ReadonlyArray<string>; readonly besidesTexts: ReadonlyArray<string> } | undefined
  > = []
  let parts = new Map<number, Part>()
  let texts: Uint8Array<ArrayBuffer> | undefined
  let used = 0
  let characters = 0
  let waiting = 0
  let isLarge = false
  let body: Uint8Array | undefined
  let offsets = new Map<number, number>()

  const send = () => {
    if (parts.size === 0) return
    const bytes = texts ?? new Uint8Array(0)
    isLarge ||= bytes.length > messageBytes || characters > 2 * messageBytes
    const rows = [...parts].map(([output, part]) => rowsOf(output, part))
    const places = rows.flatMap(({ places }) => (places === undefined ? [] : [places.buffer]))
    thread.send({ kind: "rows", parts: rows, texts: bytes }, [bytes.buffer, ...places])
    parts = new Map()
    texts = undefined
    used = 0
    characters = 0
    waiting = 0
    body = undefined
  }

  const placeOf = (bytes: Uint8Array, start: number, end: number): number => {
    if (body !== bytes) offsets = new Map()
    body = bytes
    let at = offsets.get(start)
    if (at !== undefined) return at
    at = used
    texts!.set(bytes.subarray(start, end), at)
    used += end - start
    offsets.set(start, at)
    return at
  }

  const answered = (ask: Request) =>
    Effect.suspend(() => {
      thread.send(ask)
      return Effect.map(thread.drain, () => latest)
    }).pipe(failing)

  return {
    open: (output) => {
      thread.send({ kind: "open", output })
      const all = Object.keys(output.features)
      return (
        columns.push("split" in output ? { all, besidesTexts: all.filter((name) => !isText(name)) } : undefined) - 1
      )
    },
    add: (output, row, bytes) => {
      const size = bytes === undefined ? 0 : bytes.places.reduce((sum, [start, end]) => sum + end - start, 0)
      const isSent = used + size > messageBytes || characters > messageBytes || waiting === messageRows
      if (isSent) send()
      let part = parts.get(output)
      if (part === undefined) parts.set(output, (part = { count: 0, columns: new Map(), places: [] }))
      const own = columns[output]
      const names = own === undefined ? Object.keys(row) : bytes === undefined ? own.all : own.besidesTexts
      for (const name of names) {
        const value = own === undefined ? row[name] : (row[name] ?? null)
        let values = part.columns.get(name)
        if (values === undefined) part.columns.set(name, (values = []))
        values[part.count] = value
        characters += typeof value === "object" || typeof value === "string" ? lengthOf(value) : 0
      }
      if (bytes !== undefined) {
        texts ??= size > messageBytes ? new Uint8Array(size) : (buffers.pop() ?? new Uint8Array(messageBytes))
        placed.forEach((_, i) => {
          const [start, end] = bytes.places[i]!
          const at = placeOf(bytes.body, start, end)
          part.places[2 * (part.count * placed.length + i)] = at
          part.places[2 * (part.count * placed.length + i) + 1] = at + end - start
        })
      }
      characters += rowBytes
      part.count++
      waiting++
      return isSent
    },
    room: Effect.suspend(() => {
      if (!isLarge) return thread.room
      isLarge = false
      return Effect.andThen(thread.room, thread.drain)
    }).pipe(failing),
    finish: Effect.suspend(() => {
      send()
      return Effect.map(answered({ kind: "finish" }), (answer) => (answer.kind === "finished" ? answer.outputs : []))
    }),
    file: (path, content) =>
      Effect.map(answered({ kind: "file", path, content: Buffer.from(content) }), (answer) => {
        if (answer.kind !== "file") throw new Error("expected the digest of a file")
        return { bytes: answer.bytes, sha256: answer.sha256 }
      }),
  }
})

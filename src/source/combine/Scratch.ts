/** Keeps lists of records in a private temporary file. `make` also removes the files of processes that were killed. */
import { Clock, Effect, FileSystem, Option, Path, Predicate, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import * as ScratchFile from "../../node/ScratchFile.ts"
import { causeMessage } from "../../io/Values.ts"
import { growBytes } from "./KeyNumbers.ts"
import { originOf } from "../record/Row.ts"
import { fromPlatformError, ScratchFailed, SourceError } from "../record/SourceError.ts"

export interface Stored {
  readonly rank: number
  readonly tag: number
  readonly origin: Origin
  readonly head: string
  readonly text: string
}

export interface Place {
  readonly rank: number
  readonly position: number
  readonly size: number
}

export interface Located extends Place {
  readonly bytes: Uint8Array
  readonly at: number
}

/** The functions throw if the temporary file fails. Call them inside `attempt` or `stream`, which catch the error. */
export interface Scratch {
  readonly add: (list: number, record: Stored) => void
  /** Writes the records that are still in memory. Call it once, after the last `add` and before reading. */
  readonly finish: () => void
  readonly sizeOf: (list: number) => number
  readonly records: (list: number) => Generator<Located>
  readonly locate: (place: Place) => Located
  readonly read: (record: Located) => Stored
}

const prefix = "prefstream-scratch-"

const bufferBytes = 16 * 1024 * 1024

/** Size, rank, tag, file number, line, row, and the head's length, 4 bytes each. */
const headerBytes = 28

const maxChunkRecords = 256
const maxChunkBytes = 4 * 1024 * 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const isFull = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && (cause.code === "ENOSPC" || cause.code === "EDQUOT")

const scratchFailure = (cause: unknown): SourceError => {
  const problem = isFull(cause) ? "the disk is full" : causeMessage(cause)
  return new SourceError({ reason: new ScratchFailed({ problem, cause }) })
}

export const attempt = <A>(evaluate: () => A): Effect.Effect<A, SourceError> =>
  Effect.try({ try: evaluate, catch: scratchFailure })

export const stream = <A>(
  generate: () => Generator<readonly [value: A, size: number]>,
): Stream.Stream<A, SourceError> =>
  Stream.suspend(() => {
    const all = generate()
    const take = (): readonly [ReadonlyArray<A>, Option.Option<void>] => {
      const values: Array<A> = []
      for (let bytes = 0; values.length < maxChunkRecords && bytes < maxChunkBytes;) {
        const next = all.next()
        if (next.done === true) return [values, Option.none()]
        values.push(next.value[0])
        bytes += next.value[1]
      }
      return [values, Option.some(undefined)]
    }
    return Stream.paginate(undefined, () => attempt(take))
  })

export const make = Effect.fnUntraced(function* (directory: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs
    .makeTempDirectoryScoped({ prefix, directory })
    .pipe(Effect.mapError((error) => fromPlatformError(directory ?? "the directory for temporary files", error)))
  yield* removeStale(path.dirname(folder))
  const file = yield* Effect.acquireRelease(
    attempt(() => ScratchFile.open(path.join(folder, "records"))),
    ({ close }) => Effect.sync(close),
  )
  // Some systems refuse to remove an open file. If this removal fails, the end of the scope removes the directory.
  yield* Effect.ignore(fs.remove(folder, { recursive: true }))
  return makeLists(file)
})

const makeLists = (file: ScratchFile.ScratchFile): Scratch => {
  const names: Array<string> = []
  const numbers = new Map<string, number>()
  let lastName: string | undefined
  let lastNumber = 0
  const numberOf = (name: string): number => {
    if (name !== lastName) {
      lastNumber = numbers.get(name) ?? names.push(name) - 1
      numbers.set(name, lastNumber)
      lastName = name
    }
    return lastNumber
  }

  const write = ({ head, origin, rank, tag, text }: Stored, bytes: Uint8Array, view: DataView, at: number): number => {
    let end = at + headerBytes
    if (head !== "") end += encoder.encodeInto(head, bytes.subarray(end)).written
    end += encoder.encodeInto(text, bytes.subarray(end)).written
    const { file, line = 0, row = 0 } = origin
    view.setUint32(at, end - at)
    view.setUint32(at + 4, rank)
    view.setUint32(at + 8, tag)
    view.setUint32(at + 12, numberOf(file))
    view.setUint32(at + 16, line)
    view.setUint32(at + 20, row)
    view.setUint32(at + 24, head.length)
    return end
  }

  let buffer = new Uint8Array(65_536)
  let view = new DataView(buffer.buffer)
  let sorted = new Uint8Array(0)
  let used = 0
  const waiting: Array<Array<number> | undefined> = []
  const ranges: Array<Array<number> | undefined> = []
  const addRange = (list: number, start: number, size: number) => (ranges[list] ??= []).push(start, size)

  const flush = () => {
    if (used === 0) return
    sorted = growBytes(sorted, used)
    const sizes = new Map<number, number>()
    let end = 0
    waiting.forEach((starts, list) => {
      if (starts === undefined || starts.length === 0) return
      const start = end
      for (const at of starts) {
        const size = view.getUint32(at)
        sorted.set(buffer.subarray(at, at + size), end)
        end += size
      }
      starts.length = 0
      sizes.set(list, end - start)
    })
    let start = file.append(sorted.subarray(0, end))
    for (const [list, size] of sizes) {
      addRange(list, start, size)
      start += size
    }
    used = 0
  }

  const add = (list: number, record: Stored): void => {
    const maxBytes = headerBytes + 3 * (record.head.length + record.text.length)
    if (used + maxBytes > bufferBytes) flush()
    if (maxBytes > bufferBytes) {
      const bytes = new Uint8Array(maxBytes)
      const size = write(record, bytes, new DataView(bytes.buffer), 0)
      addRange(list, file.append(bytes.subarray(0, size)), size)
    } else {
      if (used + maxBytes > buffer.length) {
        buffer = growBytes(buffer, used + maxBytes)
        view = new DataView(buffer.buffer)
      }
      ;(waiting[list] ??= []).push(used)
      used = write(record, buffer, view, used)
    }
  }

  const records = function* (list: number): Generator<Located> {
    const all = ranges[list] ?? []
    for (let i = 0; i < all.length; i += 2) {
      const bytes = file.read(all[i]!, all[i + 1]!)
      const view = new DataView(bytes.buffer)
      for (let at = 0; at < bytes.length;) {
        const size = view.getUint32(at)
        yield { rank: view.getUint32(at + 4), position: all[i]! + at, size, bytes, at }
        at += size
      }
    }
  }

  const locate = (place: Place): Located => ({ ...place, bytes: file.read(place.position, place.size), at: 0 })

  const read = ({ at, bytes, rank, size }: Located): Stored => {
    const view = new DataView(bytes.buffer, at)
    const texts = decoder.decode(bytes.subarray(at + headerBytes, at + size))
    const headLength = view.getUint32(24)
    return {
      rank,
      tag: view.getUint32(8),
      origin: originOf({
        file: names[view.getUint32(12)]!,
        line: view.getUint32(16) || undefined,
        row: view.getUint32(20) || undefined,
      }),
      head: texts.slice(0, headLength),
      text: texts.slice(headLength),
    }
  }

  const sizeOf = (list: number) => (ranges[list] ?? []).reduce((sum, value, i) => (i % 2 === 0 ? sum : sum + value), 0)

  const finish = () => {
    flush()
    buffer = sorted = new Uint8Array(0)
    view = new DataView(buffer.buffer)
  }

  return { add, finish, locate, read, records, sizeOf }
}

/** Directories unchanged for this time are removed. In a newer directory, a process may be about to create its file. */
const staleAfterMillis = 60_000

const removeStale = Effect.fnUntraced(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const now = yield* Clock.currentTimeMillis
    for (const name of yield* fs.readDirectory(directory)) {
      if (!name.startsWith(prefix)) continue
      const folder = path.join(directory, name)
      const { mtime } = yield* fs.stat(folder)
      const changed = Option.map(mtime, (date) => date.getTime())
      if (Option.exists(changed, (time) => now - time > staleAfterMillis)) {
        yield* Effect.ignore(fs.remove(folder, { recursive: true }))
      }
    }
  },
  (effect) => Effect.ignore(effect),
)

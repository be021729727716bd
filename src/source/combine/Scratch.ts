/**
 * Lists of records in a temporary file, for joins and groups that exceed memory.
 *
 * Guarantees: memory holds two buffers of at most `bufferBytes`, and a few bytes per list. Records wait until the buffer
 * is full, and are then written list by list, so that the disk writes and reads long stretches. The records of a list are
 * in the order in which they were added, with their texts unchanged. Only the owner can read the file. It is deleted with
 * the scope or the process: where the system permits, it is unlinked once it is open (so `df` shows its size, `du` does
 * not). On other systems, the next one in the same folder removes what was left behind.
 */
import { Clock, Effect, FileSystem, Option, Path, Predicate, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import * as ScratchFile from "../../node/ScratchFile.ts"
import { causeMessage } from "../../io/Values.ts"
import { growBytes } from "./KeyNumbers.ts"
import { fromPlatformError, ScratchFailed, SourceError } from "../record/SourceError.ts"

export interface Stored {
  /** Numbers below 2^32, of the caller's own meaning. */
  readonly rank: number
  readonly tag: number
  readonly origin: Origin
  /** Well-formed texts. */
  readonly head: string
  readonly text: string
}

/** Where a record is in the file. */
export interface Place {
  readonly rank: number
  readonly position: number
  readonly size: number
}

/** A record in bytes that were read. */
export interface Located extends Place {
  readonly bytes: Uint8Array
  readonly at: number
}

export interface Scratch {
  /** Throws where the file fails, as do all below: call them within `attempt` and `stream`. */
  readonly add: (list: number, record: Stored) => void
  /** Writes what still waits. Call it once, between the last `add` and the first read. */
  readonly finish: () => void
  readonly sizeOf: (list: number) => number
  readonly records: (list: number) => Generator<Located>
  readonly locate: (place: Place) => Located
  readonly read: (record: Located) => Stored
}

const prefix = "prefstream-scratch-"

const bufferBytes = 16 * 1024 * 1024

/** Size, rank, tag, number of the file, line, row, length of the head: 4 bytes each. */
const headerBytes = 28

/** Of an array of the stream. */
const maxTaken = 256
const maxTakenBytes = 4 * 1024 * 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** @param line, row 0 where there is none */
export const toOrigin = (file: string, line: number, row: number): Origin => {
  if (row === 0) return line === 0 ? { file } : { file, line }
  return line === 0 ? { file, row } : { file, line, row }
}

const isFull = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && (cause.code === "ENOSPC" || cause.code === "EDQUOT")

const failed = (cause: unknown): SourceError => {
  const problem = isFull(cause) ? "the disk is full" : causeMessage(cause)
  return new SourceError({ reason: new ScratchFailed({ problem, cause }) })
}

export const attempt = <A>(evaluate: () => A): Effect.Effect<A, SourceError> =>
  Effect.try({ try: evaluate, catch: failed })

/** What a generator gives, each with its size in bytes, in arrays. */
export const stream = <A>(
  generate: () => Generator<readonly [value: A, size: number]>,
): Stream.Stream<A, SourceError> =>
  Stream.suspend(() => {
    const all = generate()
    const take = (): readonly [ReadonlyArray<A>, Option.Option<void>] => {
      const taken: Array<A> = []
      for (let bytes = 0; taken.length < maxTaken && bytes < maxTakenBytes;) {
        const next = all.next()
        if (next.done === true) return [taken, Option.none()]
        taken.push(next.value[0])
        bytes += next.value[1]
      }
      return [taken, Option.some(undefined)]
    }
    return Stream.paginate(undefined, () => attempt(take))
  })

/** Made within `directory`, by default the system's own for temporary files. */
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
  // Where an open file cannot be removed, it stays until the scope closes.
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

  /** @returns where the record ends */
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
  /** Of each list, where records that wait begin in the buffer. */
  const waiting: Array<Array<number> | undefined> = []
  /** Of each list, the start and size of each stretch in the file. */
  const stretches: Array<Array<number> | undefined> = []
  const addStretch = (list: number, start: number, size: number) => (stretches[list] ??= []).push(start, size)

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
      addStretch(list, start, size)
      start += size
    }
    used = 0
  }

  const add = (list: number, record: Stored): void => {
    // No unit of UTF-16 takes more than three bytes.
    const maxBytes = headerBytes + 3 * (record.head.length + record.text.length)
    if (used + maxBytes > bufferBytes) flush()
    if (maxBytes > bufferBytes) {
      const bytes = new Uint8Array(maxBytes)
      const size = write(record, bytes, new DataView(bytes.buffer), 0)
      addStretch(list, file.append(bytes.subarray(0, size)), size)
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
    const all = stretches[list] ?? []
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
    const both = decoder.decode(bytes.subarray(at + headerBytes, at + size))
    const headLength = view.getUint32(24)
    return {
      rank,
      tag: view.getUint32(8),
      origin: toOrigin(names[view.getUint32(12)]!, view.getUint32(16), view.getUint32(20)),
      head: both.slice(0, headLength),
      text: both.slice(headLength),
    }
  }

  const sizeOf = (list: number) =>
    (stretches[list] ?? []).reduce((sum, value, i) => (i % 2 === 0 ? sum : sum + value), 0)

  const finish = () => {
    flush()
    buffer = sorted = new Uint8Array(0)
    view = new DataView(buffer.buffer)
  }

  return { add, finish, locate, read, records, sizeOf }
}

/** One that is being made has its name for milliseconds. */
const staleAfter = 60_000
/** What cannot be removed is in use, or another user's. */
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
      if (Option.exists(changed, (time) => now - time > staleAfter)) {
        yield* Effect.ignore(fs.remove(folder, { recursive: true }))
      }
    }
  },
  (effect) => Effect.ignore(effect),
)

/**
 * Reads plain lines (`PlainLine`) of JSON Lines as items in bytes, in a thread of its own (`node/Thread`).
 *
 * Guarantees: all lines are in the answers, in order: plain ones as items, and all others as their bytes. A line that is longer
 * than `maxHeldBytes` may come in several parts. It holds no more of the file than a message and such a line.
 */
import type { ItemBytes } from "../../../domain/ItemBytes.ts"
import { sorted } from "../../../domain/ItemBytes.ts"
import * as Sha256 from "../../../node/Sha256.ts"
import type { Stage } from "../../../node/Thread.ts"
import * as Utf8 from "../../../node/Utf8.ts"
import * as PlainLine from "./PlainLine.ts"

export interface Setup {
  /** Whether the digest of all bytes is wanted. */
  readonly isDigested: boolean
  readonly maxHeldBytes: number
}

/** The first `size` bytes of a buffer, which the answer gives back. `isLast`: the file ends with them. */
export interface Ask {
  readonly buffer: Uint8Array<ArrayBuffer>
  readonly size: number
  readonly isLast: boolean
}

/** Items by columns, and what else was read. */
export interface Answer {
  readonly buffer: Uint8Array<ArrayBuffer>
  /** Bytes of the items as `domain/ItemBytes` has them, and of other lines as they are. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In threes: how many items come first; start and end of other lines, which come next. */
  readonly runs: Int32Array<ArrayBuffer>
  /** For each item: its start and end in `bytes`, 1 if its line has spaces, the number of its `starts`, and these. */
  readonly places: Int32Array<ArrayBuffer>
  readonly ids: ReadonlyArray<PlainLine.Id>
  readonly prompts: ReadonlyArray<string>
  readonly contentHashes: ReadonlyArray<string>
  /** The hash with sorted completions, of each item without an id whose completions are not sorted. */
  readonly sortedHashes: ReadonlyArray<string | undefined>
  /** The digest of the whole file, in the last answer. */
  readonly sha256?: string
}

const LF = 10

const head = Buffer.from('{"prompt":')
const middle = Buffer.from(',"completions":[')
const tail = Buffer.from("]}")

/** Collects the lines of one answer. `capacity` is the number of bytes of these lines. */
const writer = (capacity: number) => {
  const bytes = Buffer.allocUnsafeSlow(capacity)
  let used = 0
  const runs: Array<number> = []
  const places: Array<number> = []
  const ids: Array<PlainLine.Id> = []
  const prompts: Array<string> = []
  const contentHashes: Array<string> = []
  const sortedHashes: Array<string | undefined> = []
  let items = 0

  const put = (from: Buffer, start = 0, end = from.length) => {
    used += from.copy(bytes, used, start, end)
  }

  const addItem = (line: Buffer, { id, isSpaced, prompt, texts }: PlainLine.PlainLine) => {
    const start = used
    const starts: Array<number> = []
    put(head)
    put(line, texts[0], texts[1])
    put(middle)
    for (let i = 2; i < texts.length; i += 2) {
      if (i > 2) bytes[used++] = 0x2c
      starts.push(used - start)
      put(line, texts[i], texts[i + 1])
    }
    starts.push(used - start + 1)
    put(tail)
    const utf8 = bytes.subarray(start, used)
    places.push(start, used, isSpaced ? 1 : 0, starts.length, ...starts)
    ids.push(id)
    prompts.push(prompt)
    contentHashes.push(Sha256.hex(utf8))
    sortedHashes.push(id === undefined ? sortedHash({ starts, utf8 }) : undefined)
    items++
  }

  const addOther = (from: Buffer, start: number, end: number) => {
    if (start === end) return
    const isNext = items === 0 && runs.length > 0
    if (!isNext) runs.push(items, used, used)
    items = 0
    put(from, start, end)
    runs[runs.length - 1] = used
  }

  const finish = (): Omit<Answer, "buffer"> => {
    if (items > 0) runs.push(items, used, used)
    return {
      bytes,
      runs: Int32Array.from(runs),
      places: Int32Array.from(places),
      ids,
      prompts,
      contentHashes,
      sortedHashes,
    }
  }
  return { addItem, addOther, finish }
}

const sortedHash = (bytes: ItemBytes): string | undefined => {
  const { starts, utf8 } = bytes
  const json = Buffer.from(utf8.buffer, utf8.byteOffset + starts[0]! - 1, utf8.length - starts[0]!).toString("utf8")
  const found = sorted(bytes, JSON.parse(json))
  return found === undefined ? undefined : Sha256.hex(found)
}

export const start = ({ isDigested, maxHeldBytes }: Setup): Stage<Ask, Answer> => {
  const hasher = isDigested ? Sha256.makeHasher() : undefined
  let work = Buffer.alloc(0)
  let view = new DataView(work.buffer)
  /** Bytes of `work` that belong to a line whose end has not come. */
  let held = 0
  /** Whether the beginning of the line was in an answer already. */
  let isCut = false

  const add = (bytes: Uint8Array) => {
    if (work.length < held + bytes.length) {
      const larger = Buffer.allocUnsafeSlow(held + bytes.length + maxHeldBytes)
      work.copy(larger, 0, 0, held)
      work = larger
      view = new DataView(work.buffer)
    }
    work.set(bytes, held)
    held += bytes.length
  }

  return ({ buffer, isLast, size }) => {
    const bytes = buffer.subarray(0, size)
    hasher?.update(bytes)
    add(bytes)
    const answer = writer(held)
    const whole = isLast ? held : work.subarray(0, held).lastIndexOf(LF) + 1
    let at = 0
    if (isCut && whole > 0) {
      const end = work.subarray(0, whole).indexOf(LF)
      at = end === -1 ? whole : end + 1
      answer.addOther(work, 0, at)
      isCut = false
    }
    const isUtf8 = Utf8.isValid(work.subarray(at, whole))
    while (at < whole) {
      const found = work.indexOf(LF, at)
      const end = found === -1 || found >= whole ? whole : found
      const next = Math.min(end + 1, whole)
      const mayBePlain = isUtf8 || Utf8.isValid(work.subarray(at, end))
      const line = mayBePlain ? PlainLine.parse(work, view, at, end) : undefined
      if (line === undefined) answer.addOther(work, at, next)
      else answer.addItem(work, line)
      at = next
    }
    work.copyWithin(0, whole, held)
    held -= whole
    if (held > maxHeldBytes || (isCut && held > 0)) {
      answer.addOther(work, 0, held)
      held = 0
      isCut = true
    }
    const finished = answer.finish()
    const sha256 = isLast ? hasher?.digest() : undefined
    return {
      answer: { ...finished, buffer, ...(sha256 !== undefined && { sha256 }) },
      transfer: [finished.bytes, finished.runs, finished.places, buffer].map((each) => each.buffer),
    }
  }
}

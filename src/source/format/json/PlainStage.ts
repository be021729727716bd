/** Parses plain lines (`PlainLine`) in its own thread. Other lines stay bytes. Answers keep the order of lines. */
import { type ItemBytes, sorted } from "../../../domain/ItemBytes.ts"
import * as Sha256 from "../../../node/Sha256.ts"
import type { Stage } from "../../../node/Thread.ts"
import * as Utf8 from "../../../node/Utf8.ts"
import * as PlainLine from "./PlainLine.ts"

export interface Setup {
  readonly isDigested: boolean
  readonly maxHeldBytes: number
}

export interface Ask {
  readonly buffer: Uint8Array<ArrayBuffer>
  readonly size: number
  readonly isLast: boolean
}

export interface Answer {
  readonly buffer: Uint8Array<ArrayBuffer>
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Per block of lines that are not plain: number of items before the block, and its start and end in `bytes`. */
  readonly runs: Int32Array<ArrayBuffer>
  /**
   * Per item, one item after the other: its start and end in `bytes`, `PlainLine.isSpaced` as 1 or 0, the length of
   * `ItemBytes.starts`, and the elements of `ItemBytes.starts`.
   */
  readonly places: Int32Array<ArrayBuffer>
  readonly ids: ReadonlyArray<PlainLine.Id>
  readonly prompts: ReadonlyArray<string>
  readonly contentHashes: ReadonlyArray<string>
  readonly sortedHashes: ReadonlyArray<string | undefined>
  readonly sha256?: string
}

const LF = 10

const head = Buffer.from('{"prompt":')
const middle = Buffer.from(',"completions":[')
const tail = Buffer.from("]}")

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
  const sortedBytes = sorted(bytes, JSON.parse(json))
  return sortedBytes === undefined ? undefined : Sha256.hex(sortedBytes)
}

export const start = ({ isDigested, maxHeldBytes }: Setup): Stage<Ask, Answer> => {
  const hasher = isDigested ? Sha256.makeHasher() : undefined
  let work = Buffer.alloc(0)
  let view = new DataView(work.buffer)
  let heldBytes = 0
  let isCut = false

  const add = (bytes: Uint8Array) => {
    if (work.length < heldBytes + bytes.length) {
      const larger = Buffer.allocUnsafeSlow(heldBytes + bytes.length + maxHeldBytes)
      work.copy(larger, 0, 0, heldBytes)
      work = larger
      view = new DataView(work.buffer)
    }
    work.set(bytes, heldBytes)
    heldBytes += bytes.length
  }

  return ({ buffer, isLast, size }) => {
    const bytes = buffer.subarray(0, size)
    hasher?.update(bytes)
    add(bytes)
    const answer = writer(heldBytes)
    const completeBytes = isLast ? heldBytes : work.subarray(0, heldBytes).lastIndexOf(LF) + 1
    let at = 0
    if (isCut && completeBytes > 0) {
      const end = work.subarray(0, completeBytes).indexOf(LF)
      at = end === -1 ? completeBytes : end + 1
      answer.addOther(work, 0, at)
      isCut = false
    }
    const isUtf8 = Utf8.isValid(work.subarray(at, completeBytes))
    while (at < completeBytes) {
      const lineEnd = work.indexOf(LF, at)
      const end = lineEnd === -1 || lineEnd >= completeBytes ? completeBytes : lineEnd
      const next = Math.min(end + 1, completeBytes)
      const mayBePlain = isUtf8 || Utf8.isValid(work.subarray(at, end))
      const line = mayBePlain ? PlainLine.parse(work, view, at, end) : undefined
      if (line === undefined) answer.addOther(work, at, next)
      else answer.addItem(work, line)
      at = next
    }
    work.copyWithin(0, completeBytes, heldBytes)
    heldBytes -= completeBytes
    if (heldBytes > maxHeldBytes || (isCut && heldBytes > 0)) {
      answer.addOther(work, 0, heldBytes)
      heldBytes = 0
      isCut = true
    }
    const output = answer.finish()
    const sha256 = isLast ? hasher?.digest() : undefined
    return {
      answer: { ...output, buffer, ...(sha256 !== undefined && { sha256 }) },
      transfer: [output.bytes, output.runs, output.places, buffer].map((array) => array.buffer),
    }
  }
}

/**
 * An item as an element of a task's `prompts`, in UTF-8 bytes. Small items share a block of memory, because one buffer
 * per item is slower. A long-lived item must be copied with `detached`, because it keeps its whole block in memory.
 */
export interface ItemBytes {
  /** The bytes of the item, with the completions in the order of the input. */
  readonly utf8: Uint8Array
  /** The offset of each completion in `utf8`. An additional last element is the end of the last completion plus 1. */
  readonly starts: ReadonlyArray<number>
}

const encoder = new TextEncoder()

const blockBytes = 1024 * 1024

let shared = new Uint8Array(0)
let sharedEnd = 0

export const comma = 0x2c
const head = '{"prompt":'
const middle = ',"completions":['
const tail = encoder.encode("]}")

export const make = (prompt: string, completions: ReadonlyArray<string>): ItemBytes =>
  fromJson([prompt, ...completions].map((text) => JSON.stringify(text)))

/** Makes an item from a prompt and completions that are already JSON strings. */
export const fromJson = ([prompt = "", ...texts]: ReadonlyArray<string>): ItemBytes => {
  const first = `${head}${prompt}${middle}`
  // A UTF-16 unit takes at most three bytes.
  const room = 3 * texts.reduce((sum, { length }) => sum + length + 1, first.length) + tail.length
  const isLarge = room > blockBytes
  if (!isLarge && shared.length - sharedEnd < room) {
    shared = new Uint8Array(blockBytes)
    sharedEnd = 0
  }
  const block = isLarge ? new Uint8Array(room) : shared
  const start = isLarge ? 0 : sharedEnd
  let used = start
  const append = (text: string) => {
    used += encoder.encodeInto(text, block.subarray(used)).written
  }
  append(first)
  const starts: Array<number> = []
  texts.forEach((text, i) => {
    if (i > 0) block[used++] = comma
    starts.push(used - start)
    append(text)
  })
  starts.push(used - start + 1)
  block.set(tail, used)
  used += tail.length
  if (isLarge) return { utf8: block.slice(0, used), starts }
  sharedEnd = used
  return { utf8: block.subarray(start, used), starts }
}

export const detached = (bytes: ItemBytes): ItemBytes =>
  bytes.utf8.length === bytes.utf8.buffer.byteLength ? bytes : { ...bytes, utf8: bytes.utf8.slice() }

export const count = ({ starts }: ItemBytes): number => starts.length - 1

/** Upper bound of the length of any completion, in characters or UTF-16 code units. */
export const maxLength = ({ starts }: ItemBytes): number => {
  let max = 0
  for (let i = 1; i < starts.length; i++) max = Math.max(max, starts[i]! - starts[i - 1]! - '"",'.length)
  return max
}

export const sorted = (bytes: ItemBytes, completions: ReadonlyArray<string>): Uint8Array | undefined => {
  if (completions.every((text, i) => i === 0 || completions[i - 1]! <= text)) return undefined
  const order = [...completions.keys()].toSorted((a, b) =>
    completions[a]! < completions[b]! ? -1 : completions[a]! > completions[b]! ? 1 : 0,
  )
  const written = new Uint8Array(bytes.utf8.length)
  write(bytes, order, written, 0)
  return written
}

export const write = (
  { starts, utf8 }: ItemBytes,
  order: ReadonlyArray<number> | undefined,
  into: Uint8Array,
  at: number,
): number => {
  if (order === undefined) {
    into.set(utf8, at)
    return at + utf8.length
  }
  const first = starts[0]!
  into.set(utf8.subarray(0, first), at)
  let end = at + first
  order.forEach((index, i) => {
    if (i > 0) into[end++] = comma
    const text = utf8.subarray(starts[index], starts[index + 1]! - 1)
    into.set(text, end)
    end += text.length
  })
  into.set(tail, end)
  return end + tail.length
}

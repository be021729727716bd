/**
 * A prompt item whose completions become strings when they are first read.
 *
 * Guarantees: whoever reads or copies its members gets those of a plain object with the same texts. Until the
 * completions are read, the item holds its bytes, and the block of memory that they are in.
 */
import type { ItemBytes } from "./ItemBytes.ts"
import type { PromptItem } from "./PromptItem.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const decode = ({ starts, utf8 }: ItemBytes): ReadonlyArray<string> =>
  JSON.parse(decoder.decode(utf8.subarray(starts[0]! - "[".length, -"}".length)))

export class LazyItem {
  declare readonly id?: string
  declare readonly prompt: string
  declare readonly completions: ReadonlyArray<string>
  #bytes: ItemBytes | undefined
  #completions: ReadonlyArray<string> | undefined

  constructor(id: string | undefined, prompt: string, bytes: ItemBytes) {
    if (id !== undefined) this.id = id
    this.prompt = prompt
    this.#bytes = bytes
    // A getter of the class would be no member of the object: a copy would lack it.
    Object.defineProperty(this, "completions", LazyItem.#member)
  }

  /** All items share one getter, since objects with a getter each are slow to make. */
  static readonly #member: PropertyDescriptor & ThisType<LazyItem> = {
    enumerable: true,
    get() {
      if (this.#bytes !== undefined) this.#completions = decode(this.#bytes)
      this.#bytes = undefined
      return this.#completions
    },
  }

  /** The item, holding these bytes in place of the same ones in another block. */
  static withBytes(item: PromptItem, bytes: ItemBytes): PromptItem {
    return item instanceof LazyItem && item.#bytes !== undefined ? new LazyItem(item.id, item.prompt, bytes) : item
  }
}

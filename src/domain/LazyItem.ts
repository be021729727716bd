/** A prompt item whose completions become strings when first read. Until then, the item keeps its block of bytes. */
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
    // `{ ...item }` does not copy getters of the class. Therefore, each item has its own property `completions`.
    Object.defineProperty(this, "completions", LazyItem.#member)
  }

  /** All items share one getter, because creating an object with its own getter is slow. */
  static readonly #member: PropertyDescriptor & ThisType<LazyItem> = {
    enumerable: true,
    get() {
      if (this.#bytes !== undefined) this.#completions = decode(this.#bytes)
      this.#bytes = undefined
      return this.#completions
    },
  }

  static withBytes(item: PromptItem, bytes: ItemBytes): PromptItem {
    return item instanceof LazyItem && item.#bytes !== undefined ? new LazyItem(item.id, item.prompt, bytes) : item
  }
}

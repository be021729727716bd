/** Where a file first has each key; several files may count as one. Takes 12 bytes of memory for each key. */
import type { Origin } from "../../domain/Origin.ts"
import { grow } from "./KeyNumbers.ts"
import { toOrigin } from "./Scratch.ts"

export class FirstRows {
  readonly #names: Array<string> = []
  #fileStart = 0
  /** By the numbers of keys; a name's index and one. */
  #files = new Uint32Array(1024)
  #lines = new Uint32Array(1024)
  #rows = new Uint32Array(1024)

  nextFile(): void {
    this.#fileStart = this.#names.length
  }

  /** Gives the first row where it is another one. */
  add(key: number, { file, line = 0, row = 0 }: Origin): Origin | undefined {
    this.#files = grow(this.#files, key + 1)
    this.#lines = grow(this.#lines, key + 1)
    this.#rows = grow(this.#rows, key + 1)
    const known = this.#files[key]!
    if (known > this.#fileStart) {
      return toOrigin(this.#names[known - 1]!, this.#lines[key]!, this.#rows[key]!)
    }
    if (this.#names.length === this.#fileStart || this.#names.at(-1) !== file) this.#names.push(file)
    this.#files[key] = this.#names.length
    this.#lines[key] = line
    this.#rows[key] = row
    return undefined
  }
}

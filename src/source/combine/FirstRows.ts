/** Remembers where each key first occurs. Memory: 12 bytes per key. */
import type { Origin } from "../../domain/Origin.ts"
import { grow } from "./KeyNumbers.ts"
import { originOf } from "../record/Row.ts"

export class FirstRows {
  readonly #names: Array<string> = []
  #fileStart = 0
  #files = new Uint32Array(1024)
  #lines = new Uint32Array(1024)
  #rows = new Uint32Array(1024)

  nextFile(): void {
    this.#fileStart = this.#names.length
  }

  add(key: number, { file, line = 0, row = 0 }: Origin): Origin | undefined {
    this.#files = grow(this.#files, key + 1)
    this.#lines = grow(this.#lines, key + 1)
    this.#rows = grow(this.#rows, key + 1)
    const fileNumber = this.#files[key]!
    if (fileNumber > this.#fileStart) {
      const [line, row] = [this.#lines[key] || undefined, this.#rows[key] || undefined]
      return originOf({ file: this.#names[fileNumber - 1]!, line, row })
    }
    if (this.#names.length === this.#fileStart || this.#names.at(-1) !== file) this.#names.push(file)
    this.#files[key] = this.#names.length
    this.#lines[key] = line
    this.#rows[key] = row
    return undefined
  }
}

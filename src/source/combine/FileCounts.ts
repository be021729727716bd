/** Detects whether the files belong to different models, one model per file. Memory: 16 bytes per key of a prompt. */
import { grow } from "./KeyNumbers.ts"

const unevenCount = 0xffff_ffff

export class FileCounts {
  #files = 0
  #lastName: string | undefined
  #lastFile = new Uint32Array(1024)
  #recordsInLastFile = new Uint32Array(1024)
  #recordsPerEarlierFile = new Uint32Array(1024)
  #filesOfKey = new Uint32Array(1024)

  add(key: number, file: string): void {
    if (file !== this.#lastName) {
      this.#lastName = file
      this.#files++
    }
    this.#lastFile = grow(this.#lastFile, key + 1)
    this.#recordsInLastFile = grow(this.#recordsInLastFile, key + 1)
    this.#recordsPerEarlierFile = grow(this.#recordsPerEarlierFile, key + 1)
    this.#filesOfKey = grow(this.#filesOfKey, key + 1)
    if (this.#lastFile[key] === this.#files) this.#recordsInLastFile[key]!++
    else {
      this.#recordsPerEarlierFile[key] = this.#recordsPerFile(key)
      this.#lastFile[key] = this.#files
      this.#recordsInLastFile[key] = 1
      this.#filesOfKey[key]!++
    }
  }

  #recordsPerFile(key: number): number {
    const records = this.#recordsInLastFile[key]!
    return this.#filesOfKey[key]! < 2 || this.#recordsPerEarlierFile[key] === records ? records : unevenCount
  }

  areEven(keys: number): boolean {
    const { even, several } = this.evenKeys(keys)
    return 4 * even >= 3 * several
  }

  evenKeys(keys: number): { readonly even: number; readonly several: number } {
    let several = 0
    let even = 0
    for (let key = 0; key < keys; key++) {
      const files = this.#filesOfKey[key]!
      if (files < 2 && this.#recordsInLastFile[key]! < 2) continue
      several++
      if (2 * files > this.#files && this.#recordsPerFile(key) !== unevenCount) even++
    }
    return { even, several }
  }
}

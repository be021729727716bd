/**
 * How many records of each key each file has, to tell whether the files hold the completions of one model each.
 *
 * The records of a file must come one after the other. Takes 16 bytes of memory for each key.
 */
import { grow } from "./KeyNumbers.ts"

/** Instead of a number of records where files have different ones. */
const uneven = 0xffff_ffff

export class FileCounts {
  #files = 0
  #lastName: string | undefined
  /** By the numbers of keys: its last file and the records there, the records in each file before, the number of files. */
  #last = new Uint32Array(1024)
  #records = new Uint32Array(1024)
  #before = new Uint32Array(1024)
  #filesOfKey = new Uint32Array(1024)

  add(key: number, file: string): void {
    if (file !== this.#lastName) {
      this.#lastName = file
      this.#files++
    }
    this.#last = grow(this.#last, key + 1)
    this.#records = grow(this.#records, key + 1)
    this.#before = grow(this.#before, key + 1)
    this.#filesOfKey = grow(this.#filesOfKey, key + 1)
    if (this.#last[key] === this.#files) this.#records[key]!++
    else {
      this.#before[key] = this.#inEachFile(key)
      this.#last[key] = this.#files
      this.#records[key] = 1
      this.#filesOfKey[key]!++
    }
  }

  #inEachFile(key: number): number {
    const records = this.#records[key]!
    return this.#filesOfKey[key]! < 2 || this.#before[key] === records ? records : uneven
  }

  /**
   * Whether the files may name the models: of the keys with several records, three quarters have equally many in each
   * of their files, and are in more than half of all files.
   *
   * @param keys how many there are
   */
  areEven(keys: number): boolean {
    const { even, several } = this.evenKeys(keys)
    return 4 * even >= 3 * several
  }

  /** Of the keys with several records, how many have equally many in each of their files, which are more than half of all. */
  evenKeys(keys: number): { readonly even: number; readonly several: number } {
    let several = 0
    let even = 0
    for (let key = 0; key < keys; key++) {
      const files = this.#filesOfKey[key]!
      if (files < 2 && this.#records[key]! < 2) continue
      several++
      if (2 * files > this.#files && this.#inEachFile(key) !== uneven) even++
    }
    return { even, several }
  }
}

/**
 * Adapter: a temporary file that only its owner can read, written at its end and read anywhere.
 *
 * Guarantees: what was appended is read back, or the call throws the system's error. Calls block: bytes go to and come
 * from the system's cache, in pieces so large that a promise for each would cost more.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import * as PrivateFile from "./PrivateFile.ts"

export interface ScratchFile {
  /** @returns where the bytes begin */
  readonly append: (bytes: Uint8Array) => number
  readonly read: (start: number, size: number) => Uint8Array
  readonly close: () => void
}

export const open = (path: string): ScratchFile => {
  const fd = openSync(path, "wx+", PrivateFile.mode)
  let end = 0
  return {
    append: (bytes) => {
      const start = end
      // A disk that fills takes a part, then fails.
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, start + at)
      end = start + bytes.length
      return start
    },
    read: (start, size) => {
      const bytes = new Uint8Array(size)
      for (let at = 0; at < size;) {
        const count = readSync(fd, bytes, at, size - at, start + at)
        if (count === 0) throw new Error(`expected ${size} bytes at ${start}, found ${at}`)
        at += count
      }
      return bytes
    },
    close: () => closeSync(fd),
  }
}

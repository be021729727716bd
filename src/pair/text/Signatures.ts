/**
 * Prompts' signatures and the hashes of their normal forms, by zero-based ordinal, in a scratch file.
 *
 * Guarantees: memory holds at most 8 MB of them; only what exceeds that goes to the file. Calls throw `ScratchFileFailed`.
 */
import type { ScratchFile } from "../../node/ScratchFile.ts"
import * as MinHash from "./MinHash.ts"
import * as NormalizedPrompt from "./NormalizedPrompt.ts"

/** The first 8 bytes of a record are the hash of the normal form, the rest is the signature. */
export const hashBytes = 8
export const recordBytes = hashBytes + MinHash.signatureBytes

const firstRecords = 256
const maxRecords = 65_536

export const make = (file: ScratchFile) => {
  /** The latest; those before are in the file. */
  let bytes = new Uint8Array(firstRecords * recordBytes)
  let view = new DataView(bytes.buffer)
  let waiting = 0
  let inFile = 0

  const makeRoom = () => {
    if (waiting * recordBytes < bytes.length) return
    if (waiting < maxRecords) {
      bytes = new Uint8Array(bytes.buffer.transfer(2 * bytes.length))
      view = new DataView(bytes.buffer)
    } else {
      file.append(bytes)
      inFile += waiting
      waiting = 0
    }
  }

  return {
    count: (): number => inFile + waiting,
    /** Adds the next prompt, in normal form. */
    add: (normal: string): void => {
      makeRoom()
      const at = waiting * recordBytes
      const hash = NormalizedPrompt.hash(normal)
      view.setUint32(at, Number.parseInt(hash.slice(0, 8), 16))
      view.setUint32(at + 4, Number.parseInt(hash.slice(8), 16))
      MinHash.write(normal, bytes, at + hashBytes)
      waiting++
    },
    /** All records in order, a block of them at a time, which is valid until the next one. */
    forEachBlock: (visit: (block: DataView, first: number, records: number) => void): void => {
      const block = new Uint8Array(inFile === 0 ? 0 : maxRecords * recordBytes)
      for (let first = 0; first < inFile; first += maxRecords) {
        file.readInto(block, first * recordBytes)
        visit(new DataView(block.buffer), first, maxRecords)
      }
      visit(view, inFile, waiting)
    },
    /** Copies the signature of a prompt. */
    read: (ordinal: number, into: Uint8Array): void => {
      const at = (ordinal < inFile ? ordinal : ordinal - inFile) * recordBytes + hashBytes
      if (ordinal < inFile) file.readInto(into, at)
      else into.set(bytes.subarray(at, at + MinHash.signatureBytes))
    },
  }
}

/**
 * Where a Zstandard frame ends, found without decoding it (RFC 8878, "Zstandard Compression and the
 * 'application/zstd' Media Type", 3.1.1).
 *
 * A decoder that is given a frame cut short may take it for a whole one; this one knows.
 */

const contentSizeBytes = [0, 2, 4, 8]
const dictionaryBytes = [0, 1, 2, 4]
const rawOrRle = { raw: 0, rle: 1, reserved: 3 }

/** What `node:zlib` allows by default: 2^27 bytes. */
export const maxWindowBytes = 128 * 1024 * 1024

export const magic = 0xfd2fb528
/** Of skippable frames: the last four bits are free. */
export const isSkippable = (magic: number): boolean => (magic & 0xfffffff0) >>> 0 === 0x184d2a50

const littleEndian = (bytes: ReadonlyArray<number>): number => bytes.reduce((sum, byte, i) => sum + byte * 256 ** i, 0)

export class ZstdFrame {
  #part: "magic" | "descriptor" | "header" | "block" | "end" = "magic"
  /** Bytes of the part that is being read, and how many it has. */
  #read: Array<number> = []
  #size = 4
  /** Bytes that follow and tell nothing. */
  #skip = 0
  #descriptor = 0
  #isLast = false
  #problem: string | undefined

  /** Whether the frame is over, checksum and all. */
  get isEnded(): boolean {
    return this.#part === "end" && this.#skip === 0
  }

  /** Why no decoder will take it, in words. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** How many of the bytes belong to the frame: fewer than all only where it ends, or has a problem. */
  pass(bytes: Uint8Array): number {
    let at = 0
    while (at < bytes.length && !this.isEnded && this.#problem === undefined) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at)
        this.#skip -= skipped
        at += skipped
      } else {
        this.#read.push(bytes[at++]!)
        if (this.#read.length === this.#size) this.#endPart()
      }
    }
    return at
  }

  #endPart(): void {
    const read = this.#read
    this.#read = []
    if (this.#part === "magic") this.#expect("descriptor", 1)
    else if (this.#part === "descriptor") {
      this.#descriptor = read[0]!
      const size = this.#windowBytes + dictionaryBytes[this.#descriptor & 3]! + this.#contentSizeBytes
      if (size === 0) this.#expect("block", 3)
      else this.#expect("header", size)
    } else if (this.#part === "header") {
      this.#checkHeader(read)
      this.#expect("block", 3)
    } else this.#endBlockHeader(littleEndian(read))
  }

  #expect(part: "descriptor" | "header" | "block", size: number): void {
    this.#part = part
    this.#size = size
  }

  get #isSingleSegment(): boolean {
    return (this.#descriptor & 0x20) !== 0
  }

  get #windowBytes(): number {
    return this.#isSingleSegment ? 0 : 1
  }

  get #contentSizeBytes(): number {
    const flag = this.#descriptor >> 6
    return flag === 0 && this.#isSingleSegment ? 1 : contentSizeBytes[flag]!
  }

  #checkHeader(header: ReadonlyArray<number>): void {
    const dictionaryEnd = this.#windowBytes + dictionaryBytes[this.#descriptor & 3]!
    const dictionary = littleEndian(header.slice(this.#windowBytes, dictionaryEnd))
    const window = this.#isSingleSegment ? littleEndian(header.slice(dictionaryEnd)) : windowOf(header[0]!)
    if (dictionary !== 0)
      this.#problem = `it was compressed with a dictionary (number ${dictionary}); compress it without`
    else if (window > maxWindowBytes) {
      this.#problem = `it needs ${window / 1024 / 1024} MiB of memory to decompress, more than 128 MiB; compress it again without --long or --ultra`
    }
  }

  /** A block's header: whether it is the last, how it is packed, its size. */
  #endBlockHeader(header: number): void {
    const type = (header >> 1) & 3
    this.#isLast = (header & 1) === 1
    if (type === rawOrRle.reserved) this.#problem = "it has a block of an unknown type"
    this.#skip = type === rawOrRle.rle ? 1 : header >>> 3
    if (this.#isLast) {
      this.#part = "end"
      if ((this.#descriptor & 4) !== 0) this.#skip += 4
    }
  }
}

/** In bytes, from the window descriptor. */
const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

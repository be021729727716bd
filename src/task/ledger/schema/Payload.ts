/**
 * Requests and results as the ledger keeps them: their bytes, or a Zstandard frame that `LedgerMaintenance.compact` makes.
 *
 * Not compressed as they are written: that took a fifth of the main thread's time of a whole run, more than all of SQLite
 * (test/bench/durability.ts), for a ledger half as large.
 */
import * as Zstd from "../../../node/Zstd.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** The four bytes that a frame begins with (RFC 8878, 3.1.1), as SQL writes them. */
export const packedPrefix = "28b52ffd"

const isPacked = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd

export const encode = (text: string): Uint8Array => encoder.encode(text)

/** @throws where a frame is damaged */
export const decode = (bytes: Uint8Array): string =>
  isPacked(bytes) ? Zstd.decompressText(bytes) : decoder.decode(bytes)

/** The bytes that were packed, if they were. @throws as `decode` */
export const unpack = (bytes: Uint8Array): Uint8Array => (isPacked(bytes) ? Zstd.decompress(bytes) : bytes)

/** Leaves bytes as they are that are packed already, or too large to be unpacked again. */
export const pack = (bytes: Uint8Array): Uint8Array =>
  isPacked(bytes) || bytes.length > Zstd.maxOutputBytes ? bytes : Zstd.compress(bytes)

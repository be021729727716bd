/**
 * Encodes requests and results for the ledger, as bytes. `LedgerMaintenance.compact` compresses them into Zstandard
 * frames. New requests and results are not compressed: compression halved the ledger, but took a fifth of the main
 * thread's time, more than SQLite did (test/bench/durability.ts).
 */
import * as Zstd from "../../../node/Zstd.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** The first bytes of a Zstandard frame (RFC 8878, 3.1.1), in hexadecimal for SQL. */
export const packedPrefix = "28b52ffd"

const isPacked = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd

export const encode = (text: string): Uint8Array => encoder.encode(text)

/** @throws if a frame is damaged */
export const decode = (bytes: Uint8Array): string =>
  isPacked(bytes) ? Zstd.decompressText(bytes) : decoder.decode(bytes)

export const unpack = (bytes: Uint8Array): Uint8Array => (isPacked(bytes) ? Zstd.decompress(bytes) : bytes)

/** Compresses `bytes`, unless they are already compressed, or more than `Zstd.decompress` can return. */
export const pack = (bytes: Uint8Array): Uint8Array =>
  isPacked(bytes) || bytes.length > Zstd.maxOutputBytes ? bytes : Zstd.compress(bytes)

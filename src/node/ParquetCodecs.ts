/** Adapter: gzip, Brotli, and CRC-32 from `node:zlib`, for Parquet. Output above the limit is an error. */
import { brotliDecompressSync, crc32, gunzipSync } from "node:zlib"

const chunkMin = 1024
const chunkMax = 4 * 1024 * 1024

/** With one buffer for the whole output, `node:zlib` need not join several buffers. */
const options = (limit: number) => ({
  maxOutputLength: Math.max(limit, 1),
  chunkSize: Math.min(Math.max(limit + 1, chunkMin), chunkMax),
})

export const gunzip = (bytes: Uint8Array, limit: number): Uint8Array => gunzipSync(bytes, options(limit))

export const decompressBrotli = (bytes: Uint8Array, limit: number): Uint8Array =>
  brotliDecompressSync(bytes, options(limit))

export const checksum = (bytes: Uint8Array): number => crc32(bytes)

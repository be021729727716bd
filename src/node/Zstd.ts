/**
 * Adapter: Zstandard from `node:zlib`.
 *
 * Guarantees: the same bytes in give the same bytes out, on one version of Node;
 * a few bytes that claim to hold gigabytes are refused and not unpacked.
 *
 * For payloads of up to some megabytes, not for whole files.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

const options = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Of the output. */
export const maxOutputBytes = 256 * 1024 * 1024

/** At level 3. A string is compressed as UTF-8. */
export const compress = (bytes: Uint8Array | string): Uint8Array => zstdCompressSync(bytes, options)

/**
 * @param limit the most bytes that may come out, 256 MiB by default
 * @throws where `bytes` are not Zstandard, end too soon (from Node 24 on), or hold more than `limit`
 */
export const decompress = (bytes: Uint8Array, limit: number = maxOutputBytes): Uint8Array => unpack(bytes, limit)

/** @throws as `decompress` */
export const decompressText = (bytes: Uint8Array): string => unpack(bytes, maxOutputBytes).toString("utf8")

const unpack = (bytes: Uint8Array, limit: number): Buffer =>
  zstdDecompressSync(bytes, { maxOutputLength: limit, chunkSize: chunkSizeOf(bytes) })

const CHUNK_MIN = 1024
const CHUNK_UNKNOWN = 64 * 1024
const CHUNK_MAX = 4 * 1024 * 1024

/**
 * Room for the whole, by what the frame's header says of its size (RFC 8878, 3.1.1.1): a third faster than
 * chunks of 64 kB, which are thrown away again. A header that says too much gets no more than `CHUNK_MAX`.
 */
const chunkSizeOf = (bytes: Uint8Array): number => {
  const descriptor = bytes[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  if (sizeBytes === 0) return CHUNK_UNKNOWN
  const start = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!
  let size = sizeBytes === 2 ? 256 : 0
  for (let i = 0; i < sizeBytes; i++) size += (bytes[start + i] ?? 0) * 256 ** i
  return Math.min(Math.max(size + 1, CHUNK_MIN), CHUNK_MAX)
}

/**
 * Adapter: Zstandard from `node:zlib`, level 3.
 *
 * Guarantees: the same bytes in give the same bytes out, on one version of Node;
 * a few bytes that claim to hold gigabytes are refused and not unpacked.
 *
 * Synchronous, because the payloads are small (about 100 kB, a fraction of a
 * millisecond): the way to Node's thread pool and back costs more than it saves.
 * Not for whole files.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

const options = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

const OUTPUT_LIMIT = 256 * 1024 * 1024

/** A string is compressed as UTF-8. */
export const compress = (bytes: Uint8Array | string): Uint8Array => zstdCompressSync(bytes, options)

/**
 * @param limit the most bytes that may come out, 256 MiB by default
 * @throws where `bytes` are not Zstandard, end too soon (from Node 24 on), or hold more than `limit`
 */
export const decompress = (bytes: Uint8Array, limit: number = OUTPUT_LIMIT): Uint8Array =>
  zstdDecompressSync(bytes, { maxOutputLength: limit })

/** @throws as `decompress` */
export const decompressText = (bytes: Uint8Array): string =>
  zstdDecompressSync(bytes, { maxOutputLength: OUTPUT_LIMIT }).toString("utf8")

/**
 * Readers of a dataset's files that share no code with prefstream's writers.
 *
 * DuckDB and Arrow drop a leading U+FEFF when they make a JavaScript string, so all
 * three hand over bytes, which are decoded here, with nothing dropped.
 */
import { DuckDBBlobValue, DuckDBInstance } from "@duckdb/node-api"
import { type Data, tableFromIPC, type Vector } from "apache-arrow"
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet"
import { readFile } from "node:fs/promises"
import { zstdDecompressSync } from "node:zlib"
import { readParquet } from "parquet-wasm"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const textColumns = ["prompt", "chosen", "rejected", "rationale", "item_id", "task_id", "metadata"] as const

/** Runs one SQL query in DuckDB; blobs come back as strings. */
export const query = async (sql: string): Promise<Array<Record<string, unknown>>> => {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" })
  const connection = await instance.connect()
  try {
    const rows = (await connection.runAndReadAll(sql)).getRowObjects()
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value instanceof DuckDBBlobValue ? decoder.decode(value.bytes) : value,
        ]),
      ),
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const columns = [
  ...["prompt", "chosen", "rejected", "rationale", "item_id", "task_id"].map((name) => `encode(${name}) AS ${name}`),
  "chosen_index, rejected_index, weight, encode(metadata) AS metadata",
].join(", ")

export const duckdbParquet = (path: string) => query(`SELECT ${columns} FROM read_parquet('${path}')`)

/** With declared types: DuckDB would guess dates and UUIDs out of prompts. */
export const duckdbJsonl = (path: string) => {
  const types = [
    ...textColumns.map((name) => `${name}: 'VARCHAR'`),
    "chosen_index: 'INTEGER', rejected_index: 'INTEGER', weight: 'DOUBLE'",
  ]
  return query(`SELECT ${columns} FROM read_json('${path}', format = 'newline_delimited',
    maximum_object_size = 67108864, columns = {${types.join(", ")}})`)
}

const utf8At = (vector: Vector, row: number): string | null => {
  let data: Data | undefined
  let at = row
  for (data of vector.data) {
    if (at < data.length) break
    at -= data.length
  }
  if (!data!.getValid(at)) return null
  return decoder.decode((data!.values as Uint8Array).subarray(data!.valueOffsets[at], data!.valueOffsets[at + 1]))
}

export const arrow = async (path: string) => {
  const wasm = readParquet(await readFile(path))
  // Takes the memory of the table over, and frees it.
  const table = tableFromIPC(wasm.intoIPCStream())
  const texts = new Set<string>(textColumns)
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(
      table.schema.fields.map(({ name }) => {
        const vector = table.getChild(name)!
        return [name, texts.has(name) ? utf8At(vector, row) : vector.get(row)]
      }),
    ),
  )
}

const buffer = async (path: string): Promise<ArrayBuffer> => {
  const bytes = await readFile(path)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}

export const hyparquet = async (path: string) =>
  parquetReadObjects({
    file: await buffer(path),
    compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
    parsers: { stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes) },
  })

export const metadata = async (path: string): Promise<FileMetaData> => parquetMetadata(await buffer(path))

export const jsonl = async (path: string): Promise<Array<PreferencePair>> =>
  decoder
    .decode(await readFile(path))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

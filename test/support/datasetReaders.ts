/**
 * Readers of a dataset's files that share no code with prefstream's writers.
 *
 * DuckDB and Arrow drop a leading U+FEFF when they make a JavaScript string, so all but Polars,
 * which drops nothing, hand over bytes, which are decoded here.
 */
import { DuckDBBlobValue, DuckDBInstance, DuckDBListValue, DuckDBStructValue } from "@duckdb/node-api"
import { type Data, DataType, tableFromIPC } from "apache-arrow"
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet"
import { readFile } from "node:fs/promises"
import { zstdDecompressSync } from "node:zlib"
import { readParquet } from "parquet-wasm"
import { Effect } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"

export type Shape = "standard" | "conversational"

type Row = Record<string, unknown>

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const plain = (value: unknown): unknown => {
  if (value instanceof DuckDBBlobValue) return decoder.decode(value.bytes)
  if (value instanceof DuckDBListValue) return value.items.map(plain)
  return value instanceof DuckDBStructValue ? plainMembers(value.entries) : value
}

const plainMembers = (members: Row): Row =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, plain(value)]))

/** Runs one SQL query in DuckDB; blobs come back as strings. */
export const query = async (sql: string): Promise<Array<Row>> => {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" })
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjects().map(plainMembers)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const sides = ["prompt", "chosen", "rejected"] as const

/** DuckDB's types. */
const typesOf = (shape: Shape): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    sides.map((side) => [side, shape === "standard" ? "VARCHAR" : "STRUCT(role VARCHAR, content VARCHAR)[]"]),
  ),
  rationale: "VARCHAR",
  item_id: "VARCHAR",
  task_id: "VARCHAR",
  chosen_index: "INTEGER",
  rejected_index: "INTEGER",
  chosen_model: "VARCHAR",
  rejected_model: "VARCHAR",
  weight: "DOUBLE",
  votes: "INTEGER",
  agreement: "DOUBLE",
  vote_margin: "DOUBLE",
  decided_votes: "INTEGER",
  strength: "DOUBLE",
  all_bad: "BOOLEAN",
  aspects: "VARCHAR",
  edited: "VARCHAR",
  flags: "VARCHAR",
  metadata: "VARCHAR",
})

const asBytes = (shape: Shape) =>
  Object.entries(typesOf(shape))
    .map(([name, type]) => {
      if (type === "VARCHAR") return `encode(${name}) AS ${name}`
      if (!type.startsWith("STRUCT")) return name
      return `list_transform(${name}, m -> {'role': encode(m.role), 'content': encode(m.content)}) AS ${name}`
    })
    .join(", ")

export const duckdbParquet = (path: string, shape: Shape = "standard") =>
  query(`SELECT ${asBytes(shape)} FROM read_parquet('${path}')`)

/** With declared types: DuckDB would guess dates and UUIDs out of prompts. */
export const duckdbJsonl = (path: string, shape: Shape = "standard") => {
  const types = Object.entries(typesOf(shape)).map(([name, type]) => `${name}: '${type}'`)
  return query(`SELECT ${asBytes(shape)} FROM read_json('${path}', format = 'newline_delimited',
    maximum_object_size = 67108864, columns = {${types.join(", ")}})`)
}

const valueAt = (data: Data, at: number): unknown => {
  if (!data.getValid(at)) return null
  const [start, end] = [data.valueOffsets?.[at] ?? 0, data.valueOffsets?.[at + 1] ?? 0]
  if (DataType.isUtf8(data.type)) return decoder.decode((data.values as Uint8Array).subarray(start, end))
  if (DataType.isList(data.type)) {
    return Array.from({ length: end - start }, (_, i) => valueAt(data.children[0]!, start + i))
  }
  if (DataType.isStruct(data.type)) {
    return Object.fromEntries(data.type.children.map(({ name }, i) => [name, valueAt(data.children[i]!, at)]))
  }
  if (DataType.isBool(data.type)) {
    const bit = data.offset + at
    return (((data.values as Uint8Array)[bit >> 3]! >> (bit & 7)) & 1) === 1
  }
  return (data.values as ArrayLike<unknown>)[at]
}

/** `parquet-wasm` (arrow-rs) reads the file, Arrow gives its columns. */
export const arrow = async (path: string): Promise<Array<Row>> => {
  const wasm = readParquet(await readFile(path))
  // Takes the memory of the table over, and frees it.
  const table = tableFromIPC(wasm.intoIPCStream())
  return table.batches.flatMap(({ data }) => Array.from({ length: data.length }, (_, row) => valueAt(data, row) as Row))
}

interface Polars {
  readonly readParquet: (path: string) => { readonly toRecords: () => Array<Row> }
  readonly scanJson: (path: string) => { readonly collectSync: () => { readonly toRecords: () => Array<Row> } }
}

// No dev dependency, see CONTRIBUTING: so its name is no name to the compiler.
const polarsModule: string = "nodejs-polars"

/** None where it is not installed. */
export const polars = await import(polarsModule).then(
  ({ default: polars }: { readonly default: Polars }) => polars,
  () => undefined,
)

export const polarsParquet = async (path: string): Promise<Array<Row>> => polars!.readParquet(path).toRecords()

const buffer = async (path: string): Promise<ArrayBuffer> => {
  const bytes = await readFile(path)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}

export const hyparquet = async (path: string): Promise<Array<Row>> =>
  parquetReadObjects({
    file: await buffer(path),
    compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
    parsers: { stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes) },
  })

export const metadata = async (path: string): Promise<FileMetaData> => parquetMetadata(await buffer(path))

/** The rows of the first split of a job's dataset. */
export const pairsOf = (job: string) => Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))

export const jsonl = async (path: string): Promise<Array<PreferencePair>> =>
  decoder
    .decode(await readFile(path))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** What `verify` finds wrong; warnings are of texts that trainers cut. */
export const errorsIn = (directory: string) =>
  Effect.map(Dataset.verify(directory), ({ findings }) => findings.filter(({ severity }) => severity === "error"))

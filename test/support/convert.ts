/**
 * The same records in other formats, written by other programs than the readers that are tested:
 * CSV by csv-stringify, Parquet by hyparquet-writer and DuckDB, compression by zlib.
 */
import { readFile, writeFile } from "node:fs/promises"
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib"
import { DuckDBInstance } from "@duckdb/node-api"
import { stringify } from "csv-stringify/sync"
import { parquetWriteBuffer } from "hyparquet-writer"

export type Cell = string | number | null | ReadonlyArray<string>
export type Table = ReadonlyArray<{ readonly [column: string]: Cell }>

const columnsOf = (table: Table): ReadonlyArray<string> => Object.keys(table[0]!)

/** Lists stand in cells as the text of JSON. */
export const csv = (table: Table, delimiter = ","): string =>
  stringify(
    table.map((row) =>
      columnsOf(table).map((column) => (Array.isArray(row[column]) ? JSON.stringify(row[column]) : row[column])),
    ),
    { header: true, columns: [...columnsOf(table)], delimiter, record_delimiter: "\r\n", quoted_match: /[\r\n]/ },
  )

export const jsonl = (table: ReadonlyArray<unknown>): string => table.map((row) => `${JSON.stringify(row)}\n`).join("")

export const json = (table: ReadonlyArray<unknown>, indent = 2): string => JSON.stringify(table, null, indent)

const text = { type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" } as const

/** Lists as three levels, as the format's specification has them. */
export const parquet = (table: Table, rowGroupSize = 100): Uint8Array => {
  const listColumns = columnsOf(table).filter((column) => Array.isArray(table[0]![column]))
  const plain = columnsOf(table).filter((column) => !listColumns.includes(column))
  const bytes = parquetWriteBuffer({
    rowGroupSize,
    columnData: columnsOf(table).map((name) => ({ name, data: table.map((row) => row[name]) })),
    schema: [
      { name: "schema", num_children: columnsOf(table).length },
      ...columnsOf(table).flatMap((name) =>
        plain.includes(name)
          ? [{ name, ...text }]
          : [
              { name, repetition_type: "OPTIONAL" as const, converted_type: "LIST" as const, num_children: 1 },
              { name: "list", repetition_type: "REPEATED" as const, num_children: 1 },
              { name: "element", ...text },
            ],
      ),
    ],
  })
  return new Uint8Array(bytes)
}

/** By DuckDB, from a file of JSON Lines whose columns are texts or lists of texts. */
export const parquetByDuckDb = async (table: Table, folder: string, codec = "zstd"): Promise<Uint8Array> => {
  const [from, to] = [`${folder}/duckdb-input.jsonl`, `${folder}/duckdb-output.parquet`]
  await writeFile(from, jsonl(table))
  const types = columnsOf(table).map(
    (column) => `${quoted(column)}: '${Array.isArray(table[0]![column]) ? "VARCHAR[]" : "VARCHAR"}'`,
  )
  const database = await DuckDBInstance.create(":memory:")
  const connection = await database.connect()
  await connection.run(
    `COPY (SELECT * FROM read_json('${from}', format='newline_delimited', columns={${types.join(", ")}})) TO '${to}' (FORMAT parquet, COMPRESSION ${codec})`,
  )
  connection.closeSync()
  return readFile(to)
}

const quoted = (name: string): string => `'${name.replaceAll("'", "''")}'`

export const compressions = {
  gz: (bytes: string | Uint8Array) => gzipSync(bytes),
  zst: (bytes: string | Uint8Array) => zstdCompressSync(Buffer.from(bytes)),
  br: (bytes: string | Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
}

/**
 * JSON Lines to rows in JavaScript: `node test/bench/ingest.ts [megabytes] [bytes per line] [rounds]`.
 *
 * All read the same file in turns, in one process, and count its rows; the medians are compared. Only prefstream checks what
 * it reads. Exits with 1 where prefstream has less than 0.6 of the bare loop's throughput.
 *
 * - bare loop: reads 64 kB at a time, decodes, splits and parses each piece in one step
 * - prefstream: `Source.files`, to validated items
 * - DuckDB: `read_json` with the columns named, whose chunks are read as rows
 * - Polars: `scanJson`, whose table is read as rows; only after `npm install --no-save nodejs-polars@0.26.1`
 */
import { open } from "node:fs/promises"
import { statSync } from "node:fs"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { NodeServices } from "@effect/platform-node"
import { Effect, Stream } from "effect"
import * as Source from "../../src/source/Source.ts"
import { polars } from "../support/datasetReaders.ts"
import { median, numbers, scratchFolder, writeLines } from "./setup.ts"

const [megabytes, bytesPerLine, rounds] = numbers(200, 2_000, 5)
const target = 0.6

const words = "the quick brown fox jumps over a lazy dog and then — “naïve” as ever — sleeps 12 hours".split(" ")
const prose = (seed: number, length: number) => {
  let text = ""
  for (let i = seed; text.length < length; i = (i * 31 + 7) % 1_000_003) text += `${words[i % words.length]} `
  return text
}

const line = (i: number) =>
  JSON.stringify({
    id: `item-${i}`,
    prompt: prose(i, bytesPerLine * 0.2),
    completions: [prose(i + 1, bytesPerLine * 0.4), prose(i + 2, bytesPerLine * 0.4)],
    metadata: { row: i, topic: "bench" },
  })

const bareLoop = async (file: string) => {
  const handle = await open(file)
  const decoder = new TextDecoder()
  let rest = ""
  let rows = 0
  while (true) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(65_536), 0, 65_536, null)
    if (bytesRead === 0) break
    const lines = (rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split("\n")
    rest = lines.pop()!
    rows += lines.map((text) => JSON.parse(text)).length
  }
  await handle.close()
  return rows
}

const prefstream = (file: string) =>
  Source.files(file).records.pipe(
    Stream.chunks,
    Stream.runFold(
      () => 0,
      (items, records) => items + records.filter((record) => record._tag === "Success").length,
    ),
    Effect.provide(NodeServices.layer),
    Effect.scoped,
    Effect.runPromise,
  )

const duckdb = async (file: string) => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect()
  const columns =
    "{id: 'VARCHAR', prompt: 'VARCHAR', completions: 'VARCHAR[]', metadata: 'STRUCT(row BIGINT, topic VARCHAR)'}"
  const result = await connection.stream(
    `SELECT * FROM read_json('${file}', format = 'newline_delimited', columns = ${columns})`,
  )
  let rows = 0
  for await (const some of result.yieldRowsJs()) rows += some.length
  connection.closeSync()
  return rows
}

const readPolars = (file: string) => Promise.resolve(polars!.scanJson(file).collectSync().toRecords().length)

const readers = {
  "bare loop": bareLoop,
  prefstream,
  DuckDB: duckdb,
  ...(polars === undefined ? {} : { Polars: readPolars }),
} as const satisfies Record<string, (file: string) => Promise<number>>

const file = join(scratchFolder(), "bench.jsonl")
const rows = Math.ceil((megabytes * 1e6) / (line(0).length + 1))
await writeLines(file, rows, (i) => line(i + 1))
const size = statSync(file).size
const times = new Map<string, Array<number>>()
// The first round warms up.
for (let round = 0; round <= rounds; round++) {
  for (const [name, read] of Object.entries(readers)) {
    const begun = performance.now()
    const found = await read(file)
    if (found !== rows) throw new Error(`${name} read ${found} of ${rows} rows`)
    if (round > 0) times.set(name, [...(times.get(name) ?? []), (performance.now() - begun) / 1000])
  }
}
const speed = (name: string) => size / 1e6 / median(times.get(name)!)
const own = speed("prefstream")
const others = [...times.keys()].filter((name) => name !== "prefstream")
console.log(`${rows} lines, ${(size / 1e6).toFixed(0)} MB; medians of ${rounds} rounds`)
for (const name of times.keys()) console.log(`${name.padEnd(10)} ${speed(name).toFixed(0).padStart(5)} MB/s`)
const ratios = others.map((name) => `${(own / speed(name)).toFixed(2)} of ${name}`)
console.log(`throughput ${ratios.join(", ")} (at least ${target} of the bare loop)`)
process.exitCode = own / speed("bare loop") >= target ? 0 : 1

/**
 * Writing a dataset, side by side with others: `node test/bench/dataset.ts [rows] [bytes per row]`.
 *
 * All read the same rows from the same file of JSON Lines, each in a process of its own, first a
 * tenth of the rows and then all of them: memory that is flat is the same for both. Time is from
 * the first byte read to the last one written. The text is drawn from a fixed vocabulary with a
 * fixed seed: it compresses about as prose does, and each run writes the same bytes. Prints a
 * table in Markdown. Exits with 1 where Parquet alone has less than 0.6 of DuckDB's throughput, or the whole dataset
 * less than 0.5.
 *
 * - prefstream, Parquet: `src/dataset/file/Parquet.ts` alone
 * - prefstream, dataset: `Dataset.write`, that is Parquet, JSON Lines, card and manifest
 * - DuckDB: `COPY`, where no row passes through JavaScript
 * - hyparquet-writer: alone, 32,768 rows a group, with its own Snappy
 * - parquet-wasm: all rows as one Arrow table, zstd; it holds what it writes in memory, and fails where that is too much
 * - hand-written: a loop with `parquetjs-lite` and `p-limit`
 */
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, FileSystem, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { congruential, path, scratchFolder, writeLines } from "./setup.ts"

/** Reads `input`, writes under `output`. */
type Contender = (input: string, output: string) => Promise<void>

const pairsOf = (input: string) =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(input)),
    Stream.unwrap,
    Stream.decodeText(),
    Stream.splitLines,
    Stream.mapArray((lines) => lines.map((line) => JSON.parse(line) as PreferencePair) as [PreferencePair]),
  )

const parquetAlone: Contender = async (input, output) => {
  const OutputFile = await import("../../src/node/OutputFile.ts")
  const Parquet = await import("../../src/dataset/file/Parquet.ts")
  const { encoder } = await import("../../src/dataset/file/EncodedRow.ts")
  const { featuresOf, toRow } = await import("../../src/dataset/Columns.ts")
  const program = Effect.gen(function* () {
    const file = OutputFile.create(output, "train.parquet")
    const writer = Parquet.make(file, featuresOf({ shape: "standard" }))
    const encode = encoder()
    yield* Stream.runForEach(pairsOf(input), (pair) =>
      Effect.sync(() => writer.write(encode(toRow(pair, { shape: "standard" })))),
    )
    writer.finish()
  })
  await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(NodeServices.layer)))
}

const wholeDataset: Contender = async (input, output) => {
  const Dataset = await import("../../src/dataset/Dataset.ts")
  const write = Stream.run(pairsOf(input), Dataset.write({ directory: join(output, "dataset") }))
  await Effect.runPromise(Effect.provide(write, NodeServices.layer))
}

const types = {
  prompt: "VARCHAR",
  chosen: "VARCHAR",
  rejected: "VARCHAR",
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
} as const satisfies { readonly [Column in keyof PreferencePair]: string }

const duckdb: Contender = async (input, output) => {
  const { DuckDBInstance } = await import("@duckdb/node-api")
  const connection = await (await DuckDBInstance.create(":memory:")).connect()
  const columns = Object.entries(types).map(([name, type]) => `${name}: '${type}'`)
  await connection.run(
    `COPY (SELECT * FROM read_json('${input}', format = 'newline_delimited', columns = {${columns.join(", ")}}))
     TO '${join(output, "train.parquet")}' (FORMAT parquet, COMPRESSION zstd)`,
  )
}

const rowsOf = async function* (input: string) {
  for await (const line of createInterface({ input: createReadStream(input), crlfDelay: Infinity })) {
    yield JSON.parse(line) as PreferencePair
  }
}

const names = Object.keys(types) as ReadonlyArray<keyof typeof types>

const hyparquetWriter: Contender = async (input, output) => {
  const { fileWriter, ParquetWriter } = await import("hyparquet-writer")
  const physical = { VARCHAR: "BYTE_ARRAY", INTEGER: "INT32", DOUBLE: "DOUBLE", BOOLEAN: "BOOLEAN" } as const
  const columns = names.map((name) => ({
    name,
    type: physical[types[name]],
    repetition_type: "OPTIONAL" as const,
    ...(types[name] === "VARCHAR" && { converted_type: "UTF8" as const }),
  }))
  const writer = new ParquetWriter({
    writer: fileWriter(join(output, "train.parquet")),
    schema: [{ name: "root", num_children: columns.length }, ...columns.map(({ ...column }) => column)],
  })
  let rows: Array<PreferencePair> = []
  const flush = async () => {
    await writer.write({ columnData: names.map((name) => ({ name, data: rows.map((row) => row[name]) })) })
    rows = []
  }
  for await (const row of rowsOf(input)) if (rows.push(row) === 32_768) await flush()
  if (rows.length > 0) await flush()
  await writer.finish()
}

const parquetWasm: Contender = async (input, output) => {
  const { Bool, tableFromArrays, tableToIPC, Utf8, Float64, Int32, vectorFromArray } = await import("apache-arrow")
  const wasm = await import("parquet-wasm")
  const arrowTypes = { VARCHAR: new Utf8(), INTEGER: new Int32(), DOUBLE: new Float64(), BOOLEAN: new Bool() }
  const rows: Array<PreferencePair> = []
  for await (const row of rowsOf(input)) rows.push(row)
  const vectors = names.map((name) => [
    name,
    vectorFromArray(rows.map((row) => row[name]) as never, arrowTypes[types[name]] as never),
  ])
  const table = wasm.Table.fromIPCStream(tableToIPC(tableFromArrays(Object.fromEntries(vectors)), "stream"))
  const properties = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression.ZSTD).build()
  writeFileSync(join(output, "train.parquet"), wasm.writeParquet(table, properties))
}

const handWritten: Contender = async (input, output) => {
  const { default: parquet } = await import("parquetjs-lite")
  const { default: pLimit } = await import("p-limit")
  const parquetTypes = { VARCHAR: "UTF8", INTEGER: "INT32", DOUBLE: "DOUBLE", BOOLEAN: "BOOLEAN" } as const
  const fields = Object.entries(types).map(([name, type]) => [
    name,
    { type: parquetTypes[type], optional: true, compression: "SNAPPY" },
  ])
  const schema = new parquet.ParquetSchema(Object.fromEntries(fields))
  const writer = await parquet.ParquetWriter.openFile(schema, join(output, "train.parquet"))
  const limit = pLimit(1)
  let pending: Array<Promise<void>> = []
  for await (const line of createInterface({ input: createReadStream(input), crlfDelay: Infinity })) {
    const row = JSON.parse(line)
    pending.push(limit(() => writer.appendRow(row)))
    if (pending.length === 1000) {
      await Promise.all(pending)
      pending = []
    }
  }
  await Promise.all(pending)
  await writer.close()
}

const contenders: { readonly [name: string]: Contender } = {
  "prefstream, Parquet": parquetAlone,
  "prefstream, dataset": wholeDataset,
  "DuckDB COPY": duckdb,
  "hyparquet-writer": hyparquetWriter,
  "parquet-wasm": parquetWasm,
  "hand-written": handWritten,
}

const generator = (bytesPerRow: number) => {
  const next = congruential(1)
  const random = (below: number) => Math.floor((next() / 2 ** 32) * below)
  const letters = "etaoinshrdlucmfwypvbgkqjxz"
  const vocabulary = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 2 + random(9) }, () => letters[Math.min(random(26), random(26))]!).join(""),
  )
  const prose = (length: number) => {
    let text = ""
    while (text.length < length) text += vocabulary[Math.min(random(20_000), random(20_000), random(20_000))]! + " "
    return text
  }
  return (i: number): PreferencePair => ({
    prompt: prose(bytesPerRow * 0.15),
    chosen: prose(bytesPerRow * 0.35),
    rejected: prose(bytesPerRow * 0.35),
    rationale: i % 4 === 0 ? null : prose(bytesPerRow * 0.1),
    item_id: i.toString(16).padStart(32, "0"),
    task_id: `task-${Math.floor(i / 20)}`,
    chosen_index: i % 2,
    rejected_index: (i + 1) % 2,
    chosen_model: `model-${i % 2}`,
    rejected_model: `model-${(i + 1) % 2}`,
    weight: 1,
    votes: 3,
    agreement: i % 2 === 0 ? 1 : 2 / 3,
    vote_margin: i % 2 === 0 ? 1 : 1 / 3,
    decided_votes: 3,
    strength: null,
    all_bad: null,
    aspects: null,
    edited: null,
    flags: null,
    metadata: `{"source":"bench","row":${i}}`,
  })
}

interface Measured {
  readonly seconds: number
  readonly peakMb: number
}

const measure = async (name: string, input: string, output: string): Promise<Measured> => {
  const [duration] = await Effect.runPromise(Effect.timed(Effect.promise(() => contenders[name]!(input, output))))
  return { seconds: Duration.toSeconds(duration), peakMb: process.resourceUsage().maxRSS / 1e3 }
}

/** In a process of its own, whose output is removed. */
const apart = (name: string, input: string, scratch: string) => {
  const output = mkdtempSync(join(scratch, "out-"))
  const { stdout, stderr } = spawnSync(process.execPath, [path("dataset.ts"), name, input, output], {
    encoding: "utf8",
  })
  const files = readdirSync(output, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)
  rmSync(output, { recursive: true })
  if (stdout === "" && name === "parquet-wasm") return undefined
  if (stdout === "") throw new Error(stderr)
  return { ...(JSON.parse(stdout) as Measured), bytes }
}

const compare = async (rows: number, bytesPerRow: number) => {
  const scratch = scratchFolder()
  const [few, all] = [Math.ceil(rows / 10), rows]
  const inputs = await Promise.all(
    [few, all].map(async (rows) => {
      const input = join(scratch, `${rows}.jsonl`)
      const pair = generator(bytesPerRow)
      await writeLines(input, rows, (i) => JSON.stringify(pair(i)))
      return input
    }),
  )
  console.log(
    `${all} rows, ${(statSync(inputs[1]!).size / 1e9).toFixed(2)} GB of JSON Lines, Node ${process.version}\n`,
  )
  console.log(`| | rows a second | seconds | peak MB, ${few} rows | peak MB, ${all} rows | GB written |`)
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |")
  const took = new Map<string, number>()
  for (const name of Object.keys(contenders)) {
    const before = apart(name, inputs[0]!, scratch)
    const after = apart(name, inputs[1]!, scratch)
    if (before === undefined || after === undefined) {
      console.log(`| ${name} | fails | | ${before === undefined ? "" : Math.round(before.peakMb)} | | |`)
      continue
    }
    const { bytes, peakMb, seconds } = after
    const cells = [name, Math.round(all / seconds), seconds.toFixed(1), Math.round(before.peakMb), Math.round(peakMb)]
    console.log(`| ${[...cells, (bytes / 1e9).toFixed(2)].join(" | ")} |`)
    took.set(name, seconds)
  }
  const ratio = (name: string) => took.get("DuckDB COPY")! / took.get(name)!
  const [parquet, dataset] = [ratio("prefstream, Parquet"), ratio("prefstream, dataset")]
  console.log(
    `\nthroughput compared with DuckDB: Parquet ${parquet.toFixed(2)} (at least 0.6), dataset ${dataset.toFixed(2)} (at least 0.5)`,
  )
  process.exitCode = parquet >= 0.6 && dataset >= 0.5 ? 0 : 1
}

const [first = "", input, output] = process.argv.slice(2)
if (output !== undefined) console.log(JSON.stringify(await measure(first, input!, output)))
else await compare(Number(first || 1_000_000), Number(input ?? 2_000))

/**
 * A join of three unsorted files, compared with DuckDB's: prompts and the completions of two models, their keys in
 * a different order in each.
 *
 *     node test/bench/join.ts [ROWS] [PROMPT BYTES] [COMPLETION BYTES] [FOLDER]
 *
 * (default 1000000 300 1000: about 6 minutes, 2.4 GB of files in FOLDER or the folder for temporary ones, and as much
 * for scratch). Each join has a process of its own; peak memory is what the operating system counted for it
 * (`maxRSS`). prefstream gives validated items in the order of the prompts file. DuckDB joins the same columns,
 * declared with `columns=`: in any order, or in that of the prompts file; to JavaScript, row by row, or to a JSONL file.
 *
 * Exits with 1 where prefstream has less than half of the throughput of DuckDB in any order to JavaScript, or takes
 * more than 500 MB.
 */
import { spawnSync } from "node:child_process"
import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Result, Stream } from "effect"
import * as Source from "../../src/source/Source.ts"
import { path, scratchFolder, writeLines } from "./setup.ts"

const words =
  "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were".split(
    " ",
  )

const text = (seed: number, length: number) => {
  let text = ""
  for (let i = seed; text.length < length; i = (i * 31 + 7) % 1_000_003) text += `${words[i % words.length]} `
  return text
}

const isPrime = (n: number): boolean => {
  for (let i = 2; i * i <= n; i++) if (n % i === 0) return false
  return true
}

const key = (i: number) => `item-${String(i).padStart(9, "0")}`

/** Writes the rows of all numbers below `count`, in an order that looks like none. */
const write = (file: string, count: number, seed: number, rowOf: (i: number) => object) => {
  let step = Math.floor(count * 0.618) + seed
  while (!isPrime(step) || count % step === 0) step++
  return writeLines(file, count, (i) => JSON.stringify(rowOf((i * step + seed) % count)))
}

interface Joined {
  readonly rows: number
  readonly seconds: number
  readonly megabytes: number
}

/** @param finish what was joined, after which the clock stops */
const measured = async (finish: () => Promise<number>): Promise<Joined> => {
  const start = performance.now()
  const rows = await finish()
  return {
    rows,
    seconds: (performance.now() - start) / 1000,
    megabytes: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

const prefstream = (folder: string) =>
  Source.join({
    prompts: join(folder, "prompts.jsonl"),
    completions: [join(folder, "a.jsonl"), join(folder, "b.jsonl")],
    scratchDirectory: folder,
  }).records.pipe(
    Stream.chunks,
    Stream.runFold(
      () => 0,
      (rows, records) => rows + records.filter(Result.isSuccess).length,
    ),
    Effect.provide(NodeServices.layer),
    Effect.runPromise,
  )

const duckDb = async (folder: string, order: string, to: string, memory: string) => {
  // Not loaded where the other one is measured.
  const { DuckDBInstance } = await import("@duckdb/node-api")
  const spill = { temp_directory: join(folder, "duckdb") }
  const database = await DuckDBInstance.create(
    ":memory:",
    memory === "default" ? spill : { ...spill, memory_limit: memory },
  )
  const connection = await database.connect()
  const read = (file: string, text: string) =>
    `read_json('${join(folder, file)}.jsonl', format='newline_delimited', columns={id: 'VARCHAR', ${text}: 'VARCHAR'})`
  const prompts =
    order === "any"
      ? read("prompts", "prompt")
      : `(SELECT *, row_number() OVER () AS nr FROM ${read("prompts", "prompt")})`
  const query = `SELECT p.id, p.prompt, [a.completion, b.completion] AS completions FROM ${prompts} p
    JOIN ${read("a", "completion")} a USING (id) JOIN ${read("b", "completion")} b USING (id)
    ${order === "any" ? "" : "ORDER BY p.nr"}`
  if (to === "file") {
    const done = await connection.run(`COPY (${query}) TO '${join(folder, "joined.jsonl")}' (FORMAT json)`)
    return done.rowsChanged
  }
  let rows = 0
  const result = await connection.stream(query)
  while (true) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return rows
    rows += chunk.getRows().length
  }
}

const [first = "1000000", second = "300", third = "1000", fourth, ...more] = process.argv.slice(2)
if (first === "child") {
  const [order = "", to = "", memory = ""] = [fourth, ...more].map(String)
  const joined = await measured(() => (third === "prefstream" ? prefstream(second) : duckDb(second, order, to, memory)))
  console.log(JSON.stringify(joined))
} else {
  const [rows, promptBytes, completionBytes] = [first, second, third].map(Number) as [number, number, number]
  const folder = scratchFolder(fourth)
  await write(join(folder, "prompts.jsonl"), rows, 1, (i) => ({ id: key(i), prompt: `${i}: ${text(i, promptBytes)}` }))
  for (const [n, model] of ["a", "b"].entries()) {
    const completion = (i: number) => `${model} ${i}:\n${text(i + n, completionBytes)}`
    await write(join(folder, `${model}.jsonl`), rows, 1000 * (n + 1), (i) => ({
      id: key(i),
      completion: completion(i),
    }))
  }
  const bytes = ["prompts", "a", "b"].reduce((sum, name) => sum + statSync(join(folder, `${name}.jsonl`)).size, 0)
  const run = (...args: ReadonlyArray<string>) => {
    const child = spawnSync(process.execPath, [path("join.ts"), "child", folder, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    })
    rmSync(join(folder, "joined.jsonl"), { force: true })
    if (child.status !== 0) return { join: args.join(" ") }
    const joined = JSON.parse(child.stdout) as Joined
    if (joined.rows !== rows) throw new Error(`${args.join(" ")} joined ${joined.rows} of ${rows} rows`)
    return {
      join: args.join(" "),
      seconds: joined.seconds,
      "rows/s": Math.round(rows / joined.seconds),
      "peak RSS MB": joined.megabytes,
    }
  }
  const duckDbs = ["default", "500MB"].flatMap((memory) =>
    ["any", "prompts'"].flatMap((order) => ["javascript", "file"].map((to) => run("duckdb", order, to, memory))),
  )
  console.log(`3 files of ${rows} rows, ${Math.round(bytes / 1e6)} MB`)
  const own = run("prefstream", "prompts'", "javascript")
  console.table([own, ...duckDbs])
  const throughput = duckDbs[0]!.seconds! / own.seconds!
  console.log(`throughput ${throughput.toFixed(2)} of DuckDB's (at least 0.7), ${own["peak RSS MB"]} MB (at most 500)`)
  process.exitCode = throughput >= 0.7 && own["peak RSS MB"]! <= 500 ? 0 : 1
}

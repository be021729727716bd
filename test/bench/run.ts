/**
 * Runs the benchmarks one after the other, and prints one table of their verdicts.
 *
 *     npm run bench [-- NAME...]      (default: all of the table; more than an hour; needs `npm run build`)
 *
 * A benchmark is a program of this folder that exits with 1 where it misses its targets, and whose last line says by
 * how much. Exits with 1 where one of them did, or failed. Throughput is by the clock: the machine must have nothing else to do.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { fileURLToPath } from "node:url"

const all = [
  "wholeRun", "smallHeap", "memory", "durability", "ledgers", "ingest", "dataset", "join", "scans", "nearDuplicates", "leaderboard", "start", "service", "workers",
] // prettier-ignore
const given = process.argv.slice(2)
const names = given.length === 0 ? all : given
const unknown = names.filter((name) => !all.includes(name))
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; expected ${all.join(", ")}`)

const run = async (name: string) => {
  console.log(`\n== ${name}`)
  const begun = performance.now()
  const path = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ["--conditions=prefstream-source", path], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString()
    process.stdout.write(chunk)
  })
  const [status] = (await once(child, "close")) as [number | null]
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
  return { bench: name, verdict: text.trimEnd().split("\n").at(-1) ?? "", minutes, met: status === 0 }
}

const rows: Array<Awaited<ReturnType<typeof run>>> = []
for (const name of names) rows.push(await run(name))

const versionOf = (name: string) => {
  const path = fileURLToPath(new URL(`../../node_modules/${name}/package.json`, import.meta.url))
  return `${name} ${(JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }).version}`
}
const [cpu] = cpus()
const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
const peers = ["effect", "@duckdb/node-api", "hyparquet-writer", "parquet-wasm", "parquetjs-lite", "p-limit"]
console.log(
  `\n${cpus().length} × ${cpu?.model.trim() ?? "unknown processor"}, ${memory}; Node ${process.version}, ${peers.map(versionOf).join(", ")}\n`,
)
console.log("| bench | result | target | minutes |\n| --- | --- | --- | ---: |")
for (const { bench, met, minutes, verdict } of rows) {
  console.log(`| \`${bench}\` | ${verdict} | ${met ? "met" : "**missed**"} | ${minutes} |`)
}
process.exitCode = rows.every(({ met }) => met) ? 0 : 1

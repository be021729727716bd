/**
 * Whether time and memory grow with the input: the whole flow over generated items, in a
 * process of its own for each size, side by side in one table.
 *
 *     node test/bench/memory.ts [SMALL] [LARGE] [PLOT.svg]      (default 100000 1000000: about 5 minutes, 3 GB of disk)
 *
 * Peak memory is what the operating system counted for the process (`maxRSS`); the plot shows the larger run's resident
 * memory over time. Exits with 1 where an item of the larger run takes more than 1.1 times as long, or its peak is more
 * than 1.1 times that of the smaller, or more than 600 MB.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { path, scratchFolder } from "./setup.ts"

const scratch = scratchFolder()
const reportMaxRss =
  "data:text/javascript,process.on('exit',()=>process.stderr.write(`maxRSS ${process.resourceUsage().maxRSS}\\n`))"

/** Seconds and resident MB. */
type Sample = readonly [seconds: number, megabytes: number]

const sampled = async (args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
  const said = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk: Buffer) => (said[name] += chunk))
  const begun = performance.now()
  const samples: Array<Sample> = []
  const look = () => {
    const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]
    if (rss !== undefined) samples.push([(performance.now() - begun) / 1000, Number(rss) / 1024])
  }
  const timer = setInterval(look, 250)
  const [status] = (await once(child, "exit")) as [number | null]
  clearInterval(timer)
  if (status !== 0) throw new Error(said.stderr)
  return { ...said, samples }
}

const measure = async (items: number) => {
  const input = join(scratch, `${items}.jsonl`)
  const job = join(scratch, `job-${items}`)
  spawnSync(process.execPath, [path("generate.ts"), String(items), input], { stdio: "inherit" })
  const { samples, stderr, stdout } = await sampled([
    `--import=${reportMaxRss}`, path("../../dist/bin.js"),
    "run", input, "--dir", job, "--expert", "longest", "--json",
  ]) // prettier-ignore
  const report = JSON.parse(stdout) as { readonly seconds: number; readonly dataset: { readonly rows: number } }
  const row = {
    items,
    "input MB": Math.round(statSync(input).size / 1e6),
    pairs: report.dataset.rows,
    seconds: Math.round(report.seconds),
    "items/s": Math.round(items / report.seconds),
    "peak RSS MB": Math.round(Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1024),
  }
  rmSync(job, { recursive: true })
  rmSync(input)
  return { row, samples }
}

/** Resident memory over time, as an SVG. */
const plot = (samples: ReadonlyArray<Sample>, title: string) => {
  const [width, height, left, bottom] = [720, 280, 50, 36]
  const seconds = samples.at(-1)![0]
  const most = Math.ceil(Math.max(...samples.map(([, megabytes]) => megabytes)) / 100) * 100
  const x = (at: number) => (left + (at / seconds) * (width - left - 10)).toFixed(1)
  const y = (megabytes: number) => (height - bottom - (megabytes / most) * (height - bottom - 30)).toFixed(1)
  const line = samples.map(([at, megabytes]) => `${x(at)},${y(megabytes)}`).join(" ")
  const rows = Array.from({ length: most / 100 + 1 }, (_, i) => i * 100).map(
    (megabytes) =>
      `<line x1="${left}" x2="${width - 10}" y1="${y(megabytes)}" y2="${y(megabytes)}" stroke="#ddd"/>` +
      `<text x="${left - 6}" y="${Number(y(megabytes)) + 4}" text-anchor="end">${megabytes}</text>`,
  )
  const columns = Array.from({ length: 7 }, (_, i) => (seconds / 6) * i).map(
    (at, i) =>
      `<text x="${x(at)}" y="${height - bottom + 16}" text-anchor="${i === 6 ? "end" : "middle"}">${Math.round(at)} s</text>`,
  )
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">` +
    `<rect width="${width}" height="${height}" fill="white"/><text x="${left}" y="16">${title}</text>` +
    `${rows.join("")}${columns.join("")}<polyline points="${line}" fill="none" stroke="#2563a8" stroke-width="1.5"/></svg>\n`
  )
}

const [small = "100000", large = "1000000", file] = process.argv.slice(2)
const { row: few } = await measure(Number(small))
const { row: many, samples } = await measure(Number(large))
console.table([few, many])
if (file !== undefined) writeFileSync(file, plot(samples, `Resident memory in MB, a run over ${large} items`))
const time = few["items/s"] / many["items/s"]
const memory = many["peak RSS MB"] / few["peak RSS MB"]
console.log(
  `time per item ${time.toFixed(2)} (at most 1.1), peak ${memory.toFixed(2)} (at most 1.1), ${many["peak RSS MB"]} MB (at most 600)`,
)
process.exitCode = time <= 1.1 && memory <= 1.1 && many["peak RSS MB"] <= 600 ? 0 : 1

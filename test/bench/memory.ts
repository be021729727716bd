/**
 * Whether memory grows with the input: the whole flow over generated items, in a
 * process of its own for each size, beside each other in one table.
 *
 *     node test/bench/memory.ts [SMALL] [LARGE]      (default 100000 1000000: about 5 minutes, 3 GB of disk)
 *
 * Peak memory is what the operating system counted for the process (`maxRSS`).
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-bench-"))
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const reportMaxRss =
  "data:text/javascript,process.on('exit',()=>process.stderr.write(`maxRSS ${process.resourceUsage().maxRSS}\\n`))"

const measure = (items: number) => {
  const input = join(scratch, `${items}.jsonl`)
  const job = join(scratch, `job-${items}`)
  spawnSync(process.execPath, [path("generate.ts"), String(items), input], { stdio: "inherit" })
  const { stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=prefstream-source", `--import=${reportMaxRss}`, path("../../src/bin.ts")].concat(
      ["run", input, "--dir", job, "--expert", "longest", "--json"], // prettier-ignore
    ),
    { encoding: "utf8" },
  )
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
  return row
}

const [small = "100000", large = "1000000"] = process.argv.slice(2)
const rows = [Number(small), Number(large)].map(measure)
console.table(rows)
console.log(`ratio of peaks: ${(rows[1]!["peak RSS MB"] / rows[0]!["peak RSS MB"]).toFixed(2)}`)
rmSync(scratch, { recursive: true })

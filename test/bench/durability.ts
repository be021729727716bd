/**
 * Durability's price: the whole flow with the ledger compared with the same Effect program without
 * one, by default 2,000 tasks of 50 prompts of 2 kB, in turns, each run in a process of its own.
 *
 *     node test/bench/durability.ts [TASKS] [PROMPTS] [ROUNDS]      (default 2000 50 5: about 3 minutes, 1 GB of disk)
 *
 * Both sides read the same file, speak to the same service (durabilityService.ts, a process of its
 * own that answers at once), and end with the same dataset on disk, which is checked. The program
 * without a ledger (durabilityRun.ts) keeps tasks and results in memory; one more keeps
 * nothing, and forgets each task once its pairs are written.
 *
 * Exits with 1 where the ledger's throughput is less than 0.8 of that of the program that keeps
 * nothing, by the medians. Throughput is by the clock, so the machine must have
 * nothing else to do; the processor's time, main thread and whole process, is printed, too.
 */
import { spawnSync } from "node:child_process"
import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { itemOf } from "./durabilityItems.ts"
import { median, numbers, path, scratchFolder, serveItems, writeLines } from "./setup.ts"

const [tasks, prompts, rounds] = numbers(2_000, 50, 5)
const scratch = scratchFolder()
const input = join(scratch, "items.jsonl")
await writeLines(input, tasks * prompts, (i) => JSON.stringify(itemOf(i)))
const { service, url } = await serveItems(tasks, prompts)

interface Run {
  readonly seconds: number
  /** Seconds of the processor: of the whole process, of its main thread. */
  readonly cpu: number
  readonly main: number
  readonly rss: number
  readonly dataset: string
}

const run = (side: "ledger" | "memory" | "stream") => {
  const directory = join(scratch, "job")
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=prefstream-source", path("durabilityRun.ts")].concat(
      [side, url, input, directory, String(prompts)], // prettier-ignore
    ),
    { encoding: "utf8" },
  )
  if (status !== 0) throw new Error(stderr)
  const ledger = statSync(join(directory, "ledger.db"), { throwIfNoEntry: false })?.size ?? 0
  rmSync(directory, { recursive: true })
  return { ...(JSON.parse(stdout) as Run), ledger }
}

const sides = [
  { name: "no ledger, in memory", side: "memory" },
  { name: "no ledger, nothing kept", side: "stream" },
  { name: "ledger", side: "ledger" },
] as const

const runs = sides.map((): Array<ReturnType<typeof run>> => [])
for (let round = 0; round < rounds; round++) {
  for (const [i, { side }] of sides.entries()) runs[i]!.push(run(side))
}
service.kill()
const megabytes = (statSync(input).size / 1e6).toFixed(0)

const datasets = new Set(runs.flat().map(({ dataset }) => dataset))
if (datasets.size !== 1) throw new Error(`the datasets differ: ${[...datasets].join(", ")}`)

const of = (i: number, what: "seconds" | "cpu" | "main" | "rss" | "ledger") => median(runs[i]!.map((run) => run[what]))
const ratio = (peer: number, i: number) => of(peer, "seconds") / of(i, "seconds")

console.log(`${tasks} tasks of ${prompts} prompts, ${megabytes} MB; medians of ${rounds} rounds`)
console.table(
  sides.map(({ name }, i) => ({
    run: name,
    "tasks/s": Math.round(tasks / of(i, "seconds")),
    ratio: ratio(0, i).toFixed(2),
    "to nothing kept": ratio(1, i).toFixed(2),
    seconds: of(i, "seconds").toFixed(1),
    "CPU s": of(i, "cpu").toFixed(1),
    "main thread s": of(i, "main").toFixed(1),
    "peak RSS MB": Math.round(of(i, "rss")),
    "ledger MB": Math.round(of(i, "ledger") / 1e6),
  })),
)
console.log(`throughput with a ledger ${ratio(1, 2).toFixed(2)} of that without a ledger or other state (at least 0.8)`)
process.exitCode = ratio(1, 2) >= 0.8 ? 0 : 1

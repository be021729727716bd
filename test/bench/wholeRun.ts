/**
 * A whole durable run compared with the script that one would write instead (script.ts): 50,000 items of real texts, tasks of
 * 50, and a service that answers at once (durabilityService.ts).
 *
 *     node test/bench/wholeRun.ts [ITEMS] [ROUNDS]      (default 50000 5; needs arena-hard and `npm run build`)
 *
 * In turns, each a process of its own, from its start to its end. Exits with 1 where the medians miss the targets:
 * throughput at least 1.3 times that of the script, peak memory at most 1.3 times its own.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { batchSize, prepare } from "./arenaRun.ts"
import { median, numbers, path } from "./setup.ts"

const [items, rounds] = numbers(50_000, 5)
const { command, input, job, service, url } = await prepare(items)

/** Writes what the process took to descriptor 3 in the end. */
const measuring = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from "node:fs"
  process.on("exit", () => writeSync(3, JSON.stringify(process.resourceUsage())))`)}`

const sides = {
  script: ["--conditions=prefstream-source", path("script.ts"), url, input, job, String(batchSize)],
  prefstream: command,
}

const run = (side: keyof typeof sides) => {
  const begun = performance.now()
  const { output, status } = spawnSync(process.execPath, ["--import", measuring, ...sides[side]], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    timeout: 600_000,
    env: { ...process.env, PREFSTREAM_TOKEN: "bench" },
  })
  const seconds = (performance.now() - begun) / 1000
  if (status !== 0) throw new Error(`${side} ended with ${status}: ${output[2]}`)
  const usage = JSON.parse(output[3]!) as NodeJS.ResourceUsage
  const bytes = readdirSync(job, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)
  rmSync(job, { recursive: true })
  return { seconds, cpu: (usage.userCPUTime + usage.systemCPUTime) / 1e6, rss: usage.maxRSS / 1024, bytes }
}

const names = ["script", "prefstream"] as const
const runs = { script: [] as Array<ReturnType<typeof run>>, prefstream: [] as Array<ReturnType<typeof run>> }
for (let round = 0; round < rounds; round++) for (const name of names) runs[name].push(run(name))
service.kill()

const of = (name: (typeof names)[number], what: keyof ReturnType<typeof run>) =>
  median(runs[name].map((run) => run[what]))
const throughput = of("script", "seconds") / of("prefstream", "seconds")
const memory = of("prefstream", "rss") / of("script", "rss")

console.log(`${items} items, ${(statSync(input).size / 1e6).toFixed(0)} MB; medians of ${rounds} rounds`)
console.table(
  names.map((name) => ({
    run: name,
    seconds: of(name, "seconds").toFixed(1),
    "items/s": Math.round(items / of(name, "seconds")),
    "CPU s": of(name, "cpu").toFixed(1),
    "peak RSS MB": Math.round(of(name, "rss")),
    "written MB": Math.round(of(name, "bytes") / 1e6),
  })),
)
console.log(`throughput ${throughput.toFixed(2)} (at least 1.3), memory ${memory.toFixed(2)} (at most 1.3)`)
process.exitCode = throughput >= 1.3 && memory <= 1.3 ? 0 : 1

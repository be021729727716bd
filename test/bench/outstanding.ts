/**
 * Whether 100,000 outstanding tasks cost no more than was set: a collector in a process of its
 * own, over a ledger that holds them all, with fewer requests than it would take to look at each
 * in time; the requests are counted where they arrive.
 *
 *     node --conditions=prefstream-source test/bench/outstanding.ts [TASKS] [PER SECOND] [SECONDS]     (default 100000 500 240: about 6 minutes)
 *
 * Where the machine is busy, this process may stop for a moment, and then sees what was under way
 * meanwhile at once: at most 32 requests (`--concurrency`) more in a second than were sent in it.
 *
 * It is started three times: first it polls, and is told meanwhile, by 400 webhooks at once, of a
 * fifth of the tasks; the second time it is killed; the third time it goes on from there.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { secret, signed } from "../support/webhooks.ts"
import { newTasks, nothing } from "../task/support.ts"
import { numbers, path, scratchFolder } from "./setup.ts"

const [tasks, perSecond, seconds] = numbers(100_000, 500, 240)
const scratch = scratchFolder()
const filename = join(scratch, "ledger.db")
const prefstream = ["--conditions=prefstream-source", path("../../src/bin.ts")]

/** What a collector's heap holds when it was just cleared, in MB, every ten seconds. */
const reportHeap =
  "data:text/javascript,setInterval(()=>{gc();process.stderr.write(`heap ${Math.round(process.memoryUsage().heapUsed/1e6)}\\n`)},1e4).unref()"
const heaps = (said: string) => Array.from(said.matchAll(/^heap (\d+)$/gm), ([, megabytes]) => Number(megabytes))

/** A service on which nothing is ever done, and what it has seen. */
const arrivals: Array<number> = []
const looks = new Map<string, number>()
let order: Array<string> = []
const server = createServer((request, response) => {
  const id = (request.url ?? "").split("/").at(-1)!
  arrivals.push(performance.now())
  looks.set(id, (looks.get(id) ?? 0) + 1)
  order.push(id)
  response.writeHead(200, { "content-type": "application/json" })
  response.end(`{"task_id":"${id}","status":"in_progress"}`)
})
server.listen(0, "127.0.0.1")
await once(server, "listening")
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`

/** As if all had been submitted over the last week, and the last run had ended a minute ago. */
const filled = Effect.gen(function* () {
  const ledger = yield* Ledger
  const sql = yield* SqlClient.SqlClient
  const run = yield* ledger.startRun()
  const step = 5_000
  for (let first = 0; first < tasks; first += step) {
    const planned = newTasks(Math.min(step, tasks - first), first)
    const counts = { ...nothing, read: first + planned.length, new: first + planned.length }
    yield* ledger.record(run, { tasks: planned, known: [], rejects: [], counts, finished: first + step >= tasks })
  }
  yield* ledger.bindService(baseUrl, false)
  const now = Date.now()
  const week = 7 * 24 * 3_600_000
  yield* sql`UPDATE task SET state = 'submitted', task_id = 'task_' || seq, submitted_at = ${now - week} + seq * ${week} / ${tasks},
    sent_at = ${now - week} + seq * ${week} / ${tasks}, due_at = ${now - 60_000} + (seq * 7919) % 300000`
}).pipe(
  Effect.provide(
    Ledger.layer().pipe(
      Layer.provideMerge(SqliteClient.layer({ filename, synchronous: "normal" })),
      Layer.provideMerge(NodeServices.layer),
    ),
  ),
)

const env = {
  ...process.env,
  PREFSTREAM_BASE_URL: baseUrl,
  PREFSTREAM_TOKEN: "token",
  PREFSTREAM_WEBHOOK_SECRET: secret,
}

/** Starts a collector; tells the time to its first request. */
const start = async () => {
  const before = arrivals.length
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [
      "--expose-gc",
      `--import=${reportHeap}`,
      ...prefstream,
      "collect",
      "--dir",
      scratch,
      "--requests-per-second",
      String(perSecond),
      "--listen",
      "0",
      "--concurrency",
      "32",
    ],
    { env, stdio: ["ignore", "ignore", "pipe"] },
  )
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  while (arrivals.length === before && child.exitCode === null) await sleep(1)
  if (child.exitCode !== null) throw new Error(said)
  const first = Math.round(arrivals[before]! - began)
  return { child, first, said: () => said }
}

const memory = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
const cpuSeconds = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** The most requests that arrived within so many milliseconds. */
const mostWithin = (times: ReadonlyArray<number>, span: number) => {
  let most = 0
  for (let i = 0, from = 0; i < times.length; i++) {
    while (times[i]! - times[from]! >= span) from++
    most = Math.max(most, i - from + 1)
  }
  return most
}

const rows: Array<Record<string, string | number>> = []
const watch = async (what: string, pid: number, forSeconds: number) => {
  const from = arrivals.length
  const cpu = cpuSeconds(pid)
  const sizes: Array<number> = []
  for (let i = 0; i < forSeconds; i++) {
    await sleep(1000)
    sizes.push(memory(pid))
  }
  const times = arrivals.slice(from)
  rows.push({
    what,
    seconds: forSeconds,
    "requests/s": Math.round(times.length / forSeconds),
    "most in 1 s": mostWithin(times, 1_000),
    "most in 10 s": mostWithin(times, 10_000),
    "RSS MB first": Math.round(sizes[0]!),
    "RSS MB most": Math.round(Math.max(...sizes)),
    "RSS MB last": Math.round(sizes.at(-1)!),
    "CPU %": Math.round((100 * (cpuSeconds(pid) - cpu)) / forSeconds),
  })
}

const hints = async (url: string) => {
  const told = Array.from({ length: tasks / 5 }, (_, i) => `task_${i * 5}`)
  const portions = Array.from({ length: 400 }, (_, i) =>
    told.slice((i * told.length) / 400, ((i + 1) * told.length) / 400),
  )
  order = []
  const began = performance.now()
  const answers = await Promise.all(
    portions.map(async (task_ids) => {
      const { body, headers } = signed({ type: "task_group.completed", data: { task_ids } })
      const { status } = await fetch(url, { method: "POST", headers, body })
      return status
    }),
  )
  return {
    told: new Set(told),
    accepted: answers.filter((status) => status === 204).length,
    ms: Math.round(performance.now() - began),
  }
}

const began = performance.now()
await Effect.runPromise(filled)
console.log(
  `${tasks} outstanding tasks in ${Math.round(statSync(filename).size / 1e6)} MB, written in ${Math.round((performance.now() - began) / 1000)} s`,
)

const one = await start()
await watch("polling", one.child.pid!, Math.round(seconds / 2))
const [, url = ""] = /Webhooks are received at (\S+)/.exec(one.said()) ?? []
const burst = await hints(url)
await watch("after 400 webhooks", one.child.pid!, Math.round(seconds / 2))
const hinted = order.slice(0, burst.told.size)
const status = Array.from({ length: 3 }, () => {
  const from = performance.now()
  const { status } = spawnSync(process.execPath, [...prefstream, "status", "--dir", scratch], { env, stdio: "ignore" })
  return `${Math.round(performance.now() - from)} ms (exit ${status})`
})
one.child.kill("SIGTERM")
const [stopped] = await once(one.child, "close")

const two = await start()
await sleep(5_000)
two.child.kill("SIGKILL")
await once(two.child, "close")
const three = await start()
await watch("after a kill", three.child.pid!, 10)
three.child.kill("SIGTERM")
await once(three.child, "close")

console.table(rows)
console.log(`heap after each collection of garbage, in MB, every 10 s: ${heaps(one.said()).join(" ")}`)
console.log(`ms from start to first request: ${[one, two, three].map(({ first }) => first).join(", ")}`)
console.log(
  `burst: ${burst.accepted} of 400 webhooks accepted in ${burst.ms} ms; of the next ${hinted.length} looks, ${hinted.filter((id) => burst.told.has(id)).length} were at tasks that they told of`,
)
console.log(`tasks that were looked at: ${looks.size}; the most looks at one: ${Math.max(...looks.values())}`)
console.log(`status, as a process: ${status.join(", ")}; SIGTERM ended it with ${String(stopped)}`)
console.log(
  one
    .said()
    .split("\n")
    .filter((line) => !/judged|^heap/.test(line))
    .join("\n"),
)
server.close()
server.closeAllConnections()

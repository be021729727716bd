/**
 * Whether the annotation service stays fast and small when much is stored: by default
 * 20,000 tasks of 50 prompts, half of them completed. Latencies of `GET /v1/tasks/{id}` with 64
 * clients that ask 40 times a second each, and without a pause; of the dashboard's reads, and the service's memory,
 * compared with a peer: node:http and node:sqlite by hand, over the same file.
 *
 *     node test/bench/service.ts [TASKS] [PROMPTS]      (default 20000 50: about a minute and a half, 0.5 GB of disk)
 *
 * The clients run in this process, service and peer each in one of its own, on the same machine.
 * Exits with 1 where 64 clients without a pause get less than half of the peer's rate or wait more than twice as long
 * (p99 of the median round), or memory grows by more than a quarter from the first GETs to the last.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { Agent, request } from "node:http"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { congruential, numbers, path, scratchFolder } from "./setup.ts"

const [tasks, prompts] = numbers(20_000, 50)
const clients = 64
const token = "bench-token"
const database = join(scratchFolder(), "service.db")

// Processes

interface Server {
  readonly origin: string
  readonly said: string
  readonly stop: () => Promise<void>
  /** Resident memory now, in MB. */
  readonly rss: () => number
}

const started = async (args: ReadonlyArray<string>): Promise<Server> => {
  const child = spawn(process.execPath, ["--conditions=prefstream-source", ...args], {
    env: { ...process.env, PREFSTREAM_TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  while (!/PREFSTREAM_BASE_URL=\S+\n/.test(said)) {
    if (child.exitCode !== null) throw new Error(said)
    await once(child.stdout, "data")
  }
  const origin = /PREFSTREAM_BASE_URL=(\S+)\/v1/.exec(said)![1]!
  return {
    origin,
    said,
    stop: async () => {
      child.kill("SIGTERM")
      await once(child, "close")
    },
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024,
  }
}

const service = (...flags: ReadonlyArray<string>) =>
  started([
    path("../../src/bin.ts"),
    "serve",
    "--database",
    database,
    "--port",
    "0",
    "--rate-limit",
    "100000",
    ...flags,
  ])

// Requests

const agent = new Agent({ keepAlive: true, maxSockets: clients })

interface Answer {
  readonly status: number
  readonly body: string
  readonly cookie: string | undefined
}

const ask = (method: string, url: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          body: Buffer.concat(chunks).toString(),
          cookie: response.headers["set-cookie"]?.[0]?.split(";")[0],
        }),
      )
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })

const bearer = { authorization: `Bearer ${token}` }

/**
 * `times` calls by `clients` at once, each after the other; latencies in milliseconds, sorted.
 *
 * @param every milliseconds from one call of a client to its next, where the answer is there by then;
 *   0: without a pause, so that the latency is that of a queue of 64, whatever one call takes
 */
const hammer = async (times: number, call: (i: number) => Promise<Answer>, { every = 0, expected = 200 } = {}) => {
  const latencies: Array<number> = []
  let next = 0
  const start = performance.now()
  const client = async () => {
    if (every > 0) await setTimeout(Math.random() * every)
    while (next < times) {
      const from = performance.now()
      const answer = await call(next++)
      latencies.push(performance.now() - from)
      if (answer.status !== expected) throw new Error(`${answer.status}: ${answer.body}`)
      const left = every - (performance.now() - from)
      if (left > 0) await setTimeout(left)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  return { latencies, perSecond: times / seconds }
}

const at = (latencies: ReadonlyArray<number>, share: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!.toFixed(1)

const row = (what: string, { latencies, perSecond }: Awaited<ReturnType<typeof hammer>>) => ({
  what,
  calls: latencies.length,
  "per second": Math.round(perSecond),
  "p50 ms": at(latencies, 0.5),
  "p99 ms": at(latencies, 0.99),
  "max ms": at(latencies, 1),
})

/** One after the other, for what one operator asks. */
const alone = async (what: string, times: number, call: (i: number) => Promise<Answer>) => {
  const latencies: Array<number> = []
  const start = performance.now()
  for (let i = 0; i < times; i++) {
    const from = performance.now()
    const answer = await call(i)
    latencies.push(performance.now() - from)
    if (answer.status !== 200) throw new Error(`${what}: ${answer.status}: ${answer.body}`)
  }
  latencies.sort((a, b) => a - b)
  return row(what, { latencies, perSecond: times / ((performance.now() - start) / 1000) })
}

// What is stored

const words = "the of and to in is you that it he was for on are as with his they at be this have from or one".split(
  " ",
)
const next = congruential(42)
const random = (n: number) => next() % n
const text = (length: number) => Array.from({ length }, () => words[random(words.length)]).join(" ")

const taskBody = (task: number) =>
  JSON.stringify({
    task_type: "rlhf_ranking",
    prompts: Array.from({ length: prompts }, (_, i) => ({
      prompt: `${task}.${i}: ${text(20)}?`,
      completions: [text(30), text(40)],
    })),
  })

const ids: Array<string> = []
const create = (count: number) =>
  hammer(
    count,
    async (i) => {
      const answer = await ask(
        "POST",
        `${server.origin}/v1/tasks`,
        { ...bearer, "content-type": "application/json" },
        taskBody(ids.length + i),
      )
      if (answer.status === 201) ids.push((JSON.parse(answer.body) as { readonly task_id: string }).task_id)
      return answer
    },
    { expected: 201 },
  )

const memory: Array<{ readonly when: string; readonly "RSS MB": number }> = []
const remember = (when: string) => memory.push({ when, "RSS MB": Math.round(server.rss()) })

const rows: Array<ReturnType<typeof row>> = []
const half = Math.floor(tasks / 2)

let server = await service("--expert", "longest")
const origin = () => server.origin
remember("started")
rows.push(row(`POST, experts at work (first ${half})`, await create(half)))
remember(`${half} tasks`)

// Signed in by the link of the first start.
const [, code] = /#set-up=([\w-]+)/.exec(server.said) ?? []
if (code === undefined) throw new Error(`no sign-in link in: ${server.said}`)
const setUp = await ask(
  "POST",
  `${origin()}/dashboard/api/set-up`,
  { "content-type": "application/json", origin: origin() },
  JSON.stringify({ code, name: "bench", password: "a long password for the bench" }),
)
if (setUp.cookie === undefined) throw new Error(`${setUp.status}: ${setUp.body}`)
const operator = { cookie: setUp.cookie }
const dashboard = (what: string) => ask("GET", `${origin()}/dashboard/api${what}`, operator)

interface Overview {
  readonly tasks: { readonly completed: number }
}
while ((JSON.parse((await dashboard("/overview")).body) as Overview).tasks.completed < half) {
  await setTimeout(500)
}
remember("half judged")
await server.stop()
server = await service()
remember("restarted, no experts")
rows.push(row(`POST, no experts (${half} more)`, await create(tasks - half)))
remember(`${tasks} tasks`)

// Reads
const anyTask = () => ids[random(ids.length)]!
const calls = 20_000
/** What comes is counted, not kept: the clients share the machine with the service. */
const get = () =>
  new Promise<Answer>((resolve, reject) => {
    const sent = request(`${origin()}/v1/tasks/${anyTask()}`, { agent, headers: bearer }, (response) => {
      let bytes = 0
      response.on("data", (chunk: Buffer) => (bytes += chunk.length))
      response.on("end", () => resolve({ status: response.statusCode!, body: `${bytes} bytes`, cookie: undefined }))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end()
  })
await hammer(2_000, get)
remember("warmed up")
for (let round = 1; round <= 3; round++) {
  rows.push(row(`GET, ${clients} clients without a pause, round ${round}`, await hammer(calls, get)))
  remember(`after ${calls * round} GETs`)
}
for (let round = 1; round <= 3; round++) {
  rows.push(
    row(`GET, ${clients} clients, 40 a second each, round ${round}`, await hammer(calls / 2, get, { every: 25 })),
  )
}

const first = JSON.parse((await dashboard("/tasks")).body) as { readonly next: number }
rows.push(await alone("dashboard: overview", 200, () => dashboard("/overview")))
rows.push(await alone("dashboard: newest tasks", 200, () => dashboard("/tasks")))
rows.push(await alone("dashboard: tasks in the middle", 200, () => dashboard(`/tasks?before=${first.next >> 1}`)))
rows.push(await alone("dashboard: completed tasks", 200, () => dashboard("/tasks?status=completed")))
rows.push(await alone("dashboard: one task", 200, () => dashboard(`/tasks/${anyTask()}`)))
rows.push(await alone("dashboard: experts", 200, () => dashboard("/experts")))
remember("after the dashboard's reads")
await server.stop()

// The peer
server = await started([path("servicePeer.ts"), database, token])
await hammer(2_000, get)
const peer = row(`peer: GET, ${clients} clients without a pause`, await hammer(calls, get))
const pacedPeer = row(`peer: GET, ${clients} clients, 40 a second each`, await hammer(calls / 2, get, { every: 25 }))
rows.push(peer, pacedPeer)
await server.stop()

console.table(rows)
console.table(memory)
console.log(`${tasks} tasks of ${prompts} prompts: ${Math.round(statSync(database).size / 1e6)} MB`)
agent.destroy()

/** Of the median round. */
const p99 = (how: string) =>
  rows
    .filter(({ what }) => what.startsWith(`GET, ${clients} clients${how}`))
    .map((row) => Number(row["p99 ms"]))
    .toSorted((a, b) => a - b)[1]!
const rssAt = (when: string) => memory.find((entry) => entry.when === when)!["RSS MB"]
const growth = rssAt(`after ${calls * 3} GETs`) / rssAt("warmed up")
console.log(`p99 of GET: ${p99(", 40 a second")} ms (peer ${pacedPeer["p99 ms"]} ms)`)
console.log(`memory over ${calls * 3} GETs: ${growth.toFixed(2)}`)
const own = rows.find(({ what }) => what.endsWith("without a pause, round 2"))!
const rate = own["per second"] / peer["per second"]
const wait = p99(" without a pause") / Number(peer["p99 ms"])
console.log(`without a pause: rate ${rate.toFixed(2)} of the peer's (at least 0.5), p99 ${wait.toFixed(2)} (at most 2)`)
process.exitCode = rate >= 0.5 && wait <= 2 && growth < 1.25 ? 0 : 1

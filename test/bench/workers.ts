/**
 * How many requests 1, 2 and 4 workers send together to a service that answers after 50 ms, 2 at once each; how well
 * they keep to a limit of requests per second, counted at the service over any 10 s; and how soon the result of a task is in
 * the ledger after its webhook has come to a worker that does not own it.
 *
 *     node test/bench/workers.ts [SECONDS]      (default 20: about 3 minutes; needs `npm run build` and PostgreSQL)
 *
 * Exits with 1 where four workers send less than 3.2 times as much as one, or more than 2% above the limit, or where the
 * median of the results takes more than a second.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { median, numbers, path, scratchFolder, writeLines } from "./setup.ts"
import { Server } from "../support/postgres.ts"

const [seconds] = numbers(20)
const scratch = scratchFolder()
const program = path("../../dist/bin.js")
const lineOf = (i: number) => JSON.stringify({ id: `${i}`, prompt: `Question ${i}?`, completions: ["a", "b"] })
const input = join(scratch, "items.jsonl")
await writeLines(input, 40_000, lineOf)

/** Few enough to be sent before the first webhook comes: what is measured is not the queue of requests. */
const few = join(scratch, "few.jsonl")
await writeLines(few, 100, lineOf)

const answerAfter = 50
let requests: Array<number> = []
let tasks = 0
/** Where webhooks go, if anywhere; and when each task's went, in epoch milliseconds. */
let hook: string | undefined
const hooked = new Map<string, number>()
const bodies = new Map<string, { readonly prompts: ReadonlyArray<{ readonly prompt: string }> }>()
const secret = "a secret of the bench"

/** When all tasks have been sent, at different times. */
const complete = async (id: string) => {
  await setTimeout(5_000 + bodies.size * 100)
  if (hook === undefined) return
  hooked.set(id, Date.now())
  // At the end of a measurement, nobody listens any more.
  await fetch(hook, {
    method: "POST",
    headers: { "content-type": "application/json", "x-secret": secret },
    body: JSON.stringify({ task_id: id }),
  }).catch(() => undefined)
}

const service = createServer((request, response) => {
  requests.push(performance.now())
  const chunks: Array<Buffer> = []
  const answer = () => {
    const isNew = request.method === "POST"
    const id = isNew ? `task_${tasks++}` : request.url!.split("/").at(-1)!
    if (isNew && hook !== undefined) {
      bodies.set(id, JSON.parse(Buffer.concat(chunks).toString()))
      void complete(id)
    }
    const results = bodies.get(id)?.prompts.map(({ prompt }) => ({ prompt, best_completion_index: 0, annotations: {} }))
    const status = hooked.has(id) ? { status: "completed", results } : { status: "pending" }
    response.writeHead(isNew ? 201 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify({ task_id: id, ...status }))
  }
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => void setTimeout(answerAfter).then(answer))
}).listen(0, "127.0.0.1")
await once(service, "listening")
const server = await Server.make()

/** Requests' times over `seconds`, from when each worker has parts; with `listen`, webhooks go to the first one. */
const measure = async (count: number, perSecond: number, listen = false) => {
  const schema = server.newSchema()
  const env = {
    ...process.env,
    PREFSTREAM_LEDGER: server.url(schema),
    PREFSTREAM_BASE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`,
    PREFSTREAM_TOKEN: "bench",
    PREFSTREAM_WEBHOOK_SECRET: secret,
  }
  const flags = [
    "--batch-size",
    "1",
    "--concurrency",
    String(2 * count),
    "--requests-per-second",
    String(perSecond),
    "--poll-min",
    "1h",
    "--poll-max",
    "1h",
  ]
  const workers = Array.from({ length: count }, (_, i): ChildProcess =>
    spawn(
      process.execPath,
      [
        program,
        "worker",
        listen ? few : input,
        ...flags,
        ...(listen ? listening : []),
        "--dir",
        join(scratch, `${schema}-${i}`),
      ],
      { env, stdio: ["ignore", "ignore", "pipe"] },
    ),
  )
  let said = ""
  for (const [i, { stderr }] of workers.entries()) {
    stderr?.on("data", (chunk: Buffer) => {
      if (i === 0) said += chunk.toString()
    })
  }
  const owners = () => {
    try {
      return Number(server.psql("SELECT COUNT(DISTINCT owner) FROM part_owner WHERE part >= 0", schema))
    } catch {
      return 0
    }
  }
  while (owners() < count) await setTimeout(200)
  if (!listen) await setTimeout(3_000)
  if (listen) hook = /received at (\S+)/.exec(said)?.[1]
  requests = []
  await setTimeout(seconds * 1_000)
  const times = requests
  const others = server.psql(
    `SELECT task_id, completed_at FROM task JOIN part_owner USING (job, part)
      WHERE completed_at IS NOT NULL AND owner <> '${/^Worker (\S+)/m.exec(said)?.[1]}'`,
    schema,
  )
  for (const worker of workers) {
    worker.kill("SIGKILL")
    await once(worker, "exit")
  }
  return { times, others: others.split("\n").flatMap((line) => (line === "" ? [] : [line.split("|")])) }
}

const listening = [
  "--listen", "0", "--webhook-scheme", "shared-secret; header=x-secret",
  "--webhook-task-ids", "task_id", "--webhook-delivery-id", "task_id",
] // prettier-ignore

const rows: Array<{ readonly workers: number; readonly "requests/s": number; readonly times: number }> = []
for (const workers of [1, 2, 4]) {
  const perSecond = (await measure(workers, 10_000)).times.length / seconds
  rows.push({
    workers,
    "requests/s": Math.round(perSecond),
    times: Number((perSecond / (rows[0]?.["requests/s"] ?? perSecond)).toFixed(2)),
  })
}
console.table(rows)

const limit = 50
const { times } = await measure(4, limit)
let most = 0
for (let first = 0, last = 0; last < times.length; last++) {
  while (times[last]! - times[first]! > 10_000) first++
  most = Math.max(most, last - first + 1)
}
const { others } = await measure(2, 1_000, true)
const delays = others.map(([id = "", at]) => Number(at) - hooked.get(id)!)
const delay = median(delays)

await server.close()
service.close()
const above = most / (10 * limit)
const { times: speedup } = rows.at(-1)!
console.log(
  `four workers ${speedup} times one (at least 3.2); most in 10 s ${above.toFixed(3)} of the limit (at most 1.02); ${delay} ms from webhook to result, median of ${delays.length} (at most 1000)`,
)
process.exitCode = speedup >= 3.2 && above <= 1.02 && delay <= 1_000 ? 0 : 1

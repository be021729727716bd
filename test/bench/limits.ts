/**
 * What each stage of a whole run costs at least: the same bytes through the one call of Node that the stage must
 * make, in a separate process. Complements `wholeRun.ts`.
 *
 *     node --conditions=prefstream-source test/bench/limits.ts [ITEMS]      (default 50000; needs arena-hard)
 *
 * Seconds, microseconds an item, and MB of input a second.
 */
import { createHash } from "node:crypto"
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { Agent, request } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { constants, zstdCompressSync } from "node:zlib"
import { itemOf } from "./arenaItems.ts"
import { numbers, scratchFolder, serveItems, writeLines } from "./setup.ts"

const [items] = numbers(50_000)
const batch = 50
const scratch = scratchFolder()
await writeLines(join(scratch, "items.jsonl"), items, (i) => JSON.stringify(itemOf(i)))

const rows: Array<object> = []
const stage = async <A>(name: string, bytes: number, work: () => A | Promise<A>): Promise<A> => {
  const begun = performance.now()
  const result = await work()
  const seconds = (performance.now() - begun) / 1000
  const perItem = Math.round((seconds / items) * 1e6)
  rows.push({ stage: name, seconds: seconds.toFixed(2), "µs/item": perItem, "MB/s": Math.round(bytes / 1e6 / seconds) })
  return result
}

const input = readFileSync(join(scratch, "items.jsonl"))
const size = input.length

const lines = await stage("read: split into lines", size, () => {
  const lines: Array<Buffer> = []
  for (let at = 0, end: number; (end = input.indexOf(10, at)) >= 0; at = end + 1) lines.push(input.subarray(at, end))
  return lines
})
const parsed = await stage("read: decode and parse", size, () =>
  lines.map((line) => JSON.parse(line.toString()) as ReturnType<typeof itemOf>),
)
const encoded = await stage("plan: each item as JSON in UTF-8", size, () =>
  parsed.map(({ completions, prompt }) => Buffer.from(JSON.stringify({ prompt, completions }))),
)
await stage("plan: SHA-256 of each item", size, () =>
  encoded.map((bytes) => createHash("sha256").update(bytes).digest("hex")),
)
const bodies = Array.from({ length: Math.ceil(items / batch) }, (_, i) =>
  Buffer.concat([
    Buffer.from('{"task_type":"rlhf_ranking","prompts":['),
    ...encoded
      .slice(i * batch, (i + 1) * batch)
      .flatMap((bytes, at) => (at === 0 ? [bytes] : [Buffer.from(","), bytes])),
    Buffer.from("]}"),
  ]),
)

const database = new DatabaseSync(join(scratch, "ledger.db"))
database.exec("PRAGMA journal_mode = WAL; CREATE TABLE task_request (seq INTEGER PRIMARY KEY, body BLOB)")
await stage("ledger: store each request", size, () => {
  const insert = database.prepare("INSERT INTO task_request VALUES (?, ?)")
  for (const [seq, body] of bodies.entries()) insert.run(seq, body)
})

const { service, url } = await serveItems(bodies.length, batch, "./arenaItems.ts")
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const ask = (method: string, path: string, body?: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent, headers: { "content-type": "application/json" } }, (got) => {
      const chunks: Array<Buffer> = []
      got.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks)))
    })
    sent.on("error", reject).end(body)
  })
await stage("send: POST each task, 64 at a time", size, () =>
  Promise.all(bodies.map((body) => ask("POST", "/tasks", body))),
)
const answers = await stage("collect: GET each task, 64 at a time", size, () =>
  Promise.all(bodies.map((_, i) => ask("GET", `/tasks/task_${i}`))),
)
agent.destroy()
service.kill()
await stage("collect: parse each answer", size, () => answers.map((answer) => JSON.parse(answer.toString()) as unknown))

const stored = await stage("export: read each request back", size, () =>
  database.prepare("SELECT body FROM task_request ORDER BY seq").all(),
)
await stage("export: parse each request", size, () =>
  stored.map(({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()) as unknown),
)
database.close()
const texts = await stage("export: JSON Lines of pairs", size, () =>
  parsed.map(({ completions: [chosen, rejected], prompt }) =>
    Buffer.from(`${JSON.stringify({ prompt, chosen, rejected })}\n`),
  ),
)
await stage("export: write and sync them", size, () => {
  const file = openSync(join(scratch, "pairs.jsonl"), "w")
  for (let i = 0; i < texts.length; i += 1_000) writeSync(file, Buffer.concat(texts.slice(i, i + 1_000)))
  fsyncSync(file)
  closeSync(file)
})
await stage("export: zstd of the texts, as in Parquet", size, () => {
  for (let i = 0; i < texts.length; i += 1_000) {
    zstdCompressSync(Buffer.concat(texts.slice(i, i + 1_000)), { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
  }
})

console.log(`${items} items, ${(size / 1e6).toFixed(0)} MB`)
console.table(rows)

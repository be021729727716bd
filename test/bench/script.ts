/**
 * The peer of wholeRun.ts: the script that one would write instead, nothing durable.
 * `script.ts URL INPUT FOLDER PROMPTS`
 */
import { createReadStream, mkdirSync } from "node:fs"
import { createInterface } from "node:readline"
import pLimit from "p-limit"
import parquet from "parquetjs-lite"

const [url, input, folder, batchSize] = process.argv.slice(2) as [string, string, string, string]
const size = Number(batchSize)
const limit = pLimit(64)

interface Item {
  readonly id: string
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
}

mkdirSync(folder, { recursive: true })
const schema = new parquet.ParquetSchema({
  id: { type: "UTF8" },
  prompt: { type: "UTF8" },
  chosen: { type: "UTF8" },
  rejected: { type: "UTF8" },
})
const writer = await parquet.ParquetWriter.openFile(schema, `${folder}/pairs.parquet`)

const request = async (path: string, init: RequestInit = {}) => {
  const headers = { authorization: "Bearer bench", "content-type": "application/json" }
  const response = await fetch(`${url}${path}`, { ...init, headers })
  if (!response.ok) throw new Error(`${response.status}`)
  return response.json()
}

let pairs = 0
const judge = async (items: ReadonlyArray<Item>) => {
  const prompts = items.map(({ completions, prompt }) => ({ prompt, completions }))
  const body = JSON.stringify({ task_type: "rlhf_ranking", prompts, guidelines: "Prefer the one that is correct." })
  const { task_id } = await request("/tasks", { method: "POST", body })
  for (;;) {
    const task = await request(`/tasks/${task_id}`)
    if (task.status === "completed") {
      for (const [i, { best_completion_index }] of task.results.entries()) {
        const { completions, id, prompt } = items[i]!
        for (const [k, rejected] of completions.entries()) {
          if (k === best_completion_index) continue
          await writer.appendRow({ id, prompt, chosen: completions[best_completion_index]!, rejected })
          pairs++
        }
      }
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

const running = new Set<Promise<void>>()
let batch: Array<Item> = []
const send = async () => {
  const task = limit(judge, batch)
  batch = []
  running.add(task)
  void task.then(() => running.delete(task))
  if (running.size >= 128) await Promise.race(running)
}
for await (const line of createInterface({ input: createReadStream(input) })) {
  batch.push(JSON.parse(line))
  if (batch.length === size) await send()
}
if (batch.length > 0) await send()
await Promise.all(running)
await writer.close()
console.log(`${pairs} pairs`)

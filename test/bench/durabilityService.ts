/**
 * The annotation service of durability.ts and wholeRun.ts: node:http by hand, much faster than any client.
 * It takes a task and has judged it at once; it reads no more of a request than the ordinal
 * that its first prompt begins with, by which the answers were made before the start.
 * `durabilityService.ts TASKS PROMPTS [ITEMS]`, by default with the items of durabilityItems.ts; its address is a line on stdout.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type * as Items from "./durabilityItems.ts"
const [tasks, prompts] = process.argv.slice(2, 4).map(Number) as [number, number]
const { itemOf, rationaleOf } = (await import(process.argv[4] ?? "./durabilityItems.ts")) as typeof Items

const answers = Array.from({ length: tasks }, (_, task) =>
  Buffer.from(
    JSON.stringify({
      task_id: `task_${task}`,
      status: "completed",
      results: Array.from({ length: prompts }, (_, i) => {
        const ordinal = task * prompts + i
        return {
          prompt: itemOf(ordinal).prompt,
          best_completion_index: ordinal % 2,
          annotations: { rationale: rationaleOf(ordinal) },
        }
      }),
    }),
  ),
)

const server = createServer((request, response) => {
  response.setHeader("content-type", "application/json")
  if (request.method === "GET") {
    const answer = answers[Number(/task_(\d+)$/.exec(request.url!)?.[1])]
    response.statusCode = answer === undefined ? 404 : 200
    return void response.end(answer)
  }
  let head: Buffer | undefined
  request.on("data", (chunk: Buffer) => (head ??= chunk))
  request.on("end", () => {
    const ordinal = Number(/"prompt":"(\d+): /.exec(head!.toString("latin1", 0, 4_096))![1])
    response.statusCode = 201
    response.end(`{"task_id":"task_${Math.floor(ordinal / prompts)}","status":"pending"}`)
  })
})
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
})

/**
 * The peer of service.ts: `GET /v1/tasks/{id}` with node:http and node:sqlite by hand, with
 * nothing but the token looked at. `servicePeer.ts DATABASE TOKEN`; its address is a line on stdout.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"

const [, , file = "", token = ""] = process.argv
const select = new DatabaseSync(file, { readOnly: true }).prepare(
  `SELECT task.status, task_result.answer FROM task LEFT JOIN task_result ON task_result.seq = task.seq WHERE task_id = ?`,
)

const server = createServer((request, response) => {
  if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end()
  const id = request.url!.slice("/v1/tasks/".length)
  const found = select.get(id) as { readonly status: string; readonly answer: string | null } | undefined
  if (found === undefined) return void response.writeHead(404).end()
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(found.answer ?? `{"task_id":"${id}","status":"${found.status}"}`)
})
server.listen(0, "127.0.0.1", () => {
  console.log(`PREFSTREAM_BASE_URL=http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
})
process.on("SIGTERM", () => process.exit(0))

/**
 * Verifies the webhooks of any service in your own server, without a job. Here, the service signs time and body.
 *
 *     WEBHOOK_SECRET=… npx node pipelines/webhooks.ts
 */
import { createServer } from "node:http"
import * as Webhooks from "prefstream/webhooks"

const options: Webhooks.HandlerOptions = {
  scheme: { header: "x-signature", signed: "{timestamp}.{body}", timestamp: "x-timestamp" },
  secrets: [process.env["WEBHOOK_SECRET"] ?? ""],
}

/** For Fetch: `export const POST = …` in Next.js, `(c) => receive(c.req.raw)` in Hono, `fetch` in Bun and Deno. */
export const receive = Webhooks.fetchHandler(options, ({ text, timestamp }) => {
  process.stdout.write(`sent at ${timestamp}: ${text}\n`)
  return Response.json({ received: true })
})

/** For `node:http`, and for Express if no middleware has parsed the body. */
const listener = Webhooks.nodeHandler(options, ({ text, timestamp }) => {
  process.stdout.write(`sent at ${timestamp}: ${text}\n`)
})

const server = createServer((request, response) => void listener(request, response))
server.listen(Number(process.env["PORT"] ?? 8485), "127.0.0.1")

/** A JSON API on loopback, whose state is in memory: what the fakes of services have in common. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

export interface ApiRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  /** The parsed body; undefined if there is none. */
  readonly body: unknown
}

export interface ApiAnswer {
  readonly status: number
  readonly body?: unknown
}

/** A request that fails to be answered gets 500, as an unforeseen error does. */
export const serve = async (answer: (request: ApiRequest) => ApiAnswer) => {
  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString()
      const { headers, method = "", url = "" } = incoming
      let result: ApiAnswer
      try {
        const body: unknown = text === "" ? undefined : JSON.parse(text)
        result = answer({ method, url: new URL(url, "http://fake"), headers, body })
      } catch (error) {
        result = { status: 500, body: { detail: String(error) } }
      }
      response.writeHead(result.status, { "content-type": "application/json" })
      response.end(result.body === undefined ? "" : JSON.stringify(result.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

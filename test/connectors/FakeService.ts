/**
 * A fake of an annotation service: a real HTTP server on loopback, in memory. It makes no faults by itself; `disturb`
 * stands in for what is between a client and the service.
 */
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import type { JudgingOptions } from "prefstream/testing"

export interface FakeService {
  readonly baseUrl: string
  readonly token: string
  /** The prompts of all tasks created so far, in order of creation: a prompt that is there twice was paid for twice. */
  readonly created: () => ReadonlyArray<string>
  /** Judges all open prompts: gives the index of the best completion. */
  readonly judge: (
    best: (prompt: string, completions: ReadonlyArray<string>) => number,
    /** `reversed`: results in the opposite order. `wrong`: an index or text that no completion has. */
    options?: JudgingOptions,
  ) => void
  /** Sends the service's webhooks, with its own headers: those that no call before has delivered. */
  readonly notify: (url: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** `busy` is answered with 429 before the service sees it; of `lost` the service's answer does not arrive. */
export type Disturbance = "busy" | "lost" | undefined

export const serve = async (answer: (request: Request) => Answer) => {
  const requests: Array<Request> = []
  let disturbance: (request: Request) => Disturbance = () => undefined
  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const url = new URL(incoming.url ?? "/", "http://fake")
      const text = Buffer.concat(chunks).toString()
      const request: Request = {
        method: incoming.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body: text === "" ? undefined : JSON.parse(text),
      }
      requests.push(request)
      const fault = disturbance(request)
      const { body, status } =
        fault === "busy" ? { status: 429, body: { error: "too many requests" } } : answer(request)
      if (fault === "lost") return void incoming.socket.destroy()
      const headers = { "content-type": "application/json", ...(fault === "busy" && { "retry-after": "0" }) }
      response.writeHead(status, headers).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: (): ReadonlyArray<Request> => requests,
    disturb: (next: (request: Request) => Disturbance) => void (disturbance = next),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Posts a delivery. Returns the status of the answer, or undefined if nobody listens. */
export const deliver = async (url: string, headers: Record<string, string>, body: string) => {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body }
  return await fetch(url, init).then(
    ({ status }) => status,
    () => undefined,
  )
}

export const isAccepted = (status: number | undefined) => status !== undefined && status >= 200 && status < 300

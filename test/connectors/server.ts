/** A JSON API on loopback, whose state is in memory: what the fakes of services have in common. */
import type { IncomingHttpHeaders } from "node:http"
import { listen, withBody } from "../support/listening.ts"

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

/** `busy` is answered with 429 before the service sees it; of `lost` the service's answer does not arrive. */
export type Disturbance = "busy" | "lost" | undefined

/** Makes no faults by itself: `disturb` stands in for what is between a client and the service. */
export const serve = async (answer: (request: ApiRequest) => ApiAnswer) => {
  const requests: Array<ApiRequest> = []
  let disturbance: (request: ApiRequest) => Disturbance = () => undefined
  const { close, origin } = await listen(
    withBody((incoming, response, bytes) => {
      const text = bytes.toString()
      const { headers, method = "", url = "" } = incoming
      let result: ApiAnswer
      let fault: Disturbance
      // A request that fails to be answered gets 500, as an unforeseen error does.
      try {
        const body: unknown = text === "" ? undefined : JSON.parse(text)
        const request = { method, url: new URL(url, "http://fake"), headers, body }
        requests.push(request)
        fault = disturbance(request)
        result = fault === "busy" ? { status: 429, body: { error: "too many requests" } } : answer(request)
      } catch (error) {
        result = { status: 500, body: { detail: String(error) } }
      }
      if (fault === "lost") return void incoming.socket.destroy()
      const retry = fault === "busy" ? { "retry-after": "0" } : {}
      response.writeHead(result.status, { "content-type": "application/json", ...retry })
      response.end(result.body === undefined ? "" : JSON.stringify(result.body))
    }),
  )
  return {
    origin,
    requests: (): ReadonlyArray<ApiRequest> => requests,
    disturb: (next: (request: ApiRequest) => Disturbance) => void (disturbance = next),
    close,
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

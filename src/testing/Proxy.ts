/** An HTTP proxy that can disturb requests. It forwards a request completely even if the client disconnects. */
import { Context, Effect, Layer } from "effect"
import {
  HttpBody,
  HttpClient,
  HttpClientRequest,
  HttpMethod,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse,
} from "effect/http"
import * as SteadyClock from "../io/SteadyClock.ts"
import * as NodeServer from "../node/HttpServer.ts"

export interface Exchange {
  readonly forward: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>
  readonly cut: Effect.Effect<never>
}

export type ProxyFault = (exchange: Exchange) => Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>

/** `cut`, `serverError`, and `tooManyRequests` do not forward the request to the service. The others do. */
export const faults = {
  cut: ({ cut }) => cut,
  cutAfterActing: ({ cut, forward }) => Effect.andThen(forward, cut),
  serverErrorAfterActing: ({ forward }) => Effect.as(forward, HttpServerResponse.empty({ status: 500 })),
  silenceAfterActing: ({ forward }) => Effect.andThen(forward, Effect.never),
  serverError: () => Effect.succeed(HttpServerResponse.empty({ status: 500 })),
  brokenAnswer: ({ forward }) => Effect.as(forward, HttpServerResponse.text('{"', { contentType: "application/json" })),
  tooManyRequests: () => Effect.succeed(HttpServerResponse.empty({ status: 429, headers: { "retry-after": "1" } })),
} as const satisfies Record<string, ProxyFault>

const ownHeaders = ["connection", "content-length", "host", "keep-alive", "transfer-encoding"]

const withoutOwn = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)))

export const make = Effect.fnUntraced(function* (target: string) {
  const client = yield* HttpClient.HttpClient
  const arrivals: Array<number> = []
  let faultOf: (nth: number) => ProxyFault | undefined = () => undefined
  const handle = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = new Uint8Array(yield* request.arrayBuffer)
    const nth = arrivals.push(yield* SteadyClock.now)
    const method = HttpMethod.isHttpMethod(request.method) ? request.method : "GET"
    const outgoing = HttpClientRequest.make(method)(new URL(request.url, target).href).pipe(
      body.length > 0 ? HttpClientRequest.setBody(HttpBody.uint8Array(body)) : (same) => same,
      HttpClientRequest.setHeaders(withoutOwn(request.headers)),
    )
    const forward = Effect.gen(function* () {
      const { arrayBuffer, headers, status } = yield* client.execute(outgoing)
      return HttpServerResponse.uint8Array(new Uint8Array(yield* arrayBuffer), { status, headers: withoutOwn(headers) })
    }).pipe(Effect.uninterruptible)
    const cut = Effect.andThen(NodeServer.cut(request), Effect.never)
    return yield* (faultOf(nth) ?? ((exchange: Exchange) => exchange.forward))({ cut, forward })
    // The fault `silenceAfterActing` waits forever. The server interrupts the wait when the client disconnects.
  }).pipe(Effect.interruptible)
  const server = yield* Layer.build(NodeServer.layer())
  yield* HttpServer.serveEffect(handle).pipe(Effect.provide(server))
  return {
    origin: HttpServer.formatAddress(Context.get(server, HttpServer.HttpServer).address),
    arrivals,
    /** Restarts the count of requests at 1. `choose` gets each request's number, and returns the fault or undefined. */
    disturb: (choose: typeof faultOf) => {
      arrivals.length = 0
      faultOf = choose
    },
  }
})

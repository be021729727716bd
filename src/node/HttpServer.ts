/**
 * Adapter: an HTTP server on Node, for Effect.
 *
 * Guarantees: loopback and a free port by default; requests get 503 while no application is served; what Node's parser
 * refuses (400, 408, 413, 417, 431) is answered with the application's problem details. On close, open requests get one
 * second to finish. Headers must arrive within 20 seconds, the complete request within two minutes.
 */
import { createServer, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer } from "effect"
import { HttpServer, type HttpServerRequest, ProblemDetails } from "effect/http"
import { statusText } from "./StatusText.ts"

/** The statuses that the server sends itself, without an application. */
export type ServerStatus = 400 | 408 | 413 | 417 | 431 | 503

export interface ServerOptions {
  /** An address or a name. Loopback by default. */
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** The JSON of the problem details for such an answer. Without it the answer has no body. */
  readonly problem?: ((status: ServerStatus) => string) | undefined
}

const headersOf = (status: ServerStatus, body: string) => ({
  ...(body !== "" && { "content-type": ProblemDetails.contentType }),
  "content-length": String(Buffer.byteLength(body)),
  "cache-control": "no-store",
  ...(status === 503 && { "retry-after": "1" }),
})

/** The status for an error code of Node's parser. */
const statusOf = (code: string | undefined): ServerStatus => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return 431
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return 413
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return 408
    default:
      return 400
  }
}

const make = Effect.fnUntraced(function* (options: ServerOptions) {
  const node = createServer({
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    connectionsCheckingInterval: 5_000,
    requireHostHeader: options.problem === undefined,
  })
  const answer = (response: ServerResponse, status: ServerStatus) => {
    const body = options.problem?.(status) ?? ""
    response.writeHead(status, headersOf(status, body)).end(body)
  }
  /** The last answer on each connection. */
  const answers = new WeakMap<Duplex, ServerResponse>()
  // An application listens to the same event while it is served.
  node.on("request", (request, response) => {
    answers.set(request.socket, response)
    if (node.listenerCount("request") > 1) return
    // Reads the request to its end; otherwise a client that is still sending would not see the answer.
    request.resume()
    answer(response, 503)
  })
  node.on("checkExpectation", (request, response) => {
    request.resume()
    answer(response, 417)
  })
  node.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const last = answers.get(socket)
    // A response that has begun cannot be replaced.
    if (!socket.writable || (last !== undefined && last.headersSent && !last.writableFinished)) {
      socket.destroy()
      return
    }
    const status = statusOf(error.code)
    const body = options.problem?.(status) ?? ""
    const fields = Object.entries({ ...headersOf(status, body), connection: "close" })
    const head = [`HTTP/1.1 ${statusText(status)}`, ...fields.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
  })
  const server = yield* NodeHttpServer.make(() => node, {
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    gracefulShutdownTimeout: "1 second",
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  return server
})

/** Whether a request has no `Host`, which HTTP 1.1 demands. With `problem`, the application has to answer it. */
export const lacksHost = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["host"] === undefined && NodeHttpServerRequest.toIncomingMessage(request).httpVersion === "1.1"

/** Whether the request has been received completely, including its body. */
export const isComplete = (request: HttpServerRequest.HttpServerRequest): boolean =>
  NodeHttpServerRequest.toIncomingMessage(request).complete

/** Files and paths, as the server needs them. */
export const services = NodeHttpServer.layerHttpServices

/** Listens while the layer is in use. */
export const layer = (options: ServerOptions = {}) =>
  Layer.merge(Layer.effect(HttpServer.HttpServer, make(options)), services)

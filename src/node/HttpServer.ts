/**
 * Adapter: an HTTP server on Node, by default on a free port of loopback. It answers 503 until an application is
 * served. When the server closes, unfinished requests have one second to finish. Headers must arrive within 20 seconds,
 * the complete request within two minutes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Exit, Layer } from "effect"
import { HttpServer, type HttpServerRequest, type HttpServerResponse, ProblemDetails } from "effect/http"
import { statusText } from "./StatusText.ts"

export type { IncomingMessage, ServerResponse } from "node:http"

export type ServerStatus = 400 | 408 | 413 | 417 | 431 | 503

export interface ServerOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** The body of responses that the server itself sends, as JSON problem details. Default: no body. */
  readonly problem?: ((status: ServerStatus) => string) | undefined
}

const headersOf = (status: ServerStatus, body: string) => ({
  ...(body !== "" && { "content-type": ProblemDetails.contentType }),
  "content-length": String(Buffer.byteLength(body)),
  "cache-control": "no-store",
  ...(status === 503 && { "retry-after": "1" }),
})

type FirstAnswer = HttpServerResponse.HttpServerResponse | undefined
type Answerer = (request: IncomingMessage) => FirstAnswer

const answerers = new WeakMap<HttpServer.HttpServer["Service"], { current: Answerer | undefined }>()

/**
 * Lets `answer` handle each request first. If `answer` yields undefined, fails, or does not end synchronously, the
 * application handles the request. For a request with a body, `answer` must return undefined.
 */
export const answerFirst = Effect.fnUntraced(function* (
  answer: (request: IncomingMessage) => Effect.Effect<FirstAnswer, unknown> | undefined,
) {
  const slot = answerers.get(yield* HttpServer.HttpServer) ?? { current: undefined }
  const run = Effect.runForkWith(yield* Effect.context<never>())
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      slot.current = (request) => {
        const answering = answer(request)
        if (answering === undefined) return undefined
        const fiber = run(answering)
        const exit = fiber.pollUnsafe()
        if (exit === undefined) fiber.interruptUnsafe()
        return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
      }
    }),
    () => Effect.sync(() => (slot.current = undefined)),
  )
})

const send = (response: ServerResponse, { body, headers, status }: HttpServerResponse.HttpServerResponse) =>
  response.writeHead(status, headers).end(body._tag === "Uint8Array" ? body.body : undefined)

const statuses: { readonly [code: string]: ServerStatus } = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
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
  const answers = new WeakMap<Duplex, ServerResponse>()
  node.on("request", (request, response) => {
    answers.set(request.socket, response)
    if (node.listenerCount("request") > 1) return
    // Without this, a client that is still sending its body would not see the response.
    request.resume()
    answer(response, 503)
  })
  node.on("checkExpectation", (request, response) => {
    request.resume()
    answer(response, 417)
  })
  node.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const last = answers.get(socket)
    if (!socket.writable || (last !== undefined && last.headersSent && !last.writableFinished)) {
      socket.destroy()
      return
    }
    const status = statuses[error.code ?? ""] ?? 400
    const body = options.problem?.(status) ?? ""
    const fields = Object.entries({ ...headersOf(status, body), connection: "close" })
    const head = [`HTTP/1.1 ${statusText(status)}`, ...fields.map(([name, value]) => `${name}: ${value}`)]
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
  })
  const first: { current: Answerer | undefined } = { current: undefined }
  // Replaces `emit`, because Node calls all listeners of a request, even if one of them has answered the request.
  const emit = node.emit.bind(node) as (event: string, ...args: ReadonlyArray<unknown>) => boolean
  const answersFirst = (request: IncomingMessage, response: ServerResponse): boolean => {
    const answer = node.listenerCount("request") > 1 ? first.current?.(request) : undefined
    if (answer === undefined) return false
    answers.set(request.socket, response)
    send(response, answer)
    return true
  }
  node.emit = (event: string, ...args: ReadonlyArray<unknown>) =>
    (event === "request" && answersFirst(args[0] as IncomingMessage, args[1] as ServerResponse)) || emit(event, ...args)
  const server = yield* NodeHttpServer.make(() => node, {
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    gracefulShutdownTimeout: "1 second",
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  answerers.set(server, first)
  return server
})

export const lacksHost = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["host"] === undefined && NodeHttpServerRequest.toIncomingMessage(request).httpVersion === "1.1"

export const isComplete = (request: HttpServerRequest.HttpServerRequest): boolean =>
  NodeHttpServerRequest.toIncomingMessage(request).complete

export const cut = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.sync(() => void NodeHttpServerRequest.toIncomingMessage(request).socket.destroy())

export const services = NodeHttpServer.layerHttpServices

export const layer = (options: ServerOptions = {}) =>
  Layer.merge(Layer.effect(HttpServer.HttpServer, make(options)), services)

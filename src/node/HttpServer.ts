/**
 * Adapter: an HTTP server on Node, for Effect.
 *
 * Guarantees: loopback and a free port unless told otherwise; when its scope
 * closes, requests under way get a second to finish, then every connection is
 * closed, so that no client can keep the program from ending. A connection that
 * sends its request too slowly is closed: headers within 20 seconds, the whole
 * within two minutes.
 */
import { createServer } from "node:http"
import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpServer, type HttpServerRequest } from "effect/http"

const make = Effect.fnUntraced(function* (options: {
  readonly host?: string | undefined
  readonly port?: number | undefined
}) {
  const node = createServer({ headersTimeout: 20_000, requestTimeout: 120_000, connectionsCheckingInterval: 5_000 })
  const server = yield* NodeHttpServer.make(() => node, {
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    gracefulShutdownTimeout: "1 second",
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  return server
})

/** Whether the whole request has arrived, its body included. */
export const hasArrived = (request: HttpServerRequest.HttpServerRequest): boolean =>
  NodeHttpServerRequest.toIncomingMessage(request).complete

/** Files and paths, as the server needs them. */
export const services = NodeHttpServer.layerHttpServices

/** Listens while the layer is in use. @param options `host` as an address or a name; `port` 0 is a free one. */
export const layer = (options: Parameters<typeof make>[0] = {}) =>
  Layer.merge(Layer.effect(HttpServer.HttpServer, make(options)), services)

/**
 * Adapter: an HTTP server on Node, for Effect.
 *
 * Guarantees: loopback and a free port unless told otherwise; when its scope
 * closes, requests under way get a second to finish, then every connection is
 * closed, so that no client can keep the program from ending.
 */
import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

const make = Effect.fnUntraced(function* (options: {
  readonly host?: string | undefined
  readonly port?: number | undefined
}) {
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    gracefulShutdownTimeout: "1 second",
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  return server
})

/** Files and paths, as the server needs them. */
export const services = NodeHttpServer.layerHttpServices

/** Listens while the layer is in use. @param options `host` as an address or a name; `port` 0 is a free one. */
export const layer = (options: Parameters<typeof make>[0] = {}) =>
  Layer.merge(Layer.effect(HttpServer.HttpServer, make(options)), services)

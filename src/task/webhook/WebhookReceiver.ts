/**
 * Receives the service's webhooks, as a route for your own server, or as a separate server without TLS. A delivery
 * needs a valid signature and a recent time. The answer is 204 after the delivery is in the ledger. A delivery makes
 * tasks due for a poll. Results come only from polls, so a repeated, reordered, or lost delivery changes no result.
 */
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import type { WebhookScheme } from "../../api/WebhookScheme.ts"
import * as WebhookSignature from "../../api/WebhookSignature.ts"
import * as HealthRoutes from "../../telemetry/HealthRoutes.ts"
import * as WebhookHandler from "./Handler.ts"
import * as OtherPaths from "./OtherPaths.ts"

/** How to verify deliveries (default: Standard Webhooks, with `secrets`), and where they contain the ids of tasks. */
export type RouteOptions = WebhookScheme &
  WebhookHandler.DeliveryOptions & {
    /** Path of the route. Default `/webhook`. */
    readonly path?: `/${string}` | undefined
  }

/** Options of `layer`: the options of `route`, and the address to listen on. */
export type ListenOptions = RouteOptions & {
  /** Address or host name to listen on. Default: loopback, for a proxy on the same machine that adds TLS. */
  readonly host?: string | undefined
  /** Port to listen on. Default: any free port. */
  readonly port?: number | undefined
  /** Called with the URL that receives webhooks. Default: logs it. */
  readonly onListening?: ((url: string) => Effect.Effect<void>) | undefined
  /** Called for each `POST` request to a wrong path, with this path. Default: logs each wrong path once. */
  readonly onOtherPath?: ((path: string) => Effect.Effect<void>) | undefined
}

/** The receiver cannot listen at its address. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  /** The requested address or host name. */
  host: Schema.String,
  /** The requested port. 0 means any free port. */
  port: Schema.Int,
  /** The system's error code, such as `EADDRINUSE` or `EACCES`. */
  code: Schema.String,
}) {
  override get message() {
    const where = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`
    return `cannot receive webhooks at ${where}: ${descriptions[this.code] ?? this.code}`
  }
}

const descriptions: { readonly [code: string]: string } = {
  EADDRINUSE: "the port is in use; set another one with `webhook.port`",
  EACCES: "no permission to use this port; set a port above 1023 with `webhook.port`",
  EADDRNOTAVAIL: "the address does not belong to this machine",
  ENOTFOUND: "the host name is unknown",
}

/** The default path that receives webhooks. */
export const defaultPath = "/webhook"

/** Adds the route to the router of your own server. */
export const route = (options: RouteOptions) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("*", options.path ?? defaultPath, yield* WebhookHandler.make(options))
    }),
  ).pipe(Layer.provide(WebhookSignature.layerMac))

/** Whether the path is one of the health checks. If webhooks use such a path, `layer` answers no health checks. */
export const isHealthPath = (path: string) => HealthRoutes.paths.some((health) => health === path)

/** Listens while the layer is in use. Also answers health checks. */
export const layer = (options: ListenOptions) => {
  const { host = "127.0.0.1", path = defaultPath, port = 0 } = options
  const announce = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const url = `${HttpServer.formatAddress(address)}${path}`
    yield* options.onListening?.(url) ?? Effect.logInfo(`webhooks are received at ${url}`)
  })
  const server = Effect.promise(() => import("../../node/HttpServer.ts")).pipe(
    Effect.map((NodeServer) => NodeServer.layer({ host, port })),
    Layer.unwrap,
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effect(HttpServer.HttpServer, Effect.fail(new CannotListen({ host, port, code: codeOf(cause) }))),
    ),
  )
  const elsewhere = HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const tell = options.onOtherPath ?? (yield* OtherPaths.logged(path))
      yield* router.add("POST", "/*", ({ url }) =>
        Effect.as(
          tell(url.split("?", 1)[0]!),
          HttpServerResponse.empty({ status: 404, headers: { connection: "close" } }),
        ),
      )
    }),
  )
  const received = Layer.merge(route(options), elsewhere)
  const routes = isHealthPath(path) ? received : Layer.merge(received, HealthRoutes.layer)
  return Layer.provideMerge(
    Layer.effectDiscard(announce),
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }),
  ).pipe(Layer.provide(server))
}

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : String(cause)

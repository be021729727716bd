/**
 * Where the annotation service's webhooks arrive: a route for your own server, or a server that runs as long as the job.
 *
 * Guarantees: only a genuine and recent delivery counts; it is in the ledger before it is answered with 204; a forged,
 * repeated, reordered, or lost one changes only when tasks are polled. Does not speak TLS, nor fetch results: `collect` does.
 */
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import type { WebhookScheme } from "../../api/WebhookScheme.ts"
import * as WebhookSignature from "../../api/WebhookSignature.ts"
import * as HealthRoutes from "../../telemetry/HealthRoutes.ts"
import * as WebhookHandler from "./Handler.ts"
import * as OtherPaths from "./OtherPaths.ts"

/** How deliveries are verified (default: Standard Webhooks, with `secrets`) and which tasks they name. */
export type RouteOptions = WebhookScheme &
  WebhookHandler.DeliveryOptions & {
    /** Default `/webhook`. */
    readonly path?: `/${string}` | undefined
  }

/** Options of `layer`: those of `route`, and the address to listen on. */
export type ListenOptions = RouteOptions & {
  /** An address or a name. Loopback by default, which suits a proxy on the same machine that speaks TLS. */
  readonly host?: string | undefined
  /** A free one by default. */
  readonly port?: number | undefined
  /** Told the URL where webhooks are received; it is logged by default. */
  readonly onListening?: ((url: string) => Effect.Effect<void>) | undefined
  /** Told the path of each `POST` to a path where nothing is received; logged by default, once per path. */
  readonly onOtherPath?: ((path: string) => Effect.Effect<void>) | undefined
}

/** The receiver cannot listen at its address. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  /** The address or name that was asked for. */
  host: Schema.String,
  /** 0 stands for any free one. */
  port: Schema.Int,
  /** As the system calls it: `EADDRINUSE`, `EACCES`. */
  code: Schema.String,
}) {
  override get message() {
    const where = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`
    return `cannot receive webhooks at ${where}: ${descriptions[this.code] ?? this.code}`
  }
}

const descriptions: { readonly [code: string]: string } = {
  EADDRINUSE: "the port is in use",
  EACCES: "no permission for this port",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "there is no such host",
}

/** Where webhooks are received unless another path is named. */
export const defaultPath = "/webhook"

/** The route alone, for the router of a server of your own. */
export const route = (options: RouteOptions) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("*", options.path ?? defaultPath, yield* WebhookHandler.make(options))
    }),
  ).pipe(Layer.provide(WebhookSignature.layerMac))

/** Whether `layer` answers health checks at this path, unless it receives webhooks there. */
export const isHealthPath = (path: string) => HealthRoutes.paths.some((health) => health === path)

/** Listens while the layer is in use. Health checks are answered, too. */
export const layer = (options: ListenOptions) => {
  const { host = "127.0.0.1", path = defaultPath, port = 0 } = options
  const announce = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const url = `${HttpServer.formatAddress(address)}${path}`
    yield* options.onListening?.(url) ?? Effect.logInfo(`webhooks are received at ${url}`)
  })
  // Loaded only where something listens.
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

/**
 * A server for those who watch over the process: `/healthz`, `/readyz`, and `/metrics` in Prometheus' text format.
 *
 * At an address of its own, since the metrics tell how much work is done and how it goes, which is nothing for those who
 * reach the annotation service or the receiver of webhooks. Does not authenticate, nor speak TLS.
 */
import { type Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import * as NodeServer from "../node/HttpServer.ts"
import * as HealthRoutes from "./HealthRoutes.ts"

const routes = Layer.merge(HealthRoutes.layer, PrometheusMetrics.layerHttp())

/** Listens while the layer is in use; `onListening` is told the origin. */
export const layer = ({
  onListening,
  ...address
}: {
  /** Loopback by default. */
  readonly host?: string | undefined
  readonly port: number
  readonly onListening: (origin: string) => Effect.Effect<void>
}) =>
  Layer.provideMerge(
    Layer.effectDiscard(HttpServer.HttpServer.use((server) => onListening(HttpServer.formatAddress(server.address)))),
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }),
  ).pipe(Layer.provide(NodeServer.layer(address)))

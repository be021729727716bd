/** Serves health and metrics at a separate address, so that clients of the service cannot see the metrics. */
import { type Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import * as NodeServer from "../node/HttpServer.ts"
import * as HealthRoutes from "./HealthRoutes.ts"

const routes = Layer.merge(HealthRoutes.layer, PrometheusMetrics.layerHttp())

export const layer = ({
  onListening,
  ...address
}: {
  readonly host?: string | undefined
  readonly port: number
  readonly onListening: (origin: string) => Effect.Effect<void>
}) =>
  Layer.provideMerge(
    Layer.effectDiscard(HttpServer.HttpServer.use((server) => onListening(HttpServer.formatAddress(server.address)))),
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }),
  ).pipe(Layer.provide(NodeServer.layer(address)))

/** Defines `--monitor`, the address at which a command serves health checks and metrics. */
import { Console, Effect, Layer } from "effect"
import { address } from "./Values.ts"

export const monitor = address(
  "monitor",
  "[HOST:]PORT",
  "Serve /healthz, /readyz, and /metrics (Prometheus) at this address (default host: 127.0.0.1)",
  { group: "JOB" },
)

const onListening = (origin: string) => Console.error(`Health checks and metrics are at ${origin}`)

export const monitored =
  (address: { readonly host?: string | undefined; readonly port: number } | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    address === undefined
      ? effect
      : Effect.provide(
          effect,
          Layer.unwrap(
            Effect.map(
              Effect.promise(() => import("../../telemetry/Monitor.ts")),
              (Monitor) => Monitor.layer({ ...address, onListening }),
            ),
          ),
        )

/** Loads an exporter only if OpenTelemetry's environment variables name a collector. */
import { Config, Effect, Layer, Option } from "effect"

const commands = ["run", "submit", "collect", "export", "worker", "serve"]

const endpoints = ["", "TRACES_", "METRICS_", "LOGS_"].map((signal) =>
  Config.option(Config.String(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)),
)

export const layer = (args: ReadonlyArray<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (!args.some((arg) => commands.includes(arg))) return Layer.empty
      if (!(yield* Effect.all(endpoints)).some(Option.isSome)) return Layer.empty
      const { layer } = yield* Effect.promise(() => import("../telemetry/Otlp.ts"))
      return layer
    }),
  )

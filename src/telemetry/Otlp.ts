/**
 * Exports traces, metrics, and logs by OTLP over HTTP. At its end, the process waits for the last export, by default at
 * most three seconds. No span contains headers, query values, or texts. Each task has its own trace. A command's trace
 * contains only its stages.
 */
import { Cause, Config, ConfigProvider, Effect, Layer, Option, Schema, Tracer } from "effect"
import { HttpClient, HttpMiddleware, UrlParams } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { version } from "../node/Version.ts"
import * as HealthRoutes from "./HealthRoutes.ts"

export class OtlpSettingInvalid extends Schema.TaggedError<OtlpSettingInvalid>()("OtlpSettingInvalid", {
  message: Schema.String,
}) {}

const isStage = (name: string) =>
  /^prefstream |^(Pipeline\.\w+|Submit\.submit|Collect\.collect|Worker\.work|Export\.exportDataset|Dataset\.write)$/.test(
    name,
  )

const beginsTrace = (name: string) => /^(WebhookAttempt|JudgeEndpoint)\./.test(name)

const probe = "probe"
const probed: ReadonlyArray<string> = [...HealthRoutes.paths, "/metrics"]

const bounded = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const parent = Option.getOrUndefined(options.parent)
      const ofStage = parent === undefined || (parent._tag === "Span" && isStage(parent.name))
      if (ofStage && beginsTrace(options.name)) {
        const links = parent === undefined ? options.links : [...options.links, { span: parent, attributes: {} }]
        return tracer.span({ ...options, parent: Option.none(), links })
      }
      if (ofStage && options.kind === "server") {
        return tracer.span({ ...options, parent: Option.none(), sampled: options.name !== probe })
      }
      return tracer.span(ofStage && !isStage(options.name) ? { ...options, sampled: false } : options)
    },
  })

const refused = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Layer.effectDiscard(
    error instanceof Config.ConfigError
      ? Effect.fail(new OtlpSettingInvalid({ message: error.cause.message.replaceAll(/\s+/g, " ") }))
      : Effect.die(error),
  )
}

const exporters = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

/** Effect's exporters do not show that the OpenTelemetry collector refuses requests, so this warns once. */
const warned = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    let isSaid = false
    const warn = (what: string) =>
      Effect.suspend(() => {
        if (isSaid) return Effect.void
        isSaid = true
        const message = `the OpenTelemetry collector ${what}: check OTEL_EXPORTER_OTLP_ENDPOINT; work continues without telemetry`
        return Effect.logWarning(message)
      })
    return client.pipe(
      HttpClient.tap(({ status }) => (status < 300 ? Effect.void : warn(`answers ${status}`))),
      HttpClient.tapError(() => warn("cannot be reached")),
    )
  }),
)

/** Adds a logger to those that exist when this layer is built, so build layers with other loggers before it. */
export const layer = Effect.gen(function* () {
  const environment = yield* ConfigProvider.ConfigProvider
  const attributes = yield* Config.String("OTEL_RESOURCE_ATTRIBUTES").pipe(Config.withDefault(""))
  const protocol = yield* Config.Literals(["http/json", "http/protobuf"], "OTEL_EXPORTER_OTLP_PROTOCOL").pipe(
    Config.withDefault("http/json"),
  )
  const resource = { OTEL_RESOURCE_ATTRIBUTES: `service.name=prefstream,service.version=${version},${attributes}` }
  const provider = ConfigProvider.fromEnv({ env: resource }).pipe(
    ConfigProvider.orElse(environment),
    ConfigProvider.orElse(ConfigProvider.fromEnv({ env: exporters })),
  )
  const otlp = Otlp.layerFromConfig().pipe(
    Layer.provide(warned),
    Layer.provide(protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf),
    Layer.provide(ConfigProvider.layer(provider)),
  )
  return Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, bounded)).pipe(
    Layer.provideMerge(otlp),
    Layer.merge(
      Layer.succeed(HttpMiddleware.SpanNameGenerator, ({ method, url }) => (probed.includes(url) ? probe : method)),
    ),
    Layer.merge(Layer.succeed(UrlParams.CurrentRedactedNames, [/./])),
  )
}).pipe(Layer.unwrap, Layer.catchCause(refused))

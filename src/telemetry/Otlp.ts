/**
 * Exports traces, metrics and logs by OTLP over HTTP, as OpenTelemetry's variables say (README.md).
 *
 * Guarantees: the work does not wait for the collector, except for the last export, for at most three seconds by default.
 * No span contains headers, values of queries, or texts of items. A trace is of bounded size, however long the process
 * lives: each task has one (`TaskTrace`), and each request that is answered begins one, unless it continues its client's.
 * Within a command's own trace, only its stages are exported, not their ledger queries.
 */
import { Cause, Config, ConfigProvider, Effect, Layer, Option, Schema, Tracer } from "effect"
import { HttpClient, HttpMiddleware, UrlParams } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { version } from "../node/Version.ts"
import * as HealthRoutes from "./HealthRoutes.ts"

/** A variable has a value that cannot be used. */
export class OtlpSettingInvalid extends Schema.TaggedError<OtlpSettingInvalid>()("OtlpSettingInvalid", {
  message: Schema.String,
}) {}

/** Spans of which a command has few. */
const isStage = (name: string) =>
  /^prefstream |^(Pipeline\.\w+|Submit\.submit|Collect\.collect|Worker\.work|Export\.exportDataset|Dataset\.write)$/.test(
    name,
  )

/** Spans of which a command may have any number. */
const beginsTrace = (name: string) => /^(WebhookAttempt|JudgeEndpoint)\./.test(name)

/** The name of the spans of requests that tell how the process is, which are not exported. */
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

const isConfigError = Schema.is(Schema.instanceOf(Config.ConfigError))

/** Refuses the setting that was the cause. */
const refused = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Layer.effectDiscard(
    isConfigError(error)
      ? Effect.fail(new OtlpSettingInvalid({ message: error.cause.message.replaceAll(/\s+/g, " ") }))
      : Effect.die(error),
  )
}

const exporters = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

/** Warns of the first request that the collector does not take: the exporters themselves say it nowhere that is shown. */
const warned = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    let isSaid = false
    const warn = (what: string) =>
      Effect.suspend(() => {
        if (isSaid) return Effect.void
        isSaid = true
        const message = `the OpenTelemetry collector ${what}: check OTEL_EXPORTER_OTLP_ENDPOINT; the work goes on without it`
        return Effect.logWarning(message)
      })
    return client.pipe(
      HttpClient.tap(({ status }) => (status < 300 ? Effect.void : warn(`answers ${status}`))),
      HttpClient.tapError(() => warn("cannot be reached")),
    )
  }),
)

/** Exports what the effects do that it is provided to. Adds to the logger of its context, which must be there before. */
export const layer = Effect.gen(function* () {
  const given = yield* ConfigProvider.ConfigProvider
  const attributes = yield* Config.String("OTEL_RESOURCE_ATTRIBUTES").pipe(Config.withDefault(""))
  const protocol = yield* Config.Literals(["http/json", "http/protobuf"], "OTEL_EXPORTER_OTLP_PROTOCOL").pipe(
    Config.withDefault("http/json"),
  )
  // Of two attributes with the same name, the last counts.
  const resource = { OTEL_RESOURCE_ATTRIBUTES: `service.name=prefstream,service.version=${version},${attributes}` }
  const provider = ConfigProvider.fromEnv({ env: resource }).pipe(
    ConfigProvider.orElse(given),
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

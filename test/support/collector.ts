/** A collector of OpenTelemetry on loopback, which keeps what it is sent as OTLP over HTTP with JSON. */
import { Effect } from "effect"
import { listening, withBody } from "./listening.ts"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 2: server, 3: client. */
  readonly kind: number
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: Readonly<Record<string, unknown>>
  /** The `service.name` of its process. */
  readonly service: unknown
}

type Attributes = ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
interface Sent {
  readonly resource: { readonly attributes: Attributes }
  readonly scopeSpans?: ReadonlyArray<{
    readonly spans: ReadonlyArray<Omit<Span, "attributes"> & { readonly attributes: Attributes }>
  }>
  readonly scopeMetrics?: ReadonlyArray<{ readonly metrics: ReadonlyArray<{ readonly name: string }> }>
  readonly scopeLogs?: ReadonlyArray<{
    readonly logRecords: ReadonlyArray<{ readonly body: unknown; readonly traceId?: string }>
  }>
}

const valuesOf = (attributes: Attributes) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** `endpoint` is that of `OTEL_EXPORTER_OTLP_ENDPOINT`; the rest tells what came until now. */
export const make = Effect.suspend(() => {
  const texts: Array<string> = []
  const receiving = listening(
    withBody((_, response, body) => {
      texts.push(body.toString())
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    }),
  )
  return Effect.map(receiving, ({ origin }) => {
    const sent = (member: string): ReadonlyArray<Sent> =>
      texts.flatMap((text) => (JSON.parse(text) as Readonly<Record<string, ReadonlyArray<Sent>>>)[member] ?? [])
    return {
      endpoint: origin,
      texts: (): ReadonlyArray<string> => texts,
      spans: () =>
        sent("resourceSpans").flatMap(({ resource, scopeSpans = [] }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map((span): Span => ({
              ...span,
              attributes: valuesOf(span.attributes),
              service: valuesOf(resource.attributes)["service.name"],
            })),
          ),
        ),
      metrics: () =>
        sent("resourceMetrics").flatMap(({ scopeMetrics = [] }) =>
          scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
        ),
      logs: () =>
        sent("resourceLogs").flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
    }
  })
})

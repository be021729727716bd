/** A collector of OpenTelemetry on loopback, which keeps what it is sent as OTLP over HTTP with JSON. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

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
export const make = Effect.acquireRelease(
  Effect.callback<{ readonly server: ReturnType<typeof createServer>; readonly texts: Array<string> }>((resume) => {
    const texts: Array<string> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        texts.push(Buffer.concat(chunks).toString())
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
    }).listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, texts })))
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
).pipe(
  Effect.map(({ server, texts }) => {
    const sent = (member: string): ReadonlyArray<Sent> =>
      texts.flatMap((text) => (JSON.parse(text) as Readonly<Record<string, ReadonlyArray<Sent>>>)[member] ?? [])
    return {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
  }),
)

/** A task for tests of the client, the calls about it, and a client in virtual time. */
import { type Duration, Context, Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import { AnnotationClient, type Sending, TaskClient } from "../../../src/task/client/AnnotationClient.ts"
import type { Protocol } from "../../../src/task/client/Protocol.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import * as VirtualTime from "../../support/virtualTime.ts"

export const request = { task_type: "rlhf_ranking", prompts: [{ prompt: "p", completions: ["a", "b"] }] }
export const body = new TextEncoder().encode(JSON.stringify(request))

export const create = <E = never>(sending?: Sending<E>) =>
  TaskClient.use((client) => client.create(body, "key-1", sending))
export const poll = (taskId: string, attempts?: number) =>
  TaskClient.use((client) => client.poll(taskId, Effect.succeed(body), attempts))

export interface Arrival {
  readonly at: number
  readonly method: string
  readonly path: string
}

/** A client of a service that answers by the time and the order of requests; `own` is an HTTP client of that service. */
export const inVirtualTime = Effect.fnUntraced(function* (
  answer: (arrival: Arrival, before: ReadonlyArray<Arrival>) => ScriptedService.Answer,
  settings: Partial<ServiceSettings> = {},
  protocolOf?: Protocol | ((own: HttpClient.HttpClient) => Protocol),
) {
  const time = yield* VirtualTime.make
  const arrivals: Array<Arrival> = []
  const service = yield* ScriptedService.make(
    ({ method, path }) => {
      const before = [...arrivals]
      const arrival = { at: time.now(), method, path }
      arrivals.push(arrival)
      return answer(arrival, before)
    },
    { requestTimeout: "10 days", ...settings },
  )
  const ownClient = Effect.map(Layer.build(time.httpClient), (context) =>
    HttpClient.mapRequest(Context.get(context, HttpClient.HttpClient), HttpClientRequest.prependUrl(service.baseUrl)),
  )
  const protocol = typeof protocolOf === "function" ? protocolOf(yield* ownClient) : protocolOf
  const layer = protocol === undefined ? AnnotationClient.layer : AnnotationClient.layerProtocol(protocol)
  const client = yield* Layer.build(layer.pipe(Layer.provide(service.profile), Layer.provide(time.httpClient)))
  const run = <A, E>(effect: Effect.Effect<A, E, AnnotationClient>, step?: Duration.Input) =>
    time.run(Effect.provide(effect, client), step)
  return { arrivals, now: time.now, received: service.received, run }
})

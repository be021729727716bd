/** Adapter: an HTTP client on undici, loaded with the first request. It follows no redirects and has no timeout. */
import { Effect, Layer } from "effect"
import type { HttpClientError, HttpClientRequest } from "effect/http"
import * as HttpClient from "effect/http/HttpClient"

const load = Effect.gen(function* () {
  const Undici = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpClient"))
  const client = Undici.layerUndiciNoDispatcher.pipe(Layer.provide(Undici.dispatcherLayerGlobal))
  return yield* Effect.provide(HttpClient.HttpClient, client)
})

type Request = Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>

export const layer = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    // If `load` ran in the context of the first request, the client would keep the trace span of this request.
    const services = yield* Effect.context<never>()
    const loaded = yield* Effect.cached(Effect.promise(() => Effect.runPromiseWith(services)(load)))
    return HttpClient.makeWith(
      (request: Request) => Effect.flatMap(loaded, (client) => client.postprocess(request)),
      Effect.succeed,
    )
  }),
)

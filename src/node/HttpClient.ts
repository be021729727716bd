/**
 * Adapter: an HTTP client on undici with the connection pool of the process.
 *
 * Guarantees: redirects are not followed; undici is loaded with the first request. Requests have no timeout of their
 * own.
 */
import { Effect, Layer } from "effect"
import { HttpClient, type HttpClientError, type HttpClientRequest } from "effect/http"

const load = Effect.gen(function* () {
  const Undici = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpClient"))
  const client = Undici.layerUndiciNoDispatcher.pipe(Layer.provide(Undici.dispatcherLayerGlobal))
  return yield* Effect.provide(HttpClient.HttpClient, client)
})

type Request = Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>

export const layer = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Effect.cached(load), (loaded) =>
    HttpClient.makeWith(
      (request: Request) => Effect.flatMap(loaded, (client) => client.postprocess(request)),
      Effect.succeed,
    ),
  ),
)

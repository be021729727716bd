/** If several responses share a body, compresses the body once. The result is freed together with the body. */
import { Effect, Semaphore } from "effect"
import { type HttpBody, HttpMiddleware, HttpPlatform, HttpServerResponse } from "effect/http"

interface Compressed {
  readonly body: HttpBody.HttpBody
  readonly headers: Readonly<Record<string, string>>
}

const levels = { br: 9, gzip: 9 }

const ofCompression = ["content-encoding", "vary", "etag"]

export const make = Effect.gen(function* () {
  const platform = yield* HttpPlatform.HttpPlatform
  const { algorithms, compressResponse } = platform.compression
  const oneAtATime = yield* Semaphore.make(1)
  const cache = new WeakMap<HttpBody.HttpBody, Map<HttpPlatform.CompressionAlgorithm, Compressed>>()

  const compressed: typeof compressResponse = Effect.fnUntraced(function* (response, algorithm, options) {
    const { body } = response
    if (body._tag !== "Uint8Array") return response
    const find = Effect.sync(() => cache.get(body)?.get(algorithm))
    const compress = Effect.gen(function* () {
      const cachedBody = yield* find
      if (cachedBody !== undefined) return cachedBody
      const { body: packed, headers } = yield* compressResponse(response, algorithm, options)
      const made = {
        body: packed,
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => ofCompression.includes(name))),
      }
      cache.set(
        body,
        (cache.get(body) ?? new Map<HttpPlatform.CompressionAlgorithm, Compressed>()).set(algorithm, made),
      )
      return made
    })
    // The compression is not interrupted, because other requests may wait for its result.
    const smallBody = (yield* find) ?? (yield* oneAtATime.withPermit(Effect.uninterruptible(compress)))
    return HttpServerResponse.setHeaders(HttpServerResponse.setBody(response, smallBody.body), smallBody.headers)
  })

  const keeping = HttpPlatform.HttpPlatform.of({
    ...platform,
    compression: { algorithms, compressResponse: compressed },
  })
  return <E, R>(handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    HttpMiddleware.compression({ algorithms: ["br", "gzip"], levels })(handled).pipe(
      Effect.provideService(HttpPlatform.HttpPlatform, keeping),
    )
})

import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpPlatform, HttpRouter, HttpServer } from "effect/http"
import { AnnotationApi } from "../../../src/api/AnnotationApi.ts"
import * as NodeServer from "../../../src/node/HttpServer.ts"
import * as ApiDocs from "../../../src/service/http/ApiDocs.ts"
import * as Pages from "../../../src/service/web/Pages.ts"
import { raw } from "../web/http.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(Layer.empty)

/** The docs and the pages on a free port, with a list of what was compressed. */
const served = Effect.gen(function* () {
  const compressed: Array<string> = []
  const counting = Layer.effect(
    HttpPlatform.HttpPlatform,
    Effect.map(HttpPlatform.HttpPlatform, (platform) =>
      HttpPlatform.HttpPlatform.of({
        ...platform,
        compression: {
          ...platform.compression,
          compressResponse: (response, algorithm, options) => {
            compressed.push(algorithm)
            return platform.compression.compressResponse(response, algorithm, options)
          },
        },
      }),
    ),
  )
  const routes = Layer.merge(ApiDocs.layer(AnnotationApi, "/docs"), Pages.layer)
  const services = yield* HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(Layer.provide(counting, NodeServer.services)),
    Layer.provideMerge(NodeServer.layer({})),
    Layer.fresh,
    Layer.build,
  )
  return { compressed, base: HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address) }
})

/** The answer in that encoding, as it comes over the wire. */
const bytesOf = (base: string, path: string, encoding: string) =>
  raw(base, path, { headers: { "accept-encoding": encoding } })

test("what is the same for every request is compressed once for each encoding, however many ask at once", function* () {
  const { base, compressed } = yield* served
  const page = yield* raw(base, "/dashboard/")
  const assets = [...page.text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file]) => file!)
  assert.isNotEmpty(assets)
  const large: Array<string> = ["/docs"]
  for (const file of assets) if ((yield* raw(base, file)).text.length > 10_000) large.push(file)
  assert.isAtLeast(large.length, 2)
  for (const path of large) {
    const plain = yield* bytesOf(base, path, "identity")
    assert.isUndefined(plain.headers["content-encoding"])
    for (const [encoding, unpack] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const) {
      compressed.length = 0
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => bytesOf(base, path, encoding)),
        { concurrency: 6 },
      )
      assert.deepStrictEqual(compressed, [encoding], path)
      for (const { bytes, headers } of answers) {
        assert.strictEqual(headers["content-encoding"], encoding)
        assert.strictEqual(headers["vary"], "Accept-Encoding")
        assert.strictEqual(headers["content-length"], String(bytes.length))
        assert.strictEqual(headers["content-type"], plain.headers["content-type"])
        assert.strictEqual(headers["content-security-policy"], plain.headers["content-security-policy"])
        assert.isTrue(unpack(bytes).equals(plain.bytes), path)
      }
    }
  }
  // What is chosen by the client does not make for more.
  compressed.length = 0
  yield* Effect.forEach([`${large[1]}?x=1`, large[1]!.replace("/assets/", "/assets/./")], (path) =>
    bytesOf(base, path, "br, deflate;q=0.5"),
  )
  yield* bytesOf(base, "/docs", "deflate")
  assert.deepStrictEqual(compressed, [])
})

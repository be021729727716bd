import { assert } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { HttpServer, HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"
import * as NodeServer from "../../../src/node/HttpServer.ts"
import { ServiceAddress } from "../../../src/service/http/ServiceAddress.ts"
import { liveOver } from "../../support/effectTest.ts"

const test = liveOver(Layer.empty)

const boundTo = (host: string, publicUrl?: string) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const port = NetAddress.isInetAddress(address) ? address.port : 0
    return { own: yield* ServiceAddress, port }
  }).pipe(Effect.provide(Layer.provideMerge(ServiceAddress.layer({ publicUrl }), NodeServer.layer({ host }))))

test("on loopback: answers to names of loopback with its port", function* () {
  const { own, port } = yield* boundTo("127.0.0.1")
  assert.strictEqual(own.origin, `http://127.0.0.1:${port}`)
  assert.isFalse(own.secure)
  const atPort = (names: string) => names.split(" ").map((name) => `${name}:${port}`)
  for (const host of [...atPort("127.0.0.1 localhost LOCALHOST [::1]"), "localhost", "localhost:9000"]) {
    assert.isTrue(own.answersTo(host), host)
    assert.isTrue(own.isOwnOrigin(`http://${host.toLowerCase()}`, host), host)
  }
  const strange = [undefined, "", " ", "localhost.", "127.0.0.2.evil.example", "2130706433.example"]
  const evil = atPort("localhost@evil.example evil.example 127.0.0.1.evil.example localhost.evil.example")
  for (const host of [...strange, ...evil]) {
    assert.isFalse(own.answersTo(host), host)
    assert.isFalse(own.isOwnOrigin(`http://${host}`, host), host)
  }
})

test("its own origin is the one that the request was sent to, and no other", function* () {
  const { own, port } = yield* boundTo("127.0.0.1")
  const host = `localhost:${port}`
  for (const origin of [
    "null",
    "",
    "http://localhost",
    `http://localhost:${port + 1}`,
    `http://127.0.0.1:${port}`,
    `http://evil.example:${port}`,
    `ftp://localhost:${port}`,
    "not a url",
  ]) {
    assert.isFalse(own.isOwnOrigin(origin, host), origin)
  }
})

test("behind a proxy: the public name counts, and cookies are for TLS only", function* () {
  const { own, port } = yield* boundTo("127.0.0.1", "https://annotate.example/")
  assert.strictEqual(own.origin, "https://annotate.example")
  assert.isTrue(own.secure)
  assert.isTrue(own.answersTo("annotate.example"))
  assert.isTrue(own.answersTo(`127.0.0.1:${port}`))
  assert.isTrue(own.isOwnOrigin("https://annotate.example", "annotate.example"))
  assert.isTrue(own.isOwnOrigin("https://annotate.example", `127.0.0.1:${port}`), "a proxy that sets Host")
  assert.isFalse(own.isOwnOrigin("http://annotate.example.evil", "annotate.example"))
  assert.isFalse(own.isOwnOrigin("https://other.example", "annotate.example"))
})

test("bound wider: any name, but the origin has to be the same", function* () {
  const { own, port } = yield* boundTo("0.0.0.0")
  assert.strictEqual(own.origin, `http://127.0.0.1:${port}`)
  assert.isTrue(own.answersTo("annotate.internal:8484"))
  assert.isTrue(own.isOwnOrigin("http://annotate.internal:8484", "annotate.internal:8484"))
  assert.isTrue(own.isOwnOrigin("https://annotate.internal", "annotate.internal"), "TLS is added in front")
  assert.isFalse(own.isOwnOrigin("http://evil.example", "annotate.internal:8484"))
})

test("bound wider, with a public name: that origin only", function* () {
  const { own } = yield* boundTo("0.0.0.0", "https://annotate.example:8443")
  assert.strictEqual(own.origin, "https://annotate.example:8443")
  assert.isTrue(own.isOwnOrigin("https://annotate.example:8443", "10.0.0.7:8484"))
  assert.isFalse(own.isOwnOrigin("http://10.0.0.7:8484", "10.0.0.7:8484"))
})

for (const [host, url, encrypted, localOnly] of [
  ["127.0.0.1", undefined, true, true],
  ["127.0.0.1", "http://localhost:8484", true, false],
  ["127.0.0.1", "http://annotate.example", false, false],
  ["127.0.0.1", "https://annotate.example", true, false],
  ["0.0.0.0", undefined, false, false],
  ["0.0.0.0", "http://localhost:8484", false, false],
  ["0.0.0.0", "http://127.0.0.1:8484", false, false],
  ["0.0.0.0", "http://annotate.example", false, false],
  ["0.0.0.0", "https://annotate.example", true, false],
  ["::", "http://[::1]:8484", false, false],
] as const) {
  test(`bound to ${host}, public at ${url}: encrypted ${encrypted}, for this machine only ${localOnly}`, function* () {
    const { own } = yield* boundTo(host, url)
    assert.deepStrictEqual([own.encrypted, own.localOnly], [encrypted, localOnly])
  })
}

for (const [publicUrl, peer, forwarded, expected] of [
  [undefined, "203.0.113.7", "1.2.3.4", "203.0.113.7"],
  [undefined, "127.0.0.1", "1.2.3.4", "127.0.0.1"],
  ["https://a.example", "127.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"],
  ["https://a.example", "::ffff:10.0.0.2", "1.2.3.4", "1.2.3.4"],
  ["https://a.example", "::1", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"],
  ["https://a.example", "127.0.0.1", "unknown", "127.0.0.1"],
  ["https://a.example", "127.0.0.1", undefined, "127.0.0.1"],
  ["https://a.example", "203.0.113.7", "1.2.3.4", "203.0.113.7"],
  ["https://a.example", "::ffff:203.0.113.7", "1.2.3.4", "203.0.113.7"],
] as const) {
  test(`public at ${publicUrl}: ${peer} for ${forwarded} is ${expected}`, function* () {
    const { own } = yield* boundTo("127.0.0.1", publicUrl)
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded }
    const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers }))
    assert.strictEqual(own.clientOf(request.modify({ remoteAddress: Option.some(peer) })), expected)
  })
}

for (const url of [
  "annotate.example",
  "ftp://annotate.example",
  "https://annotate.example/path",
  "https://user@annotate.example",
  "https://annotate.example/?a",
  "",
]) {
  test(`"${url}" is no public URL`, function* () {
    const error = yield* Effect.flip(boundTo("127.0.0.1", url))
    assert.strictEqual(error._tag, "InvalidPublicUrl")
  })
}

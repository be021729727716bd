import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { gunzipSync, gzipSync } from "node:zlib"
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "@effect/platform-node/Undici"
import { assert, describe } from "@effect/vitest"
import { parquetWriteBuffer } from "hyparquet-writer"
import { createHash } from "node:crypto"
import type { InputFile } from "../../../src/domain/InputFile.ts"
import { InputAudit } from "../../../src/source/place/InputAudit.ts"
import * as OpenFile from "../../../src/source/OpenFile.ts"
import { Duration, Effect, Stream } from "effect"
import * as Place from "../../../src/source/place/Place.ts"
import { RemoteTimeouts } from "../../../src/source/place/Remote.ts"
import { answer, type Kept, keeping, piece, serve } from "./fileServer.ts"
import { bytesOf, failureOf, impatient, pattern, test } from "./support.ts"

/** Breaks off after so many bytes of an answer that is longer. */
const breaking =
  (kept: Kept, after: number): RequestListener =>
  (request, response) => {
    const bytes = piece(request, kept.content)
    answer(request, response, kept)
    if (bytes.length <= after) response.end(bytes)
    else response.write(bytes.slice(0, after), () => response.destroy())
  }

const isProbe = ({ headers }: IncomingMessage) => headers.range === "bytes=0-0"

/** Ranges are ignored, as a program's own answer does. */
const plain =
  (content: Uint8Array): RequestListener =>
  (_, response) =>
    response.writeHead(200, { "content-length": content.length }).end(content)

const content = pattern(400_000)
const etag = '"v1"'
const modified = "Wed, 21 Oct 2015 07:28:00 GMT"

const withOpen = (url: string) => impatient(Place.open(url))
const read = (url: string) => impatient(Effect.flatMap(Place.open(url), bytesOf))

describe("a file at a URL", () => {
  test("is read whole, as often as one likes, and here and there", function* () {
    const { url } = yield* serve(keeping({ content, etag }))
    const input = yield* withOpen(`${url}/items.jsonl`)
    assert.strictEqual(input.size, content.length)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* input.slice!(0, 4), content.slice(0, 4))
    assert.deepStrictEqual(yield* input.slice!(399_996, 400_000), content.slice(-4))
    assert.deepStrictEqual(yield* input.slice!(5, 5), new Uint8Array(0))
  })

  const none = new Uint8Array(0)
  const inParts: RequestListener = (_, response) => {
    response.write(content.slice(0, 1000))
    response.end(content.slice(1000))
  }
  for (const [what, handle, bytes, size, hasSlices] of [
    ["may be empty", keeping({ content: none, etag }), none, 0, true],
    ["may be empty, without ranges", plain(none), none, 0, false],
    ["has no slices where its server ignores ranges", plain(content), content, content.length, false],
    ["has no slices where nothing tells a changed file", keeping({ content }), content, content.length, false],
    ["may have a size that nobody knows", inParts, content, undefined, false],
  ] as const) {
    test(what, function* () {
      const { url } = yield* serve(handle)
      const input = yield* withOpen(url)
      assert.strictEqual(input.size, size)
      if (!hasSlices) assert.strictEqual(input.slice, undefined)
      assert.deepStrictEqual(yield* bytesOf(input), bytes)
    })
  }

  test("is asked for as its URL says; its name shows neither user nor query", function* () {
    const { asked, host } = yield* serve(keeping({ content, etag }))
    const secret = "X-Amz-Signature=abc%2Fdef&b=ä"
    const input = yield* withOpen(`http://us%40er:p%3Ass@${host}/my items/100%25 [1].jsonl?${secret}#part`)
    yield* bytesOf(input)
    assert.strictEqual(input.name, `http://${host}/my%20items/100%25%20[1].jsonl`)
    for (const { headers, url } of asked) {
      assert.strictEqual(url, "/my%20items/100%25%20[1].jsonl?X-Amz-Signature=abc%2Fdef&b=%C3%A4")
      assert.strictEqual(headers.authorization, `Basic ${btoa("us@er:p:ss")}`)
      assert.strictEqual(headers["accept-encoding"], "identity")
      assert.strictEqual(headers["traceparent"], undefined)
    }
    assert.strictEqual(asked.length, 2)
  })

  test("that the server keeps compressed comes compressed, for the format to find", function* () {
    const packed = gzipSync(content)
    const { url } = yield* serve((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed),
    )
    assert.deepStrictEqual(new Uint8Array(gunzipSync(yield* read(url))), content)
    const brotli = yield* serve((_, response) => response.writeHead(200, { "content-encoding": "br" }).end("x"))
    assert.match(
      yield* failureOf(read(brotli.url)),
      /sends the file with a content encoding that was not requested \(br\); download the file first$/,
    )
  })
})

describe("a redirection", () => {
  test("is followed, each time anew, with authorization for the first host alone", function* () {
    const kept = { content, etag }
    const elsewhere = yield* serve(keeping(kept))
    const hub = yield* serve((request, response) =>
      request.url === "/file"
        ? response.writeHead(302, { location: "/moved" }).end()
        : response.writeHead(307, { location: `${elsewhere.url}/cdn?signed=1` }).end(),
    )
    const input = yield* withOpen(`http://user:pass@${hub.host}/file`)
    assert.strictEqual(input.name, `${hub.url}/file`)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* input.slice!(10, 20), content.slice(10, 20))
    assert.isTrue(hub.asked.every(({ headers }) => headers.authorization === `Basic ${btoa("user:pass")}`))
    assert.isTrue(
      elsewhere.asked.every(({ headers, url }) => headers.authorization === undefined && url === "/cdn?signed=1"),
    )
    assert.strictEqual(elsewhere.asked.at(-1)?.headers.range, "bytes=10-19")
  })

  test("that goes round and round, or nowhere, is a failure", function* () {
    for (const headers of [{ location: "/again" }, {}]) {
      const { url } = yield* serve((_, response) => response.writeHead(302, headers).end())
      assert.match(yield* failureOf(read(url)), /the server redirects more than 10 times, or without a target$/)
    }
  })

  test("from https to http is refused", function* () {
    // The certificate is the test's own: nobody has signed it.
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const before = getGlobalDispatcher()
        setGlobalDispatcher(new Agent({ connect: { rejectUnauthorized: false } }))
        return before
      }),
      (before) => Effect.sync(() => setGlobalDispatcher(before)),
    )
    const open = yield* serve(keeping({ content, etag }))
    const secure = yield* serve(
      (request, response) =>
        request.url === "/file"
          ? keeping({ content, etag })(request, response)
          : response.writeHead(302, { location: request.url === "/down" ? `${open.url}/x` : "/file" }).end(),
      { tls: true },
    )
    assert.deepStrictEqual(yield* read(`${secure.url}/same`), content)
    assert.match(yield* failureOf(read(`${secure.url}/down`)), /the server redirects from https to http/)
    assert.strictEqual(open.asked.length, 0)
  })
})

describe("an answer that is no file", () => {
  const answering = (status: number, headers: Record<string, string> = {}) =>
    serve((_, response) => response.writeHead(status, headers).end("<html>no</html>"))

  test("fails with a readable message, without user and query", function* () {
    for (const [status, words] of [
      [404, /: there is no such file/],
      [410, /: there is no such file/],
      [401, /refuses user and password in the URL \(401\)/],
      [403, /denies access \(403\)/],
      [418, /answered 418$/],
      [204, /answered 204$/],
    ] as const) {
      const { asked, host } = yield* answering(status)
      const message = yield* failureOf(read(`http://user:hush@${host}/a.jsonl?secret=hush`))
      assert.match(message, words)
      assert.isTrue(message.startsWith(`http://${host}/a.jsonl: `), message)
      assert.notInclude(message, "hush")
      assert.strictEqual(asked.length, 1)
    }
  })

  test("of a server that is busy or broken is asked for again, so many times", function* () {
    for (const status of [429, 500, 503]) {
      let answers = 0
      const recovers = yield* serve((request, response) =>
        answers++ < 3 ? response.writeHead(status).end() : keeping({ content, etag })(request, response),
      )
      assert.deepStrictEqual(yield* read(recovers.url), content)
      const { asked, url } = yield* answering(status)
      assert.match(yield* failureOf(read(url)), new RegExp(`the server answered ${status}`))
      assert.strictEqual(asked.length, 4)
    }
  })

  test("is a failure where nobody answers, or nothing is said", function* () {
    const gone = yield* Effect.scoped(serve(plain(content)))
    assert.match(yield* failureOf(read(gone.url)), /: cannot be read: connect ECONNREFUSED/)
    const silent = yield* serve(() => {})
    const opened = hasty(Place.open(silent.url))
    assert.match(yield* failureOf(opened), /: cannot be read: no data for 200ms; to wait longer, set `idleTimeout`$/)
    assert.strictEqual(silent.asked.length, 1)
    assert.match(yield* failureOf(read("http://")), /^http:\/\/: .*invalid URL$/)
    assert.notInclude(yield* failureOf(read("http://user:hush@host:port/a?hush")), "hush")
  })
})

describe("Parquet at a URL", () => {
  const columnData = [
    { name: "prompt", data: ["Q"], type: "STRING" as const },
    { name: "unread", data: [Array.from(content, (byte, i) => String.fromCharCode(32 + ((byte * i) % 90))).join("")] },
  ]
  const parquet = Buffer.from(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED" }))
  const told = Effect.fnUntraced(function* (url: string) {
    const inputs: Array<InputFile> = []
    const file = yield* impatient(OpenFile.open(url))
    yield* impatient(Stream.runDrain(file.rows(["prompt"]))).pipe(
      Effect.provideService(InputAudit, (input) => void inputs.push(input)),
    )
    return inputs
  })

  test("is reported with its server's version, and not downloaded for that", function* () {
    const { asked, url } = yield* serve(keeping({ content: parquet, etag, modified }))
    const file = `${url}/f.parquet`
    assert.deepStrictEqual(yield* told(file), [
      { file, bytes: parquet.length, records: 1, etag, last_modified: modified },
    ])
    // For its beginning alone.
    assert.strictEqual(asked.filter(({ headers }) => headers.range === undefined).length, 1)
  })

  test("is reported with its digest where all of it was read: compressed, or without ranges", function* () {
    const packed = gzipSync(parquet)
    for (const bytes of [packed, parquet]) {
      const { asked, url } = yield* serve(bytes === packed ? keeping({ content: packed, etag }) : plain(parquet))
      const file = `${url}/f`
      const sha256 = createHash("sha256").update(bytes).digest("hex")
      assert.deepStrictEqual(yield* told(file), [{ file, bytes: bytes.length, records: 1, sha256 }])
      const whole = asked.filter(({ headers }) => headers.range === undefined)
      // For its beginning, packed and unpacked, and once for all.
      assert.isAtMost(whole.length, bytes === packed ? 3 : 2)
    }
  })
})

/** Gives up after 200 ms in which nothing comes. */
const hasty = Effect.provideService(RemoteTimeouts, {
  idle: Duration.millis(200),
  retries: 5,
  pause: Duration.millis(1),
})

describe("a download that falls silent", () => {
  const stalling =
    (kept: Kept, times: number): RequestListener =>
    (request, response) => {
      const bytes = piece(request, kept.content)
      answer(request, response, kept)
      if (bytes.length <= 1 || times-- <= 0) response.end(bytes)
      else response.write(bytes.slice(0, 150_000))
    }

  test("goes on where it fell silent", function* () {
    const { asked, url } = yield* serve(stalling({ content, etag }, 1))
    assert.deepStrictEqual(yield* hasty(Effect.flatMap(Place.open(url), bytesOf)), content)
    assert.match(String(asked.at(-1)!.headers.range), /^bytes=[1-9]\d+-$/)
  })

  test("is a failure where it stays silent, or can't go on", function* () {
    for (const [kept, problem] of [
      [{ content, etag }, /: no data for 200ms; to wait longer, set `idleTimeout`$/],
      [
        { content },
        /: no data for 200ms; to wait longer, set `idleTimeout`; the server cannot continue this download, which stopped after/,
      ],
    ] as const) {
      let isFirst = true
      const { asked, url } = yield* serve((request, response) => {
        if (isProbe(request)) return keeping(kept)(request, response)
        if (isFirst) return ((isFirst = false), stalling(kept, 1)(request, response))
        answer(request, response, kept).flushHeaders()
      })
      assert.match(yield* failureOf(hasty(Effect.flatMap(Place.open(url), bytesOf))), problem)
      // The second answer's first byte is waited for until the end.
      const downloads = asked.filter((request) => !isProbe(request)).length
      assert.strictEqual(downloads, kept.etag === undefined ? 1 : 2)
    }
  })
})

describe("a download that breaks off", () => {
  test("goes on where it broke off, by ETag or date", function* () {
    for (const kept of [
      { content, etag },
      { content, modified },
      { content, etag: 'W/"weak"', modified },
    ]) {
      const { asked, url } = yield* serve(breaking(kept, 150_000))
      assert.deepStrictEqual(yield* read(url), content)
      const resumed = asked.filter((request) => !isProbe(request)).slice(1)
      assert.isAbove(resumed.length, 1)
      for (const { headers } of resumed) {
        assert.match(String(headers.range), /^bytes=[1-9]\d+-$/)
        assert.strictEqual(headers["if-range"], kept.etag === etag ? etag : modified)
      }
    }
  })

  test("goes on in a slice", function* () {
    const { url } = yield* serve(breaking({ content, etag }, 100_000))
    const input = yield* withOpen(url)
    assert.deepStrictEqual(yield* impatient(input.slice!(1000, 399_000)), content.slice(1000, 399_000))
  })

  test("is a failure where the server can't go on, and no shorter file", function* () {
    const part = (response: ServerResponse) => response.write(content.slice(0, 150_000), () => response.destroy())
    const noRanges: RequestListener = (_, response) =>
      part(response.writeHead(200, { "content-length": content.length, etag }))
    const noSize: RequestListener = (_, response) => part(response)
    for (const handle of [noRanges, noSize, breaking({ content }, 150_000)]) {
      const { url } = yield* serve(handle)
      assert.match(
        yield* failureOf(read(url)),
        /the server cannot continue this download, which stopped after \d+ bytes/,
      )
    }
  })

  test("is given up where it never goes on", function* () {
    let answers = 0
    const { asked, url } = yield* serve((request, response) => {
      if (++answers <= 2) return breaking({ content, etag }, 150_000)(request, response)
      answer(request, response, { content, etag }).flushHeaders()
      response.destroy()
    })
    assert.match(yield* failureOf(read(url)), /: cannot be read: /)
    // For its first byte, for all, and three times more.
    assert.strictEqual(asked.length, 5)
  })

  test("is a failure where the file is another meanwhile", function* () {
    const other = pattern(400_000).toReversed()
    let answers = 0
    const { url } = yield* serve((request, response) =>
      ++answers <= 2
        ? breaking({ content, etag }, 150_000)(request, response)
        : keeping({ content: other, etag: '"v2"' })(request, response),
    )
    assert.match(yield* failureOf(read(url)), /changed since it was opened; run again$/)
  })
})

describe("a file that was changed since it was opened", () => {
  for (const [what, before, after] of [
    ["its ETag", { content, etag, modified }, { content, etag: '"v2"', modified }],
    ["its size", { content, etag, modified }, { content: pattern(400_001), etag, modified }],
    ["its date where there is no ETag", { content, modified }, { content, modified: "Thu, 22 Oct 2015 07:28:00 GMT" }],
  ] as const) {
    test(`is a failure, by ${what}`, function* () {
      let kept: Kept = before
      const { url } = yield* serve((request, response) => keeping(kept)(request, response))
      const input = yield* withOpen(url)
      kept = after
      assert.match(yield* failureOf(impatient(bytesOf(input))), /changed since it was opened; run again$/)
      if (input.slice === undefined) return
      assert.match(yield* failureOf(impatient(input.slice(0, 10))), /changed since it was opened; run again$/)
    })
  }

  for (const [range, length, problem] of [
    ["bytes 11-20/400000", 10, /the request was for the bytes from 10, but the server sent/],
    ["bytes */400000", 10, /the request was for the bytes from 10, but the server sent/],
    ["items 10-19/400000", 10, /the request was for the bytes from 10, but the server sent/],
    ["bytes 10-19/400000", 9, /cannot be read: /],
    ["bytes 10-19/400000", 11, /cannot be read: /],
  ] as const) {
    test(`is a failure where bytes 10 to 19 were asked for, and ${length} bytes come as ${range}`, function* () {
      const headers = { "content-range": range, etag, "content-length": length }
      const { url } = yield* serve((request, response) =>
        isProbe(request)
          ? keeping({ content, etag })(request, response)
          : response.writeHead(206, headers).end(content.slice(10, 10 + length)),
      )
      const input = yield* withOpen(url)
      assert.match(yield* failureOf(impatient(input.slice!(10, 20))), problem)
    })
  }
})

test("a stream that is given up ends its request", function* () {
  let ended: () => void = () => {}
  const closed = new Promise<void>((resolve) => (ended = resolve))
  const { url } = yield* serve((request, response) => {
    if (isProbe(request)) return keeping({ content, etag })(request, response)
    response.on("close", ended)
    answer(request, response, { content, etag }).write(content.slice(0, 1000))
  })
  const input = yield* withOpen(url)
  yield* impatient(Stream.runDrain(Stream.take(input.bytes, 1)))
  yield* Effect.promise(() => closed)
})

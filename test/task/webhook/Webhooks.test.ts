/** The handlers for Fetch and for `node:http`, each over real sockets. */
import { createHmac } from "node:crypto"
import { once } from "node:events"
import type { RequestListener } from "node:http"
import { connect } from "node:net"
import { ReadableStream } from "node:stream/web"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Webhooks from "../../../src/task/webhook/Webhooks.ts"
import { test } from "../../support/job.ts"
import { listening as serving } from "../../support/listening.ts"
import { type Answer, send } from "../../support/webhooks.ts"

const secret = "It's a Secret to Everybody"
const options = { scheme: "github", secrets: [secret] } as const
const body = '{"zen":"Grüße"}'
const signature = (content: string) => `sha256=${createHmac("sha256", secret).update(content).digest("hex")}`
const genuine = { body, headers: { "X-Hub-Signature-256": signature(body) } }

const listening = (listener: RequestListener) => Effect.map(serving(listener), ({ origin }) => `${origin}/hook?a=b`)

/** What is written to `console.error` in a scope. */
const loggedErrors = Effect.suspend(() => {
  const lines: Array<string> = []
  const log = console.error
  return Effect.acquireRelease(
    Effect.sync(() => {
      console.error = (...some) => void lines.push(some.join(" "))
      return lines
    }),
    () => Effect.sync(() => (console.error = log)),
  )
})

type Adapter = (options: Webhooks.HandlerOptions, handle: Webhooks.Handle) => RequestListener

const adapters: { readonly [name: string]: Adapter } = {
  nodeHandler: (...args) => {
    const handler = Webhooks.nodeHandler(...args)
    return (request, response) => void handler(request, response)
  },
  /** As the servers of frameworks call it, which hand over a `Request` and send its `Response`. */
  fetchHandler: (...args) => {
    const handler = Webhooks.fetchHandler(...args)
    return (incoming, outgoing) => {
      const { headers, method = "GET", url } = incoming
      const stream = ReadableStream.from(incoming.iterator({ destroyOnReturn: false }))
      const init = { method, headers: headers as Record<string, string>, ...(method === "POST" && { body: stream as BodyInit, duplex: "half" as const }) }
      const answer = async () => {
        const response = await handler(new Request(`http://localhost${url}`, init))
        outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), connection: "close" })
        outgoing.end(Buffer.from(await response.arrayBuffer()))
      }
      void answer()
    }
  },
} // prettier-ignore

for (const [name, adapter] of Object.entries(adapters)) {
  describe(`the adapter ${name}`, () => {
    test("hands over the genuine, and refuses the others without a reason", function* () {
      const deliveries: Array<Webhooks.AcceptedDelivery> = []
      const refusals: Array<string> = []
      const onRefused = ({ message }: Error) => refusals.push(message)
      const url = yield* listening(adapter({ ...options, onRefused }, (delivery) => void deliveries.push(delivery)))
      assert.strictEqual((yield* send(url, genuine)).status, 204)
      const rows: ReadonlyArray<readonly [status: number, request: Parameters<typeof send>[1], refusal?: string]> = [
        [401, { ...genuine, body: `${body} ` }, "its signature matches none of the configured secrets"],
        [400, { body }, "it lacks x-hub-signature-256, which the scheme github requires"],
        [400, { body, headers: { "x-hub-signature-256": signature(body).replace("256", "1") } }, "its x-hub-signature-256 has no signature: expected sha256= and 64 hex digits"],
        [415, { ...genuine, headers: { ...genuine.headers, "content-encoding": "gzip" } }, "its body is compressed (Content-Encoding), which is not supported"],
        [413, { body: "x".repeat(2 ** 20 + 1), headers: genuine.headers }, "its body is larger than 1 MiB"],
        [413, { body: "x".repeat(2 ** 20 + 1), headers: { ...genuine.headers, "transfer-encoding": "chunked" } }, "its body is larger than 1 MiB"],
        [405, { method: "GET" }],
      ] // prettier-ignore
      for (const [status, request, refusal] of rows) {
        const answer: Answer = yield* send(url, request)
        assert.deepStrictEqual([answer.status, answer.body], [status, ""], refusal)
      }
      assert.deepStrictEqual(refusals, rows.flatMap(([, , refusal]) => (refusal === undefined ? [] : [`the webhook delivery was refused: ${refusal}`]))) // prettier-ignore
      assert.lengthOf(deliveries, 1)
      const [delivery] = deliveries
      assert.deepInclude(delivery, { text: body, url: "/hook?a=b" })
      assert.strictEqual(delivery?.headers["x-hub-signature-256"], signature(body))
      assert.deepStrictEqual(Buffer.from(delivery?.body ?? []), Buffer.from(body))
    })

    test("answers with the response, and with 500 if handling fails", function* () {
      const lines = yield* loggedErrors
      const url = yield* listening(
        adapter(options, async ({ text }) => {
          await Promise.resolve()
          if (text === "{}") throw new Error("the queue is full")
          return Response.json({ id: 7 }, { status: 202, headers: { "x-queue": "a" } })
        }),
      )
      const answer = yield* send(url, genuine)
      assert.deepInclude(answer, { status: 202, body: '{"id":7}' })
      assert.strictEqual(answer.headers["x-queue"], "a")
      const failing = { body: "{}", headers: { "x-hub-signature-256": signature("{}") } }
      assert.strictEqual((yield* send(url, failing)).status, 500)
      assert.match(lines.join("\n"), /could not be handled.*the queue is full/s)
      // Anybody can cause refusals: of those in a minute, only the first is logged.
      for (const _ of [1, 2, 3]) assert.strictEqual((yield* send(url, { body })).status, 400)
      assert.lengthOf(lines.join("\n").match(/was refused: it lacks x-hub-signature-256/g) ?? [], 1)
      assert.notInclude(lines.join("\n"), secret)
    })

    test("takes a limit for bodies", function* () {
      const url = yield* listening(adapter({ ...options, bodyLimit: "10 B" }, () => {}))
      assert.strictEqual((yield* send(url, genuine)).status, 413)
      assert.throws(() => adapter({ ...options, bodyLimit: "big" as "10 B" }, () => {}), /bodyLimit: expected a size/)
      assert.throws(() => adapter(options, undefined as unknown as Webhooks.Handle), /handle: expected a function/)
      assert.throws(() => adapter({ ...options, secrets: [""] }, () => {}), Webhooks.MalformedSecret)
    })
  })
}

test("a body that does not arrive is given up", function* () {
  const refusals: Array<string> = []
  let resolve = () => {}
  const refused = new Promise<void>((done) => (resolve = done))
  const onRefused = ({ message }: Error) => (refusals.push(message), resolve())
  const url = yield* listening(adapters["nodeHandler"]!({ ...options, onRefused }, () => {}))
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\nx-hub-signature-256: ${signature(body)}\r\ncontent-length: 9\r\n\r\n{`)
  const [first] = (yield* Effect.promise(() => once(socket, "data"))) as [Buffer]
  yield* Effect.promise(() => refused)
  assert.match(first.toString(), /^HTTP\/1\.1 408 [^]*connection: close/i)
  assert.deepStrictEqual(refusals, ["the webhook delivery was refused: its body did not arrive in time"])
})

test("a response that breaks off ends the connection, and not the program", function* () {
  const broken = () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error("broken")) }) as BodyInit)
  const url = yield* listening(adapters["nodeHandler"]!(options, broken))
  const failure = yield* Effect.flip(send(url, genuine))
  assert.match(failure.message, /socket hang up|ECONNRESET/)
})

test("a body that was read before is an error of the program, not of the sender", function* () {
  const lines = yield* loggedErrors
  const node = Webhooks.nodeHandler(options, () => {})
  const url = yield* listening(
    (request, response) => void request.resume().on("end", () => void node(request, response)),
  )
  assert.strictEqual((yield* send(url, genuine)).status, 500)
  const request = new Request("http://localhost/", { method: "POST", ...genuine })
  yield* Effect.promise(() => request.text())
  const { status } = yield* Effect.promise(() => Webhooks.fetchHandler(options, () => {})(request))
  assert.strictEqual(status, 500)
  assert.lengthOf(
    lines
      .join("\n")
      .match(/other code has already read the body of the request: call the webhook handler before any body parser/g) ??
      [],
    2,
  )
})

it("a Request without a body, as Fetch servers have it, is verified too", async () => {
  const handler = Webhooks.fetchHandler(options, ({ text }) => new Response(`[${text}]`))
  const headers = { "x-hub-signature-256": signature("") }
  const response = await handler(new Request("https://hooks.example/hook", { method: "POST", headers }))
  assert.strictEqual(await response.text(), "[]")
})

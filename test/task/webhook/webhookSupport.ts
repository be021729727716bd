/** A receiver of webhooks over a ledger with outstanding tasks, for tests with real sockets. */
import { connect } from "node:net"
import { Deferred, Effect, Layer, Logger, Option, Redacted, References, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { ServiceProfile, type ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import * as WebhookReceiver from "../../../src/task/webhook/WebhookReceiver.ts"
import { test } from "../../support/job.ts"
import { secrets } from "../../support/webhooks.ts"
import { submitted } from "../support.ts"

const profile = (settings: Partial<ServiceSettings> = {}) =>
  ServiceProfile.layer({ baseUrl: "http://127.0.0.1:9/v1", token: Redacted.make("t"), ...settings })

export const database = Ledger.layer().pipe(Layer.provideMerge(SqliteClient.layer({ filename: ":memory:" })))

/** Three outstanding tasks, `task_0` to `task_2`, that are to be looked at in an hour. */
export const outstanding = submitted(3, 3_600_000)

/** The ids of the tasks that are due. */
export const due = Ledger.use((ledger) =>
  Effect.map(ledger.due(10, Option.none()), ({ tasks }) => tasks.map(({ taskId }) => taskId)),
)

export const receiving = Effect.fnUntraced(function* (options: WebhookReceiver.ListenOptions = { secrets }) {
  const url = yield* Deferred.make<string>()
  yield* Layer.build(
    WebhookReceiver.layer({ ...options, onListening: (at) => Effect.asVoid(Deferred.succeed(url, at)) }),
  )
  return yield* Deferred.await(url)
})

export const withLedger =
  (settings?: Partial<ServiceSettings>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.scoped(effect).pipe(Effect.provide(Layer.merge(database, profile(settings))))

/** A receiver over the outstanding tasks. */
export const received = (
  body: (url: string) => Effect.fn.Return<void, unknown, Ledger | ServiceProfile | Scope.Scope | SqlClient.SqlClient>,
  options?: WebhookReceiver.ListenOptions,
  settings?: Partial<ServiceSettings>,
) =>
  Effect.gen(function* () {
    yield* outstanding
    yield* Effect.fnUntraced(body)(yield* receiving(options))
  }).pipe(withLedger(settings))

/** A test with a receiver over the outstanding tasks. */
export const testReceived = (name: string, ...args: Parameters<typeof received>) => test(name, () => received(...args))

/** Polls all tasks that are due, and finds nothing: they are due again in an hour. */
export const looked = Ledger.use((ledger) =>
  Effect.gen(function* () {
    for (const task of (yield* ledger.due(10, Option.none())).tasks) yield* ledger.postpone(task.seq, 3_600_000)
  }),
)

/** What a hand-made request is answered, up to the end of the connection; `sent` may hold less than a request. */
export const exchange = (url: string, ...sent: ReadonlyArray<string | Uint8Array>) =>
  Effect.callback<string>((resume) => {
    const { socket, said } = dial(url, ...sent)
    socket.on("close", () => resume(Effect.succeed(said())))
    return Effect.sync(() => socket.destroy())
  })

/** A connection on which something was sent, and what came back until now. */
export const dial = (url: string, ...sent: ReadonlyArray<string | Uint8Array>) => {
  let text = ""
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  socket.on("error", () => undefined)
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1")
  })
  for (const some of sent) socket.write(some)
  return { socket, said: () => text }
}

/** Connections that are broken off when the scope ends. */
export const dialled = (url: string, count: number, ...sent: ReadonlyArray<string | Uint8Array>) =>
  Effect.acquireRelease(
    Effect.sync(() => Array.from({ length: count }, () => dial(url, ...sent))),
    (dialled) => Effect.sync(() => dialled.forEach(({ socket }) => socket.destroy())),
  )

/** The beginning of a request, up to its body. */
export const headOf = (headers: Record<string, string | number>, path = "/webhook") =>
  [
    `POST ${path} HTTP/1.1`,
    "host: x",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n")

/** What is logged while the effect runs, but for debug messages. */
export const logged = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel !== "Info" && logLevel !== "Debug") lines.push([message].flat().map(String).join(" "))
  })
  yield* effect.pipe(Effect.provideService(References.MinimumLogLevel, "All"), Effect.provide(Logger.layer([logger])))
  return lines
})

/** A real receiver of deliveries, and the webhooks of a service over a file of its own. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import { Webhook } from "standardwebhooks"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { Webhooks, type WebhooksOptions } from "../../../src/service/webhook/Webhooks.ts"
import { temporaryPath } from "../../node/support.ts"
import { listening, withBody } from "../../support/listening.ts"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the receiver does with a request: an answer, or anything else with the open response. */
export type Reaction =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | ((response: ServerResponse) => void)

/** Never answers. */
export const silent: Reaction = () => {}
export const reset: Reaction = (response) => response.socket?.destroy()

export interface Receiver {
  readonly url: string
  readonly received: Array<Received>
  /** Connections that were made. */
  readonly connections: () => number
  /** Connections that are open. */
  readonly open: () => number
  react: (request: Received, ordinal: number) => Reaction
}

export const receiver = Effect.fnUntraced(function* (
  react: Receiver["react"] = () => ({ status: 204 }),
  port?: number,
) {
  let connections = 0
  let open = 0
  const { origin, server } = yield* listening(
    withBody(({ headers, method = "", url: path = "" }, response, body) => {
      const received = { method, path, headers, body: body.toString() }
      self.received.push(received)
      const reaction = self.react(received, self.received.length)
      if (typeof reaction === "function") return reaction(response)
      response.writeHead(reaction.status, reaction.headers)
      response.end(reaction.body)
    }),
    port,
  )
  server.on("connection", (socket) => {
    connections++
    open++
    socket.on("close", () => open--)
  })
  const url = `${origin}/hook`
  const self: Receiver = { url, received: [], connections: () => connections, open: () => open, react }
  return self
})

/** The first request meets this reaction, all others are answered 200. */
export const once =
  (reaction: Reaction): Receiver["react"] =>
  (_, ordinal) =>
    ordinal === 1 ? reaction : { status: 200 }

export const temporaryFile = Effect.provide(temporaryPath("service.sqlite"), NodeServices.layer)

/** Over a file; `filename` for one that outlives the layer. */
export const webhooks = (options: WebhooksOptions = {}, filename = ":memory:") =>
  Webhooks.layer({ allowLoopback: true, ...options }).pipe(
    Layer.provideMerge(Database.layer),
    Layer.provide(Layer.fresh(SqliteClient.layer({ filename }))),
    Layer.orDie,
  )

/** Webhooks over a file, until the body ends: each call is a session of the service. */
export const sessions =
  (filename: string, options?: WebhooksOptions) =>
  <A>(body: () => Generator<Effect.Effect<unknown, unknown, Webhooks | Database>, A, never>) =>
    Effect.provide(Effect.gen(body), webhooks(options, filename), { local: true })

type Around = <A, E>(write: Effect.Effect<A, E | SqlError>) => Effect.Effect<A, E | SqlError>

/** A database whose writes go through this function. */
export const databaseThrough = (around: Around) => {
  const database = Effect.map(Database, ({ sql, write }) => ({
    sql,
    write: ((statements) => around(write(statements))) satisfies typeof write,
  }))
  return Layer.provide(Layer.effect(Database, database), Database.layer)
}

export const webhooksThrough = (around: Around) =>
  Webhooks.layer({ allowLoopback: true }).pipe(
    Layer.provideMerge(databaseThrough(around)),
    Layer.provide(Layer.fresh(SqliteClient.layer({ filename: ":memory:" }))),
  )

const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Waits for what is observed to be so, while real input and output go on; virtual time stands still. */
export const until = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  isSo: (seen: A) => boolean,
): Effect.fn.Return<A, E, R> {
  for (;;) {
    const seen = yield* look
    if (isSo(seen)) return seen
    yield* turn
  }
})

/**
 * Lets everything happen that needs no time to pass: as much hashing and as many exchanges
 * over real sockets as several attempts take.
 */
export const settle = Effect.scoped(
  Effect.flatMap(receiver(), ({ url }) =>
    Effect.promise(() => crypto.subtle.digest("SHA-256", new Uint8Array(1))).pipe(
      Effect.andThen(HttpClient.post(url)),
      Effect.flatMap((response) => response.text),
      Effect.andThen(turn),
      Effect.repeat({ times: 9 }),
    ),
  ),
).pipe(Effect.provide(FetchHttpClient.layer))

export const detail = (messageId: string) =>
  Webhooks.pipe(
    Effect.flatMap((webhooks) => webhooks.delivery(messageId)),
    Effect.map(Option.getOrThrow),
  )

/** The message, when its attempt of that number has been stored. */
export const attempted = (messageId: string, number: number) =>
  until(detail(messageId), ({ delivery }) => delivery.attempts >= number)

/** Stores the event of a completed group. @returns the id of the newest message, which is its. */
export const complete = Effect.fnUntraced(function* (
  groupId: string,
  taskIds: ReadonlyArray<string> = ["task_1"],
  mayGrow = false,
) {
  const { write } = yield* Database
  const webhooks = yield* Webhooks
  yield* write(webhooks.enqueue({ organization: "default", groupId, taskIds, mayGrow }))
  yield* webhooks.wake
  const { deliveries } = yield* webhooks.deliveries({ limit: 1 })
  return deliveries[0]!.message_id
})

/** Until when nothing is sent, as it is stored. */
export const pausedUntil = Effect.gen(function* () {
  const { sql } = yield* Database
  const rows = yield* sql<{ paused_until: number }>`SELECT paused_until FROM webhook_endpoint`
  return rows[0]?.paused_until
})

/** Sets the receiver's URL. @returns the secret. */
export const set = Effect.fnUntraced(function* (url: string) {
  const { secret } = yield* (yield* Webhooks).set(url)
  return Option.getOrUndefined(secret)
})

/** A receiver whose URL is set. */
export const subscriber = (react?: Receiver["react"]) => Effect.tap(receiver(react), ({ url }) => set(url))

export const requests = (target: Receiver, n: number) =>
  until(
    Effect.sync(() => target.received.length),
    (length) => length === n,
  )

/** The body, if the reference library takes the signature; it throws otherwise. The age of the delivery is not checked. */
export const verifiedBy = (secret: string, { body, headers }: Received): unknown => {
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const library = new Webhook(secret)
  const at = new Date(Number(flat["webhook-timestamp"]) * 1000)
  const expected = library.sign(flat["webhook-id"]!, at, body)
  if (!flat["webhook-signature"]!.split(" ").includes(expected)) throw new Error("no signature matches")
  return JSON.parse(body)
}

/** Servers of `node:http` on a free port of loopback, for fakes of services, and requests as they are. */
import { once } from "node:events"
import {
  createServer,
  type IncomingMessage,
  request as send,
  type RequestListener,
  type RequestOptions,
  type ServerOptions,
  type ServerResponse,
} from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export const bodyOf = async (stream: AsyncIterable<Buffer>) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const listen = async (listener: RequestListener, options: ServerOptions = {}, at = 0) => {
  const server = createServer(options, listener)
  await once(server.listen(at, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closed = new Promise((done) => server.close(done))
    server.closeAllConnections()
    await closed
  }
  return { server, port, origin: `http://127.0.0.1:${port}`, close }
}

/** The same for the time of a scope. */
export const listening = (listener: RequestListener, at?: number) =>
  Effect.acquireRelease(
    Effect.promise(() => listen(listener, {}, at)),
    ({ close }) => Effect.promise(close),
  )

/** Answers requests once they are here as a whole. One that breaks off gets no answer. */
export const withBody =
  (answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void): RequestListener =>
  (request, response) => {
    const read = async () => {
      const body = await bodyOf(request).catch(() => undefined)
      if (body !== undefined) answer(request, response, body)
    }
    void read()
  }

/** The answer to a request on a connection of its own, and its body. */
export const exchange = (options: RequestOptions, body?: string) =>
  Effect.callback<readonly [answer: IncomingMessage, body: Buffer], Error>((resume) => {
    const fail = (error: Error) => resume(Effect.fail(error))
    const outgoing = send({ ...options, agent: false }, (answer) => {
      bodyOf(answer).then((bytes) => resume(Effect.succeed([answer, bytes] as const)), fail)
    })
    outgoing.on("error", fail)
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

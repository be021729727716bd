/** Servers of `node:http` on a free port of loopback, for fakes of services. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
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

export const listen = async (listener: RequestListener, options: ServerOptions = {}) => {
  const server = createServer(options, listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closed = new Promise((done) => server.close(done))
    server.closeAllConnections()
    await closed
  }
  return { server, port, origin: `http://127.0.0.1:${port}`, close }
}

/** The same for the time of a scope. */
export const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(() => listen(listener)),
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

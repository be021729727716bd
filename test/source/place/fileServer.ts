/** Real servers of files on loopback, with ranges and their conditions. */
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A server on a free port; what was asked of it. */
export const serve = Effect.fnUntraced(function* (handle: RequestListener, { tls = false } = {}) {
  const asked: Array<IncomingMessage> = []
  const listener: RequestListener = (request, response) => {
    asked.push(request)
    handle(request, response)
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const certificate = () => readFileSync(new URL("fixtures/localhost.pem", import.meta.url))
      const server = tls
        ? createSecureServer({ key: certificate(), cert: certificate() }, listener)
        : createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, asked }
})

export interface Kept {
  readonly content: Uint8Array
  readonly etag?: string
  readonly modified?: string
}

const rangeOf = ({ headers }: IncomingMessage) => /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? []

/** Answers as a server of files does, with ranges and their conditions (RFC 9110, 13 and 14). */
export const answer = (request: IncomingMessage, response: ServerResponse, { content, etag, modified }: Kept) => {
  if (etag !== undefined) response.setHeader("etag", etag)
  if (modified !== undefined) response.setHeader("last-modified", modified)
  const condition = request.headers["if-range"]
  const isFresh = condition === undefined || condition === etag || condition === modified
  const [, first, last] = rangeOf(request)
  if (first === undefined || !isFresh) {
    response.writeHead(200, { "content-length": content.length })
    return response
  }
  const start = Number(first)
  if (start >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` })
    return response
  }
  const end = last === "" ? content.length : Math.min(Number(last) + 1, content.length)
  response.writeHead(206, {
    "content-range": `bytes ${start}-${end - 1}/${content.length}`,
    "content-length": end - start,
  })
  return response
}

export const piece = (request: IncomingMessage, content: Uint8Array) => {
  const [, first, last] = rangeOf(request)
  return content.slice(Number(first ?? 0), last === undefined || last === "" ? undefined : Number(last) + 1)
}

export const keeping =
  (kept: Kept): RequestListener =>
  (request, response) =>
    answer(request, response, kept).end(piece(request, kept.content))

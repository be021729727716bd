/**
 * Reads a file at an `http://` or `https://` URL, byte for byte as stored. Reading fails if the file has changed since
 * it was opened (`ETag`, `Last-Modified`, size). Redirects from `https` to `http` are refused. Authorization is sent
 * only to the host in the URL. Names and messages omit user and query, because these are secrets. A GET for the first
 * byte opens the file, because signed URLs often permit only GET.
 */
import { Effect, Layer, Result, type Scope, Stream } from "effect"
import * as Base64 from "effect/encoding/Base64"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpFailure from "../../io/HttpFailure.ts"
import * as NodeHttpClient from "../../node/HttpClient.ts"
import { fileNotFound, type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input, Version } from "./Input.ts"
import * as Remote from "./Remote.ts"

const maxRedirects = 10

interface Target {
  /** The URL without user, query, and fragment. */
  readonly name: string
  /** The URL without user and fragment. */
  readonly url: string
  readonly authorization: string | undefined
}

type SizedVersion = Version & { readonly size: number | undefined }

export const open = Effect.fn("HttpFile.open")(function* (
  text: string,
): Effect.fn.Return<Input, SourceError, Scope.Scope> {
  const target = yield* parse(text)
  const context = yield* Layer.build(NodeHttpClient.layer)
  const get = (headers: Readonly<Record<string, string>>) => Effect.provideContext(request(target, headers), context)
  const probe = Effect.scoped(
    Effect.flatMap(get({ range: "bytes=0-0" }), (response) =>
      // An empty file has no first byte.
      response.status === 416 && totalOf(response) === 0
        ? Effect.succeed({ response, size: 0 })
        : Effect.as(checkStatus(target, response), { response, size: sizeOf(response) }),
    ),
  )
  const { response, size } = yield* Remote.withRetries(target.name, probe)
  const version = versionOf(response, size)
  const condition = conditionOf(version)
  const hasRanges = response.status === 206 && size !== undefined && condition !== undefined
  return yield* Remote.input({
    name: target.name,
    size,
    hasRanges,
    version,
    read: Effect.fnUntraced(function* (start, range) {
      const response = yield* get(range === undefined ? {} : { range, "if-range": condition ?? "" })
      yield* checkStatus(target, response)
      yield* requireUnchanged(target, version, response)
      yield* requireRange(target, response, range === undefined ? undefined : start)
      return Stream.mapError(response.stream, (error) => Remote.disconnected(target.name, error))
    }),
  })
})

const parse = Effect.fnUntraced(function* (text: string) {
  const url = URL.parse(text)
  if (url === null || url.hostname === "") {
    return yield* unreadable(text.replace(/[?#].*|(?<=\/\/)[^/]*@/gs, ""), "invalid URL")
  }
  const { password, username } = url
  url.username = ""
  url.password = ""
  url.hash = ""
  const target: Target = {
    name: `${url.origin}${url.pathname}`,
    url: url.href,
    authorization: username === "" && password === "" ? undefined : basic(username, password),
  }
  return target
})

const basic = (username: string, password: string): string =>
  `Basic ${Base64.encode(new TextEncoder().encode(`${decodePercent(username)}:${decodePercent(password)}`))}`

const decodePercent = (text: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text,
  )

const insecureRedirect = "the server redirects from https to http, which is not secure; use the target's https URL"

const request = Effect.fnUntraced(function* (target: Target, headers: Readonly<Record<string, string>>) {
  const isSecure = target.url.startsWith("https:")
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.transform(
      (
        response,
        request,
      ): Effect.Effect<HttpClientResponse.HttpClientResponse, SourceError | HttpClientError.HttpClientError> =>
        isSecure && !request.url.startsWith("https:") ? unreadable(target.name, insecureRedirect) : response,
    ),
    HttpClient.followRedirects(maxRedirects),
    HttpClient.withScope,
  )
  const { authorization } = target
  const request = HttpClientRequest.get(target.url, {
    headers: {
      "accept-encoding": "identity",
      ...(authorization === undefined ? undefined : { authorization }),
      ...headers,
    },
  })
  // A trace span would contain the query.
  return yield* client.execute(request).pipe(
    Effect.catchTag("HttpClientError", (error) => Effect.fail(Remote.disconnected(target.name, error))),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
  )
})

const checkStatus = (
  { name }: Target,
  { headers, status }: HttpClientResponse.HttpClientResponse,
): Effect.Effect<void, SourceError | Remote.ConnectionLost> => {
  if (status === 200 || status === 206) {
    const encoding = headers["content-encoding"]
    return encoding === undefined || storable.has(encoding)
      ? Effect.void
      : unreadable(
          name,
          `the server sends the file with a content encoding that was not requested (${encoding}); download the file first`,
        )
  }
  const kind = HttpFailure.kindOf(status)
  if (kind === "notFound") return fileNotFound(name)
  if (kind === "rateLimited" || kind === "timeout" || kind === "serverError") {
    const seconds = Number(headers["retry-after"])
    return new Remote.ConnectionLost({
      problem: `the server answered ${status}${kind === "rateLimited" ? " (too many requests)" : ""}`,
      ...(seconds > 0 ? { retryAfter: seconds * 1000 } : undefined),
    })
  }
  return unreadable(name, refusals.get(status) ?? `the server answered ${status}`)
}

const storable: ReadonlySet<string> = new Set(["identity", "gzip", "x-gzip", "zstd"])

const refusals: ReadonlyMap<number, string> = new Map<number, string>([
  [401, "the server requires authorization (401); add user and password to the URL, or use a signed URL"],
  [403, "the server denies access (403); check the user in the URL, or whether the URL's signature has expired"],
  [416, "the file became shorter while it was read"],
  ...[301, 302, 303, 307, 308].map(
    (status) => [status, `the server redirects more than ${maxRedirects} times, or without a target`] as const,
  ),
])

const versionOf = ({ headers }: HttpClientResponse.HttpClientResponse, size: number | undefined): SizedVersion => ({
  size,
  etag: headers["etag"],
  last_modified: headers["last-modified"],
})

/** `If-Range` does not allow weak tags (RFC 9110, 13.1.5). */
const conditionOf = ({ etag, last_modified }: Version): string | undefined =>
  etag !== undefined && !etag.startsWith("W/") ? etag : last_modified

const requireUnchanged = (
  { name }: Target,
  openedVersion: SizedVersion,
  response: HttpClientResponse.HttpClientResponse,
) => {
  const currentVersion = versionOf(response, sizeOf(response))
  const differs = (key: keyof SizedVersion) =>
    openedVersion[key] !== undefined && currentVersion[key] !== undefined && openedVersion[key] !== currentVersion[key]
  // If the tag matches, the date is irrelevant.
  const isChanged = differs("size") || differs("etag") || (openedVersion.etag === undefined && differs("last_modified"))
  return isChanged ? Effect.fail(unreadable(name, "the file changed since it was opened; run again")) : Effect.void
}

const requireRange = (
  { name }: Target,
  response: HttpClientResponse.HttpClientResponse,
  start: number | undefined,
): Effect.Effect<void, SourceError> => {
  const range = response.status === 206 ? response.headers["content-range"] : undefined
  const isRequested = start === undefined ? response.status === 200 : range?.startsWith(`bytes ${start}-`) === true
  if (isRequested) return Effect.void
  const part = start === undefined ? "the whole file" : `its bytes from ${start}`
  return unreadable(name, `the request was for ${part}, but the server sent ${range ?? "something else"}`)
}

const totalOf = ({ headers }: HttpClientResponse.HttpClientResponse): number | undefined =>
  sizeIn(/^bytes (?:\d+-\d+|\*)\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1])

const sizeOf = (response: HttpClientResponse.HttpClientResponse): number | undefined =>
  response.status === 206 ? totalOf(response) : sizeIn(response.headers["content-length"])

const sizeIn = (digits: string | undefined): number | undefined =>
  digits !== undefined && /^\d+$/.test(digits) ? Number(digits) : undefined

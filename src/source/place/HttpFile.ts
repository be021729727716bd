/**
 * Reads a file at a URL. Fails if it has changed since it was opened (`ETag`, `Last-Modified`, size). Redirects from
 * `https` to `http` are refused, and authorization is sent only to the URL's host. Names and messages omit user and
 * query, which may be secret. A GET for the first byte opens the file, because signed URLs often permit only GET.
 */
import { Effect, type FileSystem, Layer, type Path, type Scope, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpFailure from "../../io/HttpFailure.ts"
import * as NodeHttpClient from "../../node/HttpClient.ts"
import { fileNotFound, type SourceError, unreadable } from "../record/SourceError.ts"
import * as HttpCredentials from "./HttpCredentials.ts"
import type { Input, Version } from "./Input.ts"
import * as Remote from "./Remote.ts"

const maxRedirects = 10

export type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

export interface RemoteFile {
  readonly name: string
  readonly url: string
  /** Computed for each request, because tokens expire. */
  readonly headers: Effect.Effect<Headers, SourceError | Remote.ConnectionLost>
  /** Detects changes by `If-Range` (`conditional`) or `ETag` (`compared`). `impossible`: the file never changes. */
  readonly changes: "conditional" | "compared" | "impossible"
  readonly refusal: (answer: Answer) => SourceError | undefined
}

type SizedVersion = Version & { readonly size: number | undefined }

export const open = Effect.fn("HttpFile.open")(function* (
  text: string,
): Effect.fn.Return<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  return yield* openTarget(yield* parse(text))
})

export const openTarget = Effect.fnUntraced(function* (
  target: RemoteFile,
): Effect.fn.Return<Input, SourceError, Scope.Scope> {
  const context = yield* Layer.build(NodeHttpClient.layer)
  const get = (headers: Headers) => Effect.provideContext(request(target, headers), context)
  const probe = Effect.scoped(
    Effect.flatMap(get({ range: "bytes=0-0" }), (response) =>
      response.status === 416 && totalOf(response) === 0
        ? Effect.succeed({ response, size: 0 })
        : Effect.as(checkStatus(target, response), { response, size: sizeOf(response) }),
    ),
  )
  const { response, size } = yield* Remote.withRetries(target.name, probe)
  const { changes } = target
  const version = changes === "impossible" ? { size } : versionOf(response, size)
  const condition = changes === "conditional" ? conditionOf(version) : undefined
  const isChecked = changes === "impossible" || (changes === "compared" ? version.etag : condition) !== undefined
  const hasRanges = response.status === 206 && size !== undefined && isChecked
  return yield* Remote.input({
    name: target.name,
    size,
    hasRanges,
    version,
    read: Effect.fnUntraced(function* (start, range) {
      const conditional = condition === undefined ? undefined : { "if-range": condition }
      const response = yield* get(range === undefined ? {} : { range, ...conditional })
      yield* checkStatus(target, response)
      yield* requireUnchanged(target, version, response)
      yield* requireRange(target, response, range === undefined ? undefined : start)
      return Stream.mapError(response.stream, (error) => Remote.disconnected(target.name, error))
    }),
  })
})

export const json = Effect.fnUntraced(function* (target: RemoteFile) {
  const context = yield* Layer.build(NodeHttpClient.layer)
  const attempt = Effect.gen(function* () {
    const response = yield* request(target, {})
    yield* checkStatus(target, response)
    return yield* Effect.mapError(response.json, (error) => Remote.disconnected(target.name, error))
  })
  return yield* Remote.withRetries(target.name, Effect.scoped(Effect.provideContext(attempt, context)))
}, Effect.scoped)

const parse = Effect.fnUntraced(function* (text: string) {
  const url = URL.parse(text)
  if (url === null || url.hostname === "") {
    return yield* unreadable(text.replace(/[?#].*|(?<=\/\/)[^/]*@/gs, ""), "invalid URL")
  }
  const name = `${url.origin}${url.pathname}`
  const credentials = yield* HttpCredentials.of(url, name)
  url.username = ""
  url.password = ""
  url.hash = ""
  const target: RemoteFile = {
    name,
    url: url.href,
    headers: Effect.succeed(credentials === undefined ? {} : { authorization: credentials.authorization }),
    changes: "conditional",
    refusal: ({ status }) =>
      status === 401 && credentials !== undefined
        ? unreadable(
            name,
            `the server refuses ${credentials.origin} (401): check whether the credentials are wrong or expired`,
          )
        : undefined,
  }
  return target
})

const insecureRedirect = "the server redirects from https to http, which is not secure; use the target's https URL"

const request = Effect.fnUntraced(function* (target: RemoteFile, headers: Headers) {
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
  const request = HttpClientRequest.get(target.url, {
    headers: { "accept-encoding": "identity", ...(yield* target.headers), ...headers },
  })
  // A trace span would contain the query, which may be secret.
  return yield* client.execute(request).pipe(
    Effect.catchTag("HttpClientError", (error) => Effect.fail(Remote.disconnected(target.name, error))),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
  )
})

const checkStatus = (target: RemoteFile, answer: Answer): Effect.Effect<void, SourceError | Remote.ConnectionLost> => {
  if (answer.status !== 200 && answer.status !== 206) return Effect.fail(failureOf(target, answer))
  const encoding = answer.headers["content-encoding"]
  return encoding === undefined || storable.has(encoding)
    ? Effect.void
    : unreadable(
        target.name,
        `the server sends the file with a content encoding that was not requested (${encoding}); download the file first`,
      )
}

export const failureOf = (
  { name, refusal }: Pick<RemoteFile, "name" | "refusal">,
  answer: Answer,
): SourceError | Remote.ConnectionLost => {
  const { headers, status } = answer
  const problem = refusal(answer)
  if (problem !== undefined) return problem
  const kind = HttpFailure.kindOf(status)
  if (kind === "notFound") return fileNotFound(name)
  if (kind === "rateLimited" || kind === "timeout" || kind === "serverError") {
    const seconds = Number(headers["retry-after"] ?? resetOf(headers["ratelimit"]))
    return new Remote.ConnectionLost({
      problem: `the server answered ${status}${kind === "rateLimited" ? " (too many requests)" : ""}`,
      ...(seconds > 0 ? { retryAfter: seconds * 1000 } : undefined),
    })
  }
  return unreadable(name, refusals.get(status) ?? `the server answered ${status}`)
}

/** The seconds until an exhausted limit is reset: 55 for `"api";r=0;t=55`. */
const resetOf = (rateLimit = ""): string | undefined => /;\s*r=0\s*;\s*t=(\d+)/.exec(rateLimit)?.[1]

const storable: ReadonlySet<string> = new Set(["identity", "gzip", "x-gzip", "zstd"])

const refusals: ReadonlyMap<number, string> = new Map<number, string>([
  [
    401,
    "the server requires authorization (401); set PREFSTREAM_HTTP_TOKENS=HOST=TOKEN, add the host to ~/.netrc, or use a signed URL",
  ],
  [403, "the server denies access (403); check the credentials, or whether the URL's signature has expired"],
  [416, "the file became shorter while it was read; run again"],
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
  { name }: RemoteFile,
  openedVersion: SizedVersion,
  response: HttpClientResponse.HttpClientResponse,
) => {
  const currentVersion = versionOf(response, sizeOf(response))
  const differs = (key: keyof SizedVersion) =>
    openedVersion[key] !== undefined && currentVersion[key] !== undefined && openedVersion[key] !== currentVersion[key]
  const isChanged = differs("size") || differs("etag") || (openedVersion.etag === undefined && differs("last_modified"))
  return isChanged ? Effect.fail(unreadable(name, "the file changed since it was opened; run again")) : Effect.void
}

const requireRange = (
  { name }: RemoteFile,
  response: HttpClientResponse.HttpClientResponse,
  start: number | undefined,
): Effect.Effect<void, SourceError> => {
  const range = response.status === 206 ? response.headers["content-range"] : undefined
  const isRequested = start === undefined ? response.status === 200 : range?.startsWith(`bytes ${start}-`) === true
  if (isRequested) return Effect.void
  const part = start === undefined ? "the whole file" : `the bytes from ${start}`
  return unreadable(name, `the request was for ${part}, but the server sent ${range ?? "something else"}`)
}

const totalOf = ({ headers }: HttpClientResponse.HttpClientResponse): number | undefined =>
  sizeIn(/^bytes (?:\d+-\d+|\*)\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1])

const sizeOf = (response: HttpClientResponse.HttpClientResponse): number | undefined =>
  response.status === 206 ? totalOf(response) : sizeIn(response.headers["content-length"])

const sizeIn = (digits: string | undefined): number | undefined =>
  digits !== undefined && /^\d+$/.test(digits) ? Number(digits) : undefined

/**
 * A server of Google Cloud Storage's JSON API as far as objects are listed and read, and of the endpoints that give access
 * tokens: a machine's metadata server, and the exchange of a workload's identity. Objects have an ETag and a generation; an
 * object that is stored with gzip is decompressed for whoever does not accept gzip, and then has no ranges.
 *
 * https://cloud.google.com/storage/docs/json_api/v1, https://cloud.google.com/compute/docs/metadata/overview
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { gunzipSync } from "node:zlib"
import { Effect } from "effect"
import { answer, piece, serve } from "./fileServer.ts"

interface Stored {
  readonly content: Uint8Array
  readonly isGzip: boolean
  readonly generation: number
}

const pageSize = 2

/** The bucket `public` is for all; the bucket `data` needs the token that the server gave last. */
export const make = Effect.fnUntraced(function* () {
  const buckets = new Map([
    ["data", new Map<string, Stored>()],
    ["public", new Map<string, Stored>()],
  ])
  let count = 0
  let token = "planted-0"
  let cutAfter = Infinity

  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  const refuse = (response: ServerResponse, code: number, reason: string) =>
    json(response, code, { error: { code, message: reason, errors: [{ domain: "global", reason }] } })

  const listed = (response: ServerResponse, url: URL, objects: ReadonlyMap<string, Stored>) => {
    const { delimiter = "", pageToken = "0", prefix = "" } = Object.fromEntries(url.searchParams)
    const names = [...objects.keys()]
      .toSorted()
      .filter((name) => name.startsWith(prefix))
      .filter((name) => delimiter === "" || !name.slice(prefix.length).includes(delimiter))
    const from = Number(pageToken)
    const next = from + pageSize < names.length ? { nextPageToken: String(from + pageSize) } : {}
    // A page without objects has no list.
    const items = names.slice(from, from + pageSize).map((name) => ({ name }))
    return json(response, 200, { ...next, ...(items.length === 0 ? {} : { items }) })
  }

  const sent = (request: IncomingMessage, response: ServerResponse, { content, generation, isGzip }: Stored) => {
    response.setHeader("x-goog-generation", generation)
    if (isGzip && request.headers["accept-encoding"] !== "gzip") {
      return response.writeHead(200, { "transfer-encoding": "chunked" }).end(gunzipSync(content))
    }
    if (isGzip) response.setHeader("content-encoding", "gzip")
    const bytes = piece(request, content)
    // The tag has no quotes.
    answer(request, response, { content, etag: `CJ${generation}EAE=` })
    if (bytes.length <= cutAfter) return response.end(bytes)
    return response.write(bytes.slice(0, cutAfter), () => response.destroy())
  }

  const { asked, host, url } = yield* serve((request, response) => {
    const url = new URL(request.url!, "http://localhost")
    if (url.pathname.startsWith("/computeMetadata/")) {
      response.setHeader("metadata-flavor", "Google")
      return url.pathname.endsWith("/token")
        ? json(response, 200, { access_token: token, expires_in: 3600, token_type: "Bearer" })
        : json(response, 200, {})
    }
    if (url.pathname === "/sts") return json(response, 400, { error: "invalid_grant", error_description: "expired" })
    const [, bucket = "", object] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(url.pathname) ?? []
    const { authorization } = request.headers
    if (authorization !== undefined && authorization !== `Bearer ${token}`) return refuse(response, 401, "authError")
    if (bucket === "forbidden") return refuse(response, 403, "forbidden")
    if (bucket !== "public" && authorization === undefined) return refuse(response, 401, "required")
    const objects = buckets.get(bucket)
    if (objects === undefined) return refuse(response, 404, "notFound")
    if (object === undefined) return listed(response, url, objects)
    const stored = objects.get(decodeURIComponent(object))
    if (stored === undefined || url.searchParams.get("alt") !== "media") return refuse(response, 404, "notFound")
    return sent(request, response, stored)
  })
  return {
    url,
    host,
    asked,
    put: (bucket: string, key: string, content: Uint8Array, { isGzip = false } = {}) =>
      void buckets.get(bucket)!.set(key, { content, isGzip, generation: ++count }),
    /** All tokens so far have expired. */
    expireTokens: () => void (token = `planted-${++count}`),
    cutAfter: (bytes: number) => void (cutAfter = bytes),
  }
})

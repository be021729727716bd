/** Reads `s3://bucket/key`. The key is not percent-encoded. Fails if the object has changed since it was opened. */
import { Effect, type Scope, Stream } from "effect"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"
import { kindOf } from "./PlaceName.ts"
import * as Remote from "./Remote.ts"
import * as S3Client from "./S3Client.ts"

export const open = Effect.fn("S3Object.open")(function* (
  name: string,
): Effect.fn.Return<Input, SourceError, Scope.Scope> {
  const { bucket, key } = yield* parse(name)
  const connection = yield* S3Client.connect(name)
  const { etag, size } = yield* Remote.withRetries(name, head(connection, bucket, key))
  return yield* Remote.input({
    name,
    size,
    hasRanges: true,
    version: { etag },
    read: Effect.fnUntraced(function* (start, range) {
      const answer = yield* connection.get({ bucket, key, range, etag })
      if (answer === undefined) return yield* changedFailure(name)
      const isSame = etag === undefined || answer.etag === undefined || answer.etag === etag
      if (!isSame) return yield* changedFailure(name)
      if (range !== undefined && answer.range?.startsWith(`bytes ${start}-`) !== true) {
        return yield* unreadable(
          name,
          `the request was for ${range}, but the storage sent ${answer.range ?? "the whole object"}`,
        )
      }
      return bytesOf(name, answer)
    }),
  })
})

export const list = Effect.fn("S3Object.list")(function* ({
  name,
  ...request
}: S3Client.ListRequest & { readonly name: string }) {
  const connection = yield* S3Client.connect(name)
  const keys: Array<string> = []
  let next: string | undefined
  do {
    const page: S3Client.ListAnswer = yield* Remote.withRetries(name, connection.list({ ...request, next }))
    for (const key of page.keys) keys.push(key)
    next = page.next
  } while (next !== undefined)
  return keys
}, Effect.scoped)

export const parse = (name: string) => {
  const [, bucket, key = ""] = /^\w+:\/\/([^/]+)(?:\/(.*))?$/s.exec(name) ?? []
  return bucket === undefined
    ? Effect.fail(unreadable(name, `expected ${kindOf(name)}://BUCKET/KEY`))
    : Effect.succeed({ bucket, key })
}

/** Requests the first byte, because the answer to HEAD is the same for a missing bucket and a missing key. */
const head = Effect.fnUntraced(function* (connection: S3Client.Connection, bucket: string, key: string) {
  const first = yield* connection.get({ bucket, key, range: "bytes=0-0" })
  if (first === undefined) return { size: 0, etag: undefined }
  const [, total] = /\/(\d+)$/.exec(first.range ?? "") ?? []
  const size = total === undefined ? first.length : Number(total)
  if (size !== 0) yield* Effect.ignore(Stream.runHead(bytesOf("", first)))
  return { size, etag: first.etag }
})

const changedFailure = (name: string) => unreadable(name, "the object changed since it was opened; run again")

const bytesOf = (name: string, { body }: S3Client.ObjectAnswer) =>
  body === undefined ? Stream.empty : Stream.fromAsyncIterable(body, (error) => Remote.disconnected(name, error))

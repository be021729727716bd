/** The optional client library for S3. A custom endpoint needs no region, and has the bucket in the path. */
import { Data, Effect, Predicate, type Scope } from "effect"
import { variable } from "../../io/Environment.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { fileNotFound, type SourceError, unreadable } from "../record/SourceError.ts"
import * as Remote from "./Remote.ts"

export interface ObjectAnswer {
  readonly body: AsyncIterable<Uint8Array> | undefined
  readonly length: number | undefined
  readonly range: string | undefined
  readonly etag: string | undefined
}

export interface ListAnswer {
  readonly keys: ReadonlyArray<string>
  readonly next: string | undefined
}

export interface ListRequest {
  readonly bucket: string
  readonly prefix: string
  readonly isFlat: boolean
  readonly next?: string | undefined
}

export interface Connection {
  /** `undefined` if the range is beyond the end of the object. */
  readonly get: (request: {
    readonly bucket: string
    readonly key: string
    readonly range?: string | undefined
    readonly etag?: string | undefined
  }) => Effect.Effect<ObjectAnswer | undefined, SourceError | Remote.ConnectionLost>
  readonly list: (request: ListRequest) => Effect.Effect<ListAnswer, SourceError | Remote.ConnectionLost>
}

export const connect = Effect.fnUntraced(function* (
  name: string,
): Effect.fn.Return<Connection, SourceError, Scope.Scope> {
  const { GetObjectCommand, ListObjectsV2Command, S3Client } = yield* Remote.client(
    name,
    "S3",
    "@aws-sdk/client-s3",
    () => import("@aws-sdk/client-s3").catch(Remote.rethrow),
  )
  const hasEndpoint = yield* endpointIsSet
  const make = (region?: string) =>
    Effect.acquireRelease(
      Effect.sync(
        () => new S3Client({ forcePathStyle: hasEndpoint, ...(region === undefined ? undefined : { region }) }),
      ),
      (client) => Effect.sync(() => client.destroy()),
    )
  const defaultClient = yield* make()
  const hasRegion = yield* Effect.isSuccess(Effect.tryPromise(() => defaultClient.config.region()))
  if (!hasRegion && !hasEndpoint) {
    return yield* unreadable(name, "no region is set; set AWS_REGION to the bucket's region")
  }
  const client = hasRegion ? defaultClient : yield* make(endpointRegion)
  yield* Effect.tryPromise({
    try: () => client.config.credentials(),
    catch: (cause) =>
      unreadable(
        name,
        "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        cause,
      ),
  })
  const request = <A>(send: (options: { readonly abortSignal: AbortSignal }) => Promise<A>) =>
    Effect.tryPromise({ try: (abortSignal) => send({ abortSignal }), catch: (cause) => new RequestFailed({ cause }) })
  const fail = ({ cause }: RequestFailed) => Effect.fail(failure(name, cause))
  const connection: Connection = {
    get: ({ bucket, etag, key, range }) =>
      request((options) =>
        client.send(
          new GetObjectCommand({
            Bucket: bucket,
            Key: key,
            ...(range === undefined ? undefined : { Range: range }),
            ...(etag === undefined ? undefined : { IfMatch: etag }),
          }),
          options,
        ),
      ).pipe(
        Effect.map(({ Body, ContentLength, ContentRange, ETag }) => ({
          body: isBytes(Body) ? Body : undefined,
          length: ContentLength,
          range: ContentRange,
          etag: ETag,
        })),
        Effect.catch((refused) =>
          codeOf(refused.cause) === "InvalidRange" ? Effect.succeed(undefined) : fail(refused),
        ),
      ),
    list: ({ bucket, isFlat, next, prefix }) =>
      request((options) =>
        client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            ...(isFlat ? { Delimiter: "/" } : undefined),
            ...(next === undefined ? undefined : { ContinuationToken: next }),
          }),
          options,
        ),
      ).pipe(
        Effect.map(({ Contents = [], IsTruncated, NextContinuationToken }) => ({
          keys: Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key])),
          next: IsTruncated === true ? NextContinuationToken : undefined,
        })),
        Effect.catch(fail),
      ),
  }
  return connection
})

class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly cause: unknown }> {}

const endpointRegion = "us-east-1"

const endpointIsSet = Effect.map(
  Effect.all([variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL")]),
  (endpoints) => endpoints.some((endpoint) => endpoint !== undefined),
)

const isBytes = (body: unknown): body is AsyncIterable<Uint8Array> => Predicate.hasProperty(body, Symbol.asyncIterator)

const failure = (name: string, error: unknown): SourceError | Remote.ConnectionLost => {
  const code = codeOf(error)
  const status = statusOf(error)
  if (code === "NoSuchKey" || code === "NotFound") return fileNotFound(name)
  const problem = problems.get(code)
  if (problem !== undefined) return unreadable(name, problem, error)
  if (status === undefined) return Remote.disconnected(name, error)
  if (["rateLimited", "serverError"].includes(HttpFailure.kindOf(status))) {
    return new Remote.ConnectionLost({ problem: `the storage answered ${status} (${code})`, cause: error })
  }
  return unreadable(name, `the storage answered ${status} (${code})`, error)
}

const codeOf = (error: unknown): string => (Predicate.hasProperty(error, "name") ? String(error.name) : "")

const statusOf = (error: unknown): number | undefined => {
  const metadata = Predicate.hasProperty(error, "$metadata") ? error.$metadata : undefined
  const status = Predicate.hasProperty(metadata, "httpStatusCode") ? metadata.httpStatusCode : undefined
  return typeof status === "number" ? status : undefined
}

const problems: ReadonlyMap<string, string> = new Map([
  ["NoSuchBucket", "there is no such bucket; check its name, and the endpoint"],
  [
    "AccessDenied",
    "these credentials do not permit reading; they need s3:GetObject, and s3:ListBucket for folders and patterns",
  ],
  [
    "InvalidAccessKeyId",
    "the storage service does not recognize this access key; check AWS_ACCESS_KEY_ID and the endpoint",
  ],
  ["SignatureDoesNotMatch", "the secret does not match the access key; check AWS_SECRET_ACCESS_KEY"],
  ["ExpiredToken", "the credentials have expired; get new ones"],
  ["PermanentRedirect", "the bucket is in another region; set AWS_REGION to its region"],
  ["AuthorizationHeaderMalformed", "the bucket is in another region; set AWS_REGION to its region"],
  ["PreconditionFailed", "the object changed since it was opened; run again"],
])

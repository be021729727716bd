/**
 * The client library of S3-compatible storage, loaded when it is first needed.
 *
 * Guarantees: credentials, region and endpoint are found as that library finds them (`AWS_ACCESS_KEY_ID`, `AWS_PROFILE`,
 * `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, …). With an endpoint, buckets are part of the path and the region is optional.
 * None of the library's types is exported, so that who reads no S3 need not install it.
 */
import { Config, Data, Effect, Option, Predicate, type Scope } from "effect"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { FileNotFound, SourceError, unreadable } from "../record/SourceError.ts"
import * as Remote from "./Remote.ts"

/** Answers of the protocol, as far as they are used here. */
export interface ObjectAnswer {
  readonly body: AsyncIterable<Uint8Array> | undefined
  readonly length: number | undefined
  /** `bytes 0-99/1234` */
  readonly range: string | undefined
  readonly etag: string | undefined
}

export interface ListAnswer {
  readonly keys: ReadonlyArray<string>
  /** Asks for the next page. */
  readonly next: string | undefined
}

export interface Connection {
  /** @returns nothing where the object has no such byte */
  readonly get: (request: {
    readonly bucket: string
    readonly key: string
    readonly range?: string | undefined
    readonly etag?: string | undefined
  }) => Effect.Effect<ObjectAnswer | undefined, SourceError | Remote.ConnectionLost>
  /** Up to 1,000 keys. @param request `isFlat`: without those that have a further `/` */
  readonly list: (request: {
    readonly bucket: string
    readonly prefix: string
    readonly isFlat: boolean
    readonly next?: string | undefined
  }) => Effect.Effect<ListAnswer, SourceError | Remote.ConnectionLost>
}

/** @param name for messages */
export const connect = Effect.fnUntraced(function* (
  name: string,
): Effect.fn.Return<Connection, SourceError, Scope.Scope> {
  const { GetObjectCommand, ListObjectsV2Command, S3Client } = yield* library(name)
  const hasEndpoint = yield* endpointIsSet
  const make = (region?: string) =>
    Effect.acquireRelease(
      Effect.sync(
        () => new S3Client({ forcePathStyle: hasEndpoint, ...(region === undefined ? undefined : { region }) }),
      ),
      (client) => Effect.sync(() => client.destroy()),
    )
  const found = yield* make()
  const hasRegion = yield* Effect.isSuccess(Effect.tryPromise(() => found.config.region()))
  if (!hasRegion && !hasEndpoint) {
    return yield* unreadable(name, "no region is set; set AWS_REGION to that of the bucket")
  }
  const client = hasRegion ? found : yield* make(regionOfEndpoints)
  yield* Effect.tryPromise({
    try: () => client.config.credentials(),
    catch: (cause) =>
      unreadable(
        name,
        "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        cause,
      ),
  })
  const sent = <A>(send: (options: { readonly abortSignal: AbortSignal }) => Promise<A>) =>
    Effect.tryPromise({ try: (abortSignal) => send({ abortSignal }), catch: (cause) => new Refused({ cause }) })
  const failed = ({ cause }: Refused) => Effect.fail(failure(name, cause))
  const connection: Connection = {
    get: ({ bucket, etag, key, range }) =>
      sent((options) =>
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
          codeOf(refused.cause) === "InvalidRange" ? Effect.succeed(undefined) : failed(refused),
        ),
      ),
    list: ({ bucket, isFlat, next, prefix }) =>
      sent((options) =>
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
        Effect.catch(failed),
      ),
  }
  return connection
})

class Refused extends Data.TaggedError("Refused")<{ readonly cause: unknown }> {}

const library = (name: string) =>
  Effect.tryPromise({
    try: () => import("@aws-sdk/client-s3"),
    catch: (cause) => unreadable(name, "to read from S3, install its client: npm install @aws-sdk/client-s3", cause),
  })

/** What a storage that is not Amazon's, and has no regions, takes for one. */
const regionOfEndpoints = "us-east-1"

const endpointIsSet = Effect.gen(function* () {
  for (const variable of ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]) {
    const value = yield* Effect.option(Config.NonEmptyString(variable))
    if (Option.isSome(value) && value.value !== "") return true
  }
  return false
})

const isBytes = (body: unknown): body is AsyncIterable<Uint8Array> => Predicate.hasProperty(body, Symbol.asyncIterator)

const failure = (name: string, error: unknown): SourceError | Remote.ConnectionLost => {
  const code = codeOf(error)
  const status = statusOf(error)
  if (code === "NoSuchKey" || code === "NotFound") return new SourceError({ reason: new FileNotFound({ file: name }) })
  const problem = problems.get(code)
  if (problem !== undefined) return unreadable(name, problem, error)
  if (status === undefined) return Remote.disconnected(name, error)
  if (["rateLimited", "serverError"].includes(HttpFailure.kindOf(status))) {
    return new Remote.ConnectionLost({ problem: `its storage answers ${status} (${code})`, cause: error })
  }
  return unreadable(name, `its storage answers ${status} (${code})`, error)
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
    "these credentials may not read it; they need s3:GetObject, and s3:ListBucket for folders and patterns",
  ],
  ["InvalidAccessKeyId", "the storage does not know this access key; check AWS_ACCESS_KEY_ID, and the endpoint"],
  ["SignatureDoesNotMatch", "the secret does not fit the access key; check AWS_SECRET_ACCESS_KEY"],
  ["ExpiredToken", "the credentials have expired; get new ones"],
  ["PermanentRedirect", "the bucket is in another region; set AWS_REGION to it"],
  ["AuthorizationHeaderMalformed", "the bucket is in another region; set AWS_REGION to it"],
  ["PreconditionFailed", "it was changed since it was opened; run again"],
])

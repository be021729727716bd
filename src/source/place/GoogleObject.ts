/**
 * Reads `gs://bucket/object`; the name is not percent-encoded. Fails if the object has changed since it was opened.
 * Objects that are stored with gzip stay compressed. Requests to `STORAGE_EMULATOR_HOST` have no credentials.
 */
import { Effect, Option, Schema, type Scope } from "effect"
import type { GoogleAuth } from "google-auth-library"
import { variable } from "../../io/Environment.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { fileNotFound, type SourceError, unreadable } from "../record/SourceError.ts"
import * as HttpFile from "./HttpFile.ts"
import type { Input } from "./Input.ts"
import * as Remote from "./Remote.ts"
import type { ListRequest } from "./S3Client.ts"
import { parse } from "./S3Object.ts"

export const open = Effect.fn("GoogleObject.open")(function* (
  name: string,
): Effect.fn.Return<Input, SourceError, Scope.Scope> {
  const { bucket, key } = yield* parse(name)
  const targetOf = yield* connect(name)
  const target = targetOf(`${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}?alt=media`)
  // Some objects are stored as gzip. Without this header, Google Cloud Storage decompresses them for the response, and
  // does not support ranges.
  const headers = Effect.map(target.headers, (headers) => ({ ...headers, "accept-encoding": "gzip" }))
  return yield* HttpFile.openTarget({ ...target, headers }).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "FileNotFound",
      // A missing bucket and a missing object have the same response. `list` fails if the bucket is missing.
      () => Effect.andThen(list({ name, bucket, prefix: key, isFlat: true }), Effect.fail(fileNotFound(name))),
    ),
  )
})

const Page = Schema.Struct({
  items: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String }))),
  nextPageToken: Schema.optionalKey(Schema.String),
})

export const list = Effect.fn("GoogleObject.list")(function* ({
  bucket,
  isFlat,
  name,
  prefix,
}: ListRequest & { readonly name: string }) {
  const targetOf = yield* connect(name)
  const noBucket = unreadable(name, "there is no such bucket; check its name")
  const keys: Array<string> = []
  let next: string | undefined = ""
  while (next !== undefined) {
    const query = new URLSearchParams({ prefix, fields: "items(name),nextPageToken" })
    if (isFlat) query.set("delimiter", "/")
    if (next !== "") query.set("pageToken", next)
    const target = targetOf(`${encodeURIComponent(bucket)}/o?${query.toString()}`)
    const answer = yield* HttpFile.json({
      ...target,
      refusal: (answer) => (answer.status === 404 ? noBucket : target.refusal(answer)),
    })
    const page: typeof Page.Type = yield* Effect.mapError(Schema.decodeUnknownEffect(Page)(answer), (cause) =>
      unreadable(name, "the storage's answer is not a list of objects; check the endpoint", cause),
    )
    for (const item of page.items ?? []) keys.push(item.name)
    next = page.nextPageToken
  }
  return keys
}, Effect.scoped)

const connect = Effect.fnUntraced(function* (name: string) {
  const emulator = yield* variable("STORAGE_EMULATOR_HOST")
  const override = yield* variable("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE")
  const endpoint = emulator ?? override ?? "https://storage.googleapis.com"
  const key = (yield* Effect.forEach(credentialVariables, variable)).join("\n")
  const credentials = emulator === undefined ? yield* findCredentials(name, key) : undefined
  const base = `${endpoint.includes("://") ? "" : "http://"}${endpoint}`.replace(/\/+(storage\/v1\/*)?$/, "")
  return (path: string): HttpFile.RemoteFile => ({
    name,
    url: `${base}/storage/v1/b/${path}`,
    headers: credentials ?? Effect.succeed({}),
    changes: "compared",
    refusal: ({ status }) => {
      if (status === 401) authByEnvironment.delete(key)
      const problem =
        status === 401 ? (credentials === undefined ? anonymous : refused) : status === 403 ? forbidden : undefined
      return problem === undefined ? undefined : unreadable(name, problem)
    },
  })
})

const login = "log in with gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"
const anonymous = `the object is not public, and no usable credentials were found; ${login}`
const refused = `the storage refuses the credentials (401), which may have expired; ${login}`
const forbidden =
  "these credentials do not permit reading; they need storage.objects.get, and storage.objects.list for folders and patterns"

const credentialVariables = [
  "GOOGLE_APPLICATION_CREDENTIALS",
  "CLOUDSDK_CONFIG",
  "HOME",
  "GCE_METADATA_HOST",
  "METADATA_SERVER_DETECTION",
]
/** Keyed by the values of `credentialVariables`. `GoogleAuth` is reused, because a new one may run a program. */
const authByEnvironment = new Map<string, GoogleAuth>()

/** Returns `undefined` without credentials. The library's errors may contain secrets, so they are dropped. */
const findCredentials = Effect.fnUntraced(function* (name: string, key: string) {
  const { GoogleAuth } = yield* Remote.client(name, "Google Cloud Storage", "google-auth-library", () =>
    import("google-auth-library").catch(Remote.rethrow),
  )
  // No request needs `projectId`. But if it is not set, the library runs `gcloud` for each file.
  const auth =
    authByEnvironment.get(key) ??
    new GoogleAuth({ projectId: "none", scopes: "https://www.googleapis.com/auth/devstorage.read_only" })
  const client = yield* Effect.option(Effect.tryPromise(() => auth.getClient()))
  if (Option.isSome(client)) authByEnvironment.set(key, auth)
  const keyFile = yield* variable("GOOGLE_APPLICATION_CREDENTIALS")
  if (Option.isSome(client)) {
    return Effect.tryPromise({
      try: () => client.value.getRequestHeaders().then((headers): HttpFile.Headers => Object.fromEntries(headers)),
      catch: (cause) => {
        authByEnvironment.delete(key)
        return tokenFailure(name, cause)
      },
    })
  }
  if (keyFile === undefined) return undefined
  return yield* unreadable(name, "the file that GOOGLE_APPLICATION_CREDENTIALS names has no usable credentials")
})

const tokenFailure = (name: string, cause: unknown): SourceError | Remote.ConnectionLost => {
  const chain = HttpFailure.causes(cause)
  const status = chain.flatMap((error) =>
    "status" in error && typeof error.status === "number" ? [error.status] : [],
  )[0]
  if (status !== undefined && !HttpFailure.isTransient(HttpFailure.kindOf(status))) {
    return unreadable(name, `the credentials were refused (${status}), and may have expired; ${login}`)
  }
  const [code] = HttpFailure.codesOf(chain)
  return new Remote.ConnectionLost({
    problem: `no access token: ${HttpFailure.descriptions[code ?? ""] ?? `the credentials' server answered ${status ?? code}`}`,
  })
}

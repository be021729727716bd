/**
 * Pushes a verified dataset to the Hugging Face Hub, in one commit or not at all. Files of an earlier push that the
 * dataset no longer has are deleted; other files stay. Changes to the card on the Hub are overwritten.
 */
/* oxlint-disable max-lines -- one commit: check, upload, and replace */
import type { CommitOperation } from "@huggingface/hub"
import { Duration, Effect, FileSystem, Option, Path, Predicate, Redacted, Schedule, Schema, Stream } from "effect"
import * as HttpFailure from "../io/HttpFailure.ts"
import * as Hub from "../io/Hub.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as Pseudonym from "../node/Pseudonym.ts"
import * as Finding from "./file/Finding.ts"
import * as Manifest from "./Manifest.ts"
import { verify } from "./Verify.ts"

/** An option has an invalid value. */
export class PushOptionInvalid extends Schema.TaggedError<PushOptionInvalid>()("PushOptionInvalid", {
  /** The option's name in `PushOptions`. */
  option: Schema.String,
  /** A description of the allowed values. The value itself is not included, because it may be a secret. */
  expected: Schema.String,
}) {
  override get message() {
    return `${this.option}: expected ${this.expected}`
  }
}

/** The package `@huggingface/hub` is not installed. */
export class HubClientMissing extends Schema.TaggedError<HubClientMissing>()("HubClientMissing", {
  /** The error that the import failed with. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return "to push to the Hub, install its client: npm install @huggingface/hub"
  }
}

/** The dataset does not match its manifest; nothing was sent. */
export class DatasetInvalid extends Schema.TaggedError<DatasetInvalid>()("DatasetInvalid", {
  /** The directory as the caller wrote it. */
  directory: Schema.String,
  /** The errors, in the format of `formatFinding`. */
  findings: Schema.Array(Schema.String),
}) {
  override get message() {
    return `${this.directory} has integrity errors, and was not pushed: ${this.findings.join("; ")}. Export it again.`
  }
}

/** The dataset contains names of experts, but the option `expertNames` is not set; nothing was sent. */
export class ExpertsNamed extends Schema.TaggedError<ExpertsNamed>()("ExpertsNamed", {
  /** The directory as the caller wrote it. */
  directory: Schema.String,
}) {
  override get message() {
    return `${this.directory} contains names of experts, and was not pushed: export it again without \`expertNames\`, or push it with \`expertNames\``
  }
}

/** The Hub refused a request. */
export class HubRefused extends Schema.TaggedError<HubRefused>()("HubRefused", {
  /** `user/name` or `organization/name`. */
  repository: Schema.String,
  /** The HTTP status. 401 and 403 mean that the token is not valid, or lacks a permission. */
  status: Schema.Int,
  /** The error that the Hub's client threw. */
  cause: Schema.Defect(),
}) {
  override get message() {
    const advice =
      this.status === 401
        ? ": the access token is not valid"
        : this.status === 403
          ? ": the access token needs write permission for the repository"
          : ""
    return `the Hub refused ${this.repository} with status ${this.status}${advice} (${textOf(this.cause)})`
  }
}

/** The Hub did not answer, or its response was not as expected. */
export class HubUnreachable extends Schema.TaggedError<HubUnreachable>()("HubUnreachable", {
  /** The server's address, such as `https://huggingface.co`. */
  endpoint: Schema.String,
  /** The error that the request failed with. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return `${this.endpoint} could not be reached (${textOf(this.cause)})`
  }
}

/** Pushing a dataset failed; `reason` is one of the errors above. */
export class PushError extends Schema.TaggedError<PushError>()("PushError", {
  /** The error; use its `_tag` to decide what to do. */
  reason: Schema.Union([PushOptionInvalid, HubClientMissing, DatasetInvalid, ExpertsNamed, HubRefused, HubUnreachable]),
}) {
  override get message() {
    return this.reason.message
  }
}

/** The message of a `fetch` error is general. Only its `cause` has the actual reason. */
const textOf = (error: unknown): string =>
  Predicate.isError(error)
    ? (error.name === "TimeoutError" ? "no answer in time" : error.message) +
      (error.cause === undefined ? "" : `: ${textOf(error.cause)}`)
    : String(error)

/** Options of `push`: the repository, and how to push to it. */
export interface PushOptions {
  /** A dataset repository: `user/name` or `organization/name`. It is created if it does not exist. */
  readonly repository: string
  /** An access token with write permission; it begins with `hf_`. */
  readonly token: Redacted.Redacted
  /** The branch, which is created if it does not exist. Default: `main`. */
  readonly branch?: string | undefined
  /** Whether a new repository is public. Default: false. The visibility of an existing repository does not change. */
  readonly public?: boolean | undefined
  /** Whether to push a dataset that contains names of experts. If false (default), `push` fails with `ExpertsNamed`. */
  readonly expertNames?: boolean | undefined
  /** The Hub's address. Default: `https://huggingface.co`. */
  readonly endpoint?: string | undefined
  /** Timeout of a request. A request gets one more second for each 64 kB that it sends. Default: 30 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
}

/** The state of the repository after a push. */
export interface Pushed {
  /** `user/name` or `organization/name`. */
  readonly repository: string
  /** The branch that the commit is on. */
  readonly branch: string
  /** The repository's address for a browser. */
  readonly url: string
  /** The commit of this push, or the newest commit if the repository already had the dataset. */
  readonly commit: string
  /** Whether the repository already had this dataset. In this case, nothing was committed. */
  readonly unchanged: boolean
  /** Number of preference pairs. */
  readonly rows: number
  /** Number of files of the dataset, including its manifest. */
  readonly files: number
  /** Total size of the dataset's files, in bytes. */
  readonly bytes: number
  /** Paths of files from an earlier push that this push deleted. */
  readonly deleted: ReadonlyArray<string>
}

/** Whether a retry can succeed. Status 412 means that somebody else has committed in the meantime. */
const mayPass = ({ reason }: PushError): boolean => {
  if (reason._tag !== "HubRefused") return reason._tag === "HubUnreachable"
  const kind = HttpFailure.kindOf(reason.status)
  return reason.status === 412 || (HttpFailure.isTransient(kind) && kind !== "tooEarly")
}

const retries = 5

const decodeExperts = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ experts: Schema.Array(Schema.Struct({ expert: Schema.NullOr(Schema.String) })) }),
  ),
)

/** Reports of earlier versions may contain names even if the setting `expert_names` is not set. */
const namesExperts = (report: string): boolean =>
  Option.exists(decodeExperts(report), ({ experts }) =>
    experts.some(({ expert }) => expert !== null && !Pseudonym.isPseudonym(expert)),
  )

const defaultRequestTimeout = Duration.seconds(30)

const minBytesPerMilli = 64

const timedFetch =
  (timeoutMillis: number, maxBytes: number): typeof fetch =>
  (input, init) => {
    const body = init?.body ?? undefined
    const bytes = body === undefined ? 0 : body instanceof Blob ? body.size : maxBytes
    const signals = [
      AbortSignal.timeout(timeoutMillis + Math.ceil(bytes / minBytesPerMilli)),
      init?.signal ?? [],
    ].flat()
    // @effect-diagnostics-next-line globalFetch:off -- the Hub's client takes a `fetch`
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }

const client = Effect.tryPromise({
  // Without this `catch`, bundlers would report an error if the package is not installed.
  try: () =>
    import("@huggingface/hub").catch((cause) => {
      throw cause
    }),
  catch: (cause) => new PushError({ reason: new HubClientMissing({ cause }) }),
})

const repositoryForm = "user/name or organization/name"
const tokenForm = "an access token, which begins with hf_"
// prettier-ignore
const kinds: Kinds.KindsOf<PushOptions> = {
  repository: [repositoryForm, Kinds.anyText[1]], token: [tokenForm, Kinds.redacted[1]], branch: Kinds.text,
  public: Kinds.flag, expertNames: Kinds.flag, endpoint: Kinds.anyText, requestTimeout: Kinds.timeAbove0,
}

const check = (option: string, expected: string, isValid: boolean) =>
  isValid ? Effect.void : Effect.fail(new PushError({ reason: new PushOptionInvalid({ option, expected }) }))

/** Verifies the dataset in `directory` and pushes it. Temporary failures are retried up to five times. */
export const push = Effect.fn("Dataset.push")(function* (
  directory: string,
  options: PushOptions,
): Effect.fn.Return<Pushed, PushError, FileSystem.FileSystem | Path.Path> {
  yield* check("options", "an object with `repository` and `token`", Predicate.isObject(options))
  const wrong = Kinds.wrongIn(options, kinds, ["repository", "token"])
  if (wrong !== undefined) yield* check(wrong.setting, wrong.expected, false)
  const { branch = "main", repository } = options
  yield* check("repository", repositoryForm, /^[\w.-]+\/[\w.-]+$/.test(repository))
  yield* check("token", tokenForm, Hub.isToken(options.token))
  const hub = yield* client
  const endpoint = (options.endpoint ?? hub.HUB_URL).replace(/\/+$/, "")
  yield* check("endpoint", "the address of a server, such as https://huggingface.co", Hub.isEndpoint(endpoint))
  const { findings, rows } = yield* verify(directory)
  const errors = findings.filter(({ severity }) => severity === "error")
  if (errors.length > 0) {
    const reason = new DatasetInvalid({ directory, findings: errors.map(Finding.format) })
    return yield* new PushError({ reason })
  }
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const manifest = yield* fs.readFileString(paths.join(directory, Manifest.fileName)).pipe(
    Effect.flatMap((text) => Effect.map(Manifest.decode(text), ({ files, settings }) => ({ text, files, settings }))),
    Effect.orDie,
  )
  if (options.expertNames !== true) {
    const report = yield* Effect.option(fs.readFileString(paths.join(directory, "report.json")))
    if (manifest.settings?.["expert_names"] === true || Option.exists(report, namesExperts)) {
      return yield* new PushError({ reason: new ExpertsNamed({ directory }) })
    }
  }
  const manifestBytes = new TextEncoder().encode(manifest.text).length

  const failure = (cause: unknown) =>
    new PushError({
      reason: Predicate.hasProperty(cause, "statusCode")
        ? new HubRefused({ repository, status: Number(cause.statusCode), cause })
        : new HubUnreachable({ endpoint, cause }),
    })
  const hubCall = <A>(ask: () => Promise<A>) => Effect.tryPromise({ try: ask, catch: failure })
  const isStatus =
    (...statuses: ReadonlyArray<number>) =>
    ({ reason }: PushError) =>
      reason._tag === "HubRefused" && statuses.includes(reason.status)

  const repo = { type: "dataset", name: repository } as const
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, manifestBytes)
  const timeout = Duration.fromInputUnsafe(options.requestTimeout ?? defaultRequestTimeout)
  const access = {
    hubUrl: endpoint,
    accessToken: Redacted.value(options.token),
    fetch: timedFetch(Duration.toMillis(timeout), bytes),
  }

  const isThere = hubCall(() => hub.repoExists({ repo, ...access }))
  const visibility = options.public === true ? "public" : "private"
  const created = hubCall(() => hub.createRepo({ repo, visibility, ...access })).pipe(
    // Status 409 means that somebody else created the repository in the meantime.
    Effect.catchIf(isStatus(409), () => Effect.void),
  )
  const newest = hubCall(() =>
    hub.datasetInfo({ name: repository, revision: branch, additionalFields: ["sha"], ...access }),
  ).pipe(Effect.map(({ sha }) => sha))
  const head = newest.pipe(
    Effect.catchIf(isStatus(404), () =>
      hubCall(() => hub.createBranch({ repo, branch, ...access })).pipe(Effect.andThen(newest)),
    ),
  )
  const listed = Effect.fnUntraced(function* (revision: string) {
    const files = new Map<string, { readonly size: number; readonly sha256: string | undefined }>()
    const entries = hub.listFiles({ repo, revision, recursive: true, ...access })
    yield* Stream.runForEach(Stream.fromAsyncIterable(entries, failure), ({ lfs, path, size, type }) =>
      Effect.sync(() => {
        if (type === "file") files.set(path, { size: lfs?.size ?? size, sha256: lfs?.oid })
      }),
    )
    return files
  })
  const earlierManifest = (revision: string) =>
    hubCall(() => hub.downloadFile({ repo, revision, path: Manifest.fileName, ...access })).pipe(
      Effect.flatMap((blob) => (blob === null ? Effect.succeed("") : hubCall(() => blob.text()))),
    )

  const commit = Effect.fnUntraced(function* (parentCommit: string, operations: Array<CommitOperation>) {
    const abort = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort()),
    )
    const title = `Push ${rows} preference pairs`
    const settings = { repo, branch, title, parentCommit, operations, abortSignal: abort.signal, ...access }
    const events = hub.commitIter(settings)
    while (true) {
      const { done, value } = yield* hubCall(() => events.next())
      if (done === true) return value?.commit.oid ?? parentCommit
      if (value.event === "fileProgress" && value.state === "uploading" && value.progress === 1) {
        yield* Effect.logInfo(`${value.path} has arrived`)
      }
    }
  }, Effect.scoped)

  const attempt = Effect.gen(function* () {
    if (!(yield* isThere)) yield* created
    const parent = yield* head
    const present = yield* listed(parent)
    const earlier = present.has(Manifest.fileName) ? yield* earlierManifest(parent) : ""
    const isSame =
      earlier === manifest.text && manifest.files.every(({ bytes, path }) => present.get(path)?.size === bytes)
    const mine = new Set(manifest.files.map(({ path }) => path))
    const deleted = isSame
      ? []
      : Option.match(Manifest.owned(earlier), {
          onNone: () => [],
          onSome: ({ files }) => files.map(({ path }) => path).filter((path) => present.has(path) && !mine.has(path)),
        })
    const operations: Array<CommitOperation> = []
    for (const { path, sha256 } of [...manifest.files, { path: Manifest.fileName, sha256: "" }]) {
      if (present.get(path)?.sha256 === sha256) continue
      const content = yield* Effect.orDie(paths.toFileUrl(paths.resolve(directory, path)))
      operations.push({ operation: "addOrUpdate", path, content })
    }
    operations.push(...deleted.map((path) => ({ operation: "delete", path }) as const))
    return {
      repository,
      branch,
      url: `${endpoint}/datasets/${repository}${branch === "main" ? "" : `/tree/${encodeURIComponent(branch)}`}`,
      commit: isSame ? parent : yield* commit(parent, operations),
      unchanged: isSame,
      rows,
      files: manifest.files.length + 1,
      bytes,
      deleted,
    } satisfies Pushed
  })
  let tries = 0
  return yield* attempt.pipe(
    Effect.tapError((error) =>
      mayPass(error) && ++tries <= retries ? Effect.logWarning(`${error.message}; trying again`) : Effect.void,
    ),
    Effect.retry({ while: mayPass, times: retries, schedule: Schedule.exponential("1 second") }),
  )
})

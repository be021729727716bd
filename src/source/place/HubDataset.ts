/**
 * Reads files at `hf://datasets/USER/NAME[@REVISION][/PATH]`. A branch or tag is resolved to its commit once, so that
 * all files are of one commit. `/` in a revision is written as `%2F`, except in `refs/convert/NAME` and
 * `refs/pr/NUMBER`. In a path, `%` has no special meaning.
 */
import { Data, Effect, type FileSystem, Glob, type Path, Redacted, Result, type Scope, Stream } from "effect"
import * as Hub from "../../io/Hub.ts"
import { fileNotFound, type SourceError, unreadable } from "../record/SourceError.ts"
import * as FileExtensions from "./FileExtensions.ts"
import * as HttpFile from "./HttpFile.ts"
import * as HubLayout from "./HubLayout.ts"
import type { Input } from "./Input.ts"
import { isPattern } from "./PlaceName.ts"
import * as Remote from "./Remote.ts"

export const open = Effect.fn("HubDataset.open")(function* (
  name: string,
): Effect.fn.Return<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const { openFile, path } = yield* connect(name)
  return yield* openFile(path)
})

export const expand = Effect.fn("HubDataset.expand")(function* (name: string) {
  const dataset = yield* connect(name)
  const path = dataset.path.replace(/\/+$/, "")
  const named = (paths: ReadonlyArray<string>) => paths.toSorted().map(dataset.nameOf)
  if (path === "") {
    const paths = yield* dataset.list("", true)
    const files = HubLayout.dataFiles(paths, paths.includes(cardPath) ? yield* frontMatter(dataset) : undefined)
    if (Result.isFailure(files)) return yield* unreadable(name, files.failure)
    return files.success.map(dataset.nameOf)
  }
  const [entry] = yield* dataset.entries(path)
  if (entry?.type === "file") return [dataset.nameOf(path)]
  if (entry !== undefined) {
    const paths = yield* dataset.list(path, false)
    return named(paths.filter((file) => FileExtensions.isDataFile(file.slice(path.length + 1))))
  }
  if (!isPattern(path)) return yield* fileNotFound(name)
  const glob = Glob.make(path)
  const folder = /^(?:[^*?[{]*(?=\/))?/.exec(path)?.[0] ?? ""
  const isFolder = folder === "" || (yield* dataset.entries(folder)).length > 0
  return isFolder ? named((yield* dataset.list(folder, true)).filter((file) => Glob.match(glob, file))) : []
})

const cardPath = "README.md"

const frontMatter = Effect.fnUntraced(function* (dataset: Effect.Success<ReturnType<typeof connect>>) {
  const { bytes, name } = yield* dataset.openFile(cardPath)
  const card = yield* Stream.mkString(Stream.decodeText(bytes))
  const { parse } = yield* Effect.promise(() => import("yaml"))
  const [, text = ""] = /^---\r?\n(.*?\n)---\r?(?:\n|$)/s.exec(card) ?? []
  return yield* Effect.try({
    try: (): unknown => parse(text),
    catch: (cause) =>
      unreadable(
        name,
        "the YAML at the file's beginning is invalid; to read the dataset anyway, append the path of the data files to the dataset's name",
        cause,
      ),
  })
})

class Refused extends Data.TaggedError("Refused")<HttpFile.Answer> {}

const connect = Effect.fnUntraced(function* (name: string) {
  const { path, repository, revision } = yield* parse(name)
  const hub = yield* Remote.client(name, "the Hugging Face Hub", "@huggingface/hub", () =>
    import("@huggingface/hub").catch(Remote.rethrow),
  )
  const endpoint = ((yield* Hub.endpoint) ?? hub.HUB_URL).replace(/\/+$/, "")
  const token = yield* Hub.token
  if (!Hub.isEndpoint(endpoint)) {
    return yield* unreadable(name, "HF_ENDPOINT: expected the address of a server, such as https://huggingface.co")
  }
  if (token !== undefined && !Hub.isToken(token)) {
    return yield* unreadable(name, "HF_TOKEN: expected an access token, which begins with hf_")
  }
  const refusal = refusalOf(repository, revision, `${endpoint}/datasets/${repository}`, token !== undefined)
  const accessToken = token === undefined ? undefined : { accessToken: Redacted.value(token) }
  const ask = <A>(run: (access: { readonly hubUrl: string; readonly fetch: typeof fetch }) => Promise<A>) => {
    const attempt = Effect.tryPromise({
      try: (signal) => run({ hubUrl: endpoint, fetch: checkedFetch(signal), ...accessToken }),
      catch: (cause) =>
        cause instanceof Refused
          ? HttpFile.failureOf({ name, refusal: (answer) => refusal(name, answer) }, cause)
          : Remote.disconnected(name, cause),
    })
    return Remote.withRetries(name, attempt)
  }
  const commit = isCommit(revision)
    ? revision
    : (yield* ask((access) => hub.datasetInfo({ name: repository, revision, additionalFields: ["sha"], ...access })))
        .sha
  const repo = { type: "dataset", name: repository } as const
  const nameOf = (path: string) => `hf://datasets/${repository}@${commit}/${path}`
  return {
    path,
    nameOf,
    list: (path: string, recursive: boolean) =>
      Effect.map(
        ask((access) => collect(hub.listFiles({ repo, path, revision: commit, recursive, ...access }))),
        (entries) => entries.filter(({ type }) => type === "file").map(({ path }) => path),
      ),
    entries: (path: string) => ask((access) => hub.pathsInfo({ repo, paths: [path], revision: commit, ...access })),
    openFile: (path: string) =>
      HttpFile.openTarget({
        name: nameOf(path),
        url: `${endpoint}/datasets/${repository}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`,
        headers: Effect.succeed(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }),
        changes: "impossible",
        refusal: (answer) => refusal(nameOf(path), answer),
      }),
  }
})

const parse = (name: string) => {
  const [, repository, revision = "main", path = ""] =
    /^hf:\/\/datasets\/([^/@]+\/[^/@]+)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?(?:\/(.*))?$/is.exec(name) ?? []
  return repository === undefined
    ? Effect.fail(unreadable(name, "expected hf://datasets/USER/NAME, with @REVISION or /PATH appended if needed"))
    : Effect.succeed({ repository, revision: revision.replaceAll(/%2F/gi, "/"), path })
}

const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision)

const checkedFetch =
  (signal: AbortSignal): typeof fetch =>
  (input, init) =>
    // @effect-diagnostics-next-line globalFetch:off -- the Hub's client takes a `fetch`
    fetch(input, { ...init, signal }).then((response) => {
      if (response.ok) return response
      throw new Refused({ status: response.status, headers: Object.fromEntries(response.headers.entries()) })
    })

const collect = <A>(iterator: AsyncIterator<A, undefined>, values: Array<A> = []): Promise<ReadonlyArray<A>> =>
  iterator.next().then(({ done, value }) => {
    if (done === true) return values
    values.push(value)
    return collect(iterator, values)
  })

/** The Hub also answers 401 if a dataset does not exist. */
const refusalOf =
  (repository: string, revision: string, page: string, hasToken: boolean) =>
  (name: string, { headers, status }: HttpFile.Answer): SourceError | undefined => {
    switch (headers["x-error-code"]) {
      case "EntryNotFound":
        return fileNotFound(name)
      case "RevisionNotFound":
        return unreadable(name, `${repository} has no revision ${revision}; check the branch, tag, or commit`)
      case "GatedRepo":
        return unreadable(
          name,
          hasToken
            ? `${repository} is gated, and the access token's account has no access; request access at ${page}`
            : `${repository} is gated; request access at ${page}, then set HF_TOKEN or log in with hf auth login`,
        )
      case "RepoNotFound":
        break
      default:
        if (status === 401 && hasToken)
          return unreadable(
            name,
            "the Hub refuses the access token (401): the token may be wrong or expired; set HF_TOKEN, or log in with hf auth login",
          )
        if (status === 403) return unreadable(name, `the access token does not permit reading ${repository} (403)`)
        if (status !== 401) return undefined
    }
    return unreadable(
      name,
      hasToken
        ? `there is no dataset ${repository}, or the access token does not permit reading it`
        : `there is no public dataset ${repository}; if it is private, set HF_TOKEN or log in with hf auth login`,
    )
  }

/**
 * A server of the Hugging Face Hub's HTTP interface, as far as datasets are pushed and read by it: repositories, branches,
 * listings, files, Git LFS uploads whole and in parts, and commits. It keeps all in memory, checks what it gets, and
 * remembers the requests. A parquet file, or one of more than 10 MB, is kept by LFS; one larger than `partBytes` is sent in
 * parts. With `hasCdn`, files of LFS are at another origin, which refuses authorization, as the storage behind it does.
 *
 * https://huggingface.co/docs/hub/api, https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
 */
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

interface Entry {
  readonly bytes: Buffer
  readonly lfs: string | undefined
}
type Tree = ReadonlyMap<string, Entry>

interface Repository {
  readonly visibility: unknown
  /** The newest commit of each branch. */
  readonly branches: Map<string, string>
  readonly commits: Map<string, Tree>
}

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Request {
  readonly method: string
  readonly path: string
  readonly body: Buffer
  /** The path as it was sent, with its percent-encoding. */
  readonly target?: string
}

/** What the requests hold, as far as it is read. */
interface Batch {
  readonly transfers: ReadonlyArray<string>
  readonly objects: ReadonlyArray<{ readonly oid: string; readonly size: number }>
}
interface Parts {
  readonly parts: ReadonlyArray<{ readonly etag: string; readonly partNumber: number }>
}
interface NewRepository {
  readonly name: string
  readonly organization: string
  readonly type: string
  readonly visibility: string
}
interface Paths {
  readonly paths: ReadonlyArray<string>
}
interface Preupload {
  readonly files: ReadonlyArray<{ readonly path: string; readonly size: number }>
}
type Line =
  | { readonly key: "header"; readonly value: { readonly summary: string; readonly parentCommit?: string } }
  | {
      readonly key: "file"
      readonly value: { readonly path: string; readonly content: string; readonly encoding: string }
    }
  | { readonly key: "lfsFile"; readonly value: { readonly path: string; readonly oid: string; readonly size: number } }
  | { readonly key: "deletedFile"; readonly value: { readonly path: string } }

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
const pageSize = 3

/** Sends bytes, or the range of them that is asked for. */
const partOf = (bytes: Buffer, range: string | undefined): Answer => {
  const [, first = "0", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? []
  if (range !== undefined && Number(first) >= bytes.length) {
    return { status: 416, headers: { "Content-Range": `bytes */${bytes.length}` }, body: Buffer.alloc(0) }
  }
  const to = Math.min(last === "" ? Infinity : Number(last), bytes.length - 1)
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ETag: `"${sha256(bytes)}"`,
      ...(range === undefined ? undefined : { "Content-Range": `bytes ${first}-${to}/${bytes.length}` }),
    },
    body: bytes.subarray(Number(first), to + 1),
  }
}

/** `hf_writer` may write, `hf_reader` may not, and may not read what is gated. Everybody may read what is public. */
export const make = Effect.fnUntraced(function* ({
  partBytes = Infinity,
  hasCdn = false,
  gated = [] as ReadonlyArray<string>,
} = {}) {
  const repositories = new Map<string, Repository>()
  const large = new Map<string, Buffer>()
  const parts = new Map<string, Map<number, Buffer>>()
  const requests: Array<Request> = []
  /** Answers a request in the place of the server; undefined: the server does. `after` is called once it is answered. */
  let fault: (request: Request) => Answer | "reset" | undefined = () => undefined
  let url = ""
  let cdnUrl = ""
  let count = 0

  const refuse = (status: number, error: string): Answer => ({ status, body: { error } })
  const head = (repository: Repository, revision: string) => repository.branches.get(revision) ?? revision
  const commitTo = (repository: Repository, branch: string, tree: Tree) => {
    const oid = createHash("sha1").update(String(++count)).digest("hex")
    repository.commits.set(oid, tree)
    repository.branches.set(branch, oid)
    return oid
  }

  const commit = (repository: Repository, branch: string, lines: ReadonlyArray<Line>): Answer => {
    const [header, ...operations] = lines
    const parent = repository.branches.get(branch)
    if (parent === undefined) return refuse(404, "Invalid rev id")
    if (header?.key !== "header" || header.value.summary === "") return refuse(400, "no summary")
    if (header.value.parentCommit !== parent) return refuse(412, "A commit has happened since. Please refresh.")
    const tree = new Map(repository.commits.get(parent))
    for (const { key, value } of operations) {
      if (key === "deletedFile") {
        if (!tree.delete(value.path)) return refuse(400, `no ${value.path}`)
      } else if (key === "lfsFile") {
        const bytes = large.get(value.oid)
        if (bytes?.length !== value.size) return refuse(400, `no object ${value.oid}`)
        tree.set(value.path, { bytes, lfs: value.oid })
      } else if (key === "file" && value.encoding === "base64") {
        tree.set(value.path, { bytes: Buffer.from(value.content, "base64"), lfs: undefined })
      } else return refuse(400, `unknown operation ${key}`)
    }
    const commitOid = commitTo(repository, branch, tree)
    return { body: { success: true, commitOid, commitUrl: `${url}/commit/${commitOid}`, hookOutput: "" } }
  }

  const upload = (oid: string, bytes: Buffer): Answer => {
    if (sha256(bytes) !== oid) return refuse(400, "another digest")
    large.set(oid, bytes)
    return {}
  }

  const batch = ({ objects, transfers }: Batch): Answer => ({
    body: {
      transfer: objects.some(({ size }) => size > partBytes) && transfers.includes("multipart") ? "multipart" : "basic",
      objects: objects.map(({ oid, size }) => {
        if (large.has(oid)) return { oid, size }
        const numbers = Array.from({ length: Math.ceil(size / partBytes) }, (_, i) => String(i + 1).padStart(5, "0"))
        const header =
          size <= partBytes
            ? undefined
            : {
                chunk_size: String(partBytes),
                ...Object.fromEntries(numbers.map((number) => [number, `${url}/lfs/${oid}/${number}`])),
              }
        return { oid, size, actions: { upload: { href: `${url}/lfs/${oid}`, header } } }
      }),
    },
  })

  const answer = (
    { body, method, path, target = path }: Request,
    authorization: string | undefined,
    range: string | undefined,
  ): Answer => {
    const [, object, part] = /^\/lfs\/(\w+)(?:\/(\d+))?$/.exec(path) ?? []
    if (object !== undefined && part !== undefined) {
      parts.set(object, (parts.get(object) ?? new Map<number, Buffer>()).set(Number(part), body))
      return { headers: { ETag: `"${part}-${sha256(body)}"` } }
    }
    if (object !== undefined && method === "PUT") return upload(object, body)
    if (object !== undefined) {
      const sent = parts.get(object)!
      const named = (JSON.parse(body.toString()) as Parts).parts.map(({ etag, partNumber }) => {
        const bytes = sent.get(partNumber)!
        if (etag !== `"${String(partNumber).padStart(5, "0")}-${sha256(bytes)}"`) throw new Error("another part")
        return bytes
      })
      return upload(object, Buffer.concat(named))
    }

    const [, name = "", rest = ""] = /^(?:\/api)?\/datasets\/([^/]+\/[^/?]+?)((?:\/|\.git\/|\?|$).*)/.exec(target) ?? []
    const repository = repositories.get(name)
    const isAnonymous = authorization === undefined
    if (
      isAnonymous
        ? method === "GET" && repository?.visibility !== "public"
        : !/^Bearer hf_(writer|reader)$/.test(authorization)
    ) {
      return {
        ...refuse(401, "Invalid username or password."),
        headers: isAnonymous ? { "X-Error-Code": "RepoNotFound" } : {},
      }
    }
    const mayWrite = authorization === "Bearer hf_writer"
    if (path === "/api/repos/create") {
      const { name, organization, type, visibility } = JSON.parse(body.toString()) as NewRepository
      if (!mayWrite) return refuse(403, "You don't have the rights to create a dataset under this namespace")
      if (type !== "dataset" || repositories.has(`${organization}/${name}`))
        return refuse(409, "You already created it")
      const repository: Repository = { visibility, branches: new Map(), commits: new Map() }
      commitTo(repository, "main", new Map([[".gitattributes", { bytes: Buffer.from("*.parquet"), lfs: undefined }]]))
      repositories.set(`${organization}/${name}`, repository)
      return { body: { url: `${url}/datasets/${organization}/${name}`, id: "1" } }
    }
    const withCode = (code: string): Answer => ({ ...refuse(404, code), headers: { "X-Error-Code": code } })
    if (repository === undefined) return withCode("RepoNotFound")
    const [, verb, ...words] = /^\/([\w-]+)\/([^/?]+)\/?([^?]*)/.exec(rest) ?? []
    const [revision = "", file = ""] = words.map((word) => decodeURIComponent(word))
    if (rest.endsWith("/info/lfs/objects/batch")) {
      return mayWrite ? batch(JSON.parse(body.toString()) as Batch) : refuse(403, "Forbidden")
    }
    if (verb === undefined) return { body: { id: name, likes: 0 } }
    if (verb === "branch") {
      if (!mayWrite) return refuse(403, "Forbidden")
      if (repository.branches.has(revision)) return refuse(409, "Reference already exists")
      repository.branches.set(revision, repository.branches.get("main")!)
      return { body: {} }
    }
    const tree = repository.commits.get(head(repository, revision))
    if (tree === undefined) return withCode("RevisionNotFound")
    const directories = new Set(
      [...tree.keys()].flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))),
    )
    const entryOf = (path: string) => {
      const { bytes, lfs } = tree.get(path)!
      const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
      // Beside the files there are folders, and files of LFS have a pointer's size where Git looks.
      return { type: "file", path, size: bytes.length, oid, ...(lfs && { lfs: { oid: lfs, size: bytes.length } }) }
    }
    const directoryOf = (path: string) => ({ type: "directory", path, size: 0, oid: "0" })
    switch (verb) {
      case "revision":
        return { body: { _id: "1", id: name, sha: head(repository, revision), lastModified: "2026-01-01T00:00:00Z" } }
      case "tree": {
        const from = Number(new URL(path, url).searchParams.get("cursor") ?? 0)
        const isBelow = (path: string) =>
          (file === "" || path.startsWith(`${file}/`)) &&
          (target.includes("recursive=true") || !path.slice(file.length + 1).includes("/"))
        if (file !== "" && !directories.has(file)) return withCode("EntryNotFound")
        const all = [
          ...[...directories].filter(isBelow).map(directoryOf),
          ...[...tree.keys()].filter(isBelow).map(entryOf),
        ]
        const next = `<${url}${path.replace(/&cursor=\d+/, "")}&cursor=${from + pageSize}>; rel="next"`
        return {
          headers: from + pageSize < all.length ? { Link: next } : {},
          body: all.slice(from, from + pageSize),
        }
      }
      case "resolve": {
        const entry = tree.get(file)
        if (gated.includes(name) && authorization !== "Bearer hf_writer") {
          return {
            ...refuse(isAnonymous ? 401 : 403, "Access is restricted"),
            headers: { "X-Error-Code": "GatedRepo" },
          }
        }
        if (entry === undefined) return withCode("EntryNotFound")
        const commitHeader = { "X-Repo-Commit": head(repository, revision) }
        if (hasCdn && entry.lfs !== undefined) {
          const headers = {
            "X-Linked-Size": String(entry.bytes.length),
            "X-Linked-Etag": `"${entry.lfs}"`,
            ...commitHeader,
          }
          return { status: 302, headers: { ...headers, Location: `${cdnUrl}/${entry.lfs}?Signature=${++count}` } }
        }
        const part = partOf(entry.bytes, range)
        return { ...part, headers: { ...part.headers, ...commitHeader } }
      }
      case "paths-info": {
        const { paths } = JSON.parse(body.toString()) as Paths
        return {
          body: paths.flatMap((path) =>
            tree.has(path) ? [entryOf(path)] : directories.has(path) ? [directoryOf(path)] : [],
          ),
        }
      }
      case "preupload": {
        if (!mayWrite) return refuse(403, "Forbidden: pass `create_pr=1` as a query parameter")
        const { files } = JSON.parse(body.toString()) as Preupload
        const modeOf = ({ path, size }: Preupload["files"][number]) =>
          path.endsWith(".parquet") || size > 10_000_000 ? "lfs" : "regular"
        return { body: { files: files.map((file) => ({ path: file.path, uploadMode: modeOf(file) })) } }
      }
      case "commit":
        return commit(
          repository,
          revision,
          body
            .toString()
            .split("\n")
            .map((line) => JSON.parse(line) as Line),
        )
      default:
        return refuse(404, `no ${path}`)
    }
  }

  const bodyOf = async (request: IncomingMessage) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then(
      (body) => {
        const path = decodeURIComponent(incoming.url!)
        const request = { method: incoming.method!, path, body, target: incoming.url! }
        requests.push(request)
        const own = fault(request)
        const { authorization, range } = incoming.headers
        const given = own === undefined ? answer(request, authorization, range) : own
        if (given === "reset") return incoming.socket.destroy()
        const isBytes = Buffer.isBuffer(given.body)
        const type = isBytes ? "application/octet-stream" : "application/json"
        response.writeHead(given.status ?? 200, { "Content-Type": type, ...given.headers })
        return response.end(isBytes ? given.body : JSON.stringify(given.body ?? {}))
      },
      () => incoming.socket.destroy(),
    )
  })
  const cdnRequests: Array<IncomingMessage> = []
  /** The bytes after which answers of the other origin break off. */
  let cutAfter = Infinity
  const cdn = createServer((incoming, response) => {
    cdnRequests.push(incoming)
    const { authorization, range } = incoming.headers
    const bytes = large.get(/^\/(\w+)\?/.exec(incoming.url!)?.[1] ?? "")
    if (authorization !== undefined || bytes === undefined) return response.writeHead(400).end("no")
    const { body, headers, status } = partOf(bytes, range)
    const part = body as Buffer
    response.writeHead(status!, { ...headers, "Content-Length": part.length })
    if (part.length <= cutAfter) return response.end(part)
    return response.write(part.subarray(0, cutAfter), () => response.destroy())
  })
  const started = (server: Server) =>
    Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () => Effect.sync(() => (server.close(), server.closeAllConnections())),
    ).pipe(Effect.map(() => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  url = yield* started(server)
  cdnUrl = yield* started(cdn)
  return {
    url,
    repositories,
    requests,
    cdnRequests,
    cutAfter: (bytes: number) => void (cutAfter = bytes),
    failWith: (next: typeof fault) => void (fault = next),
    /** Answers as it would without a fault. */
    answer: (request: Request) => answer(request, "Bearer hf_writer", undefined),
    /** The files of a branch, by their paths. */
    filesOf: (name: string, branch = "main") => {
      const repository = repositories.get(name)!
      return new Map(
        [...repository.commits.get(repository.branches.get(branch)!)!].map(([path, { bytes }]) => [path, bytes]),
      )
    },
    /** Commits files of somebody else. */
    commit: (name: string, files: Readonly<Record<string, string>>, branch = "main") => {
      const repository = repositories.get(name)!
      const tree = new Map(repository.commits.get(repository.branches.get(branch)!))
      for (const [path, text] of Object.entries(files)) tree.set(path, { bytes: Buffer.from(text), lfs: undefined })
      return commitTo(repository, branch, tree)
    },
    /** Makes a repository with these files; those in `data` are kept by LFS. */
    create: (name: string, files: Readonly<Record<string, string | Uint8Array>>, visibility = "public") => {
      const repository: Repository = { visibility, branches: new Map(), commits: new Map() }
      const entries = Object.entries(files).map(([path, content]) => {
        const bytes = Buffer.from(content)
        const lfs = path.startsWith("data/") ? sha256(bytes) : undefined
        if (lfs !== undefined) large.set(lfs, bytes)
        return [path, { bytes, lfs }] as const
      })
      repositories.set(name, repository)
      return commitTo(repository, "main", new Map(entries))
    },
    /** A branch or other reference to the newest commit of `main`. */
    branch: (name: string, branch: string) => {
      const { branches } = repositories.get(name)!
      branches.set(branch, branches.get("main")!)
    },
  }
})

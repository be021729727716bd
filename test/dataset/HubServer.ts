/**
 * A server of the Hugging Face Hub's HTTP interface, as far as datasets are pushed by it: repositories, branches, listings,
 * files, Git LFS uploads whole and in parts, and commits. It keeps all in memory, checks what it gets, and remembers the
 * requests. A parquet file, or one larger than `lfsFrom`, is kept by LFS; one larger than `partBytes` is sent in parts.
 *
 * https://huggingface.co/docs/hub/api, https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
 */
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
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

/** `hf_writer` may write, `hf_reader` may not. */
export const make = Effect.fnUntraced(function* ({ lfsFrom = 10_000_000, partBytes = Infinity } = {}) {
  const repositories = new Map<string, Repository>()
  const large = new Map<string, Buffer>()
  const parts = new Map<string, Map<number, Buffer>>()
  const requests: Array<Request> = []
  /** Answers a request in the place of the server; undefined: the server does. `after` is called once it is answered. */
  let fault: (request: Request) => Answer | "reset" | undefined = () => undefined
  let url = ""
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
    { body, method, path }: Request,
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

    if (authorization !== "Bearer hf_writer" && authorization !== "Bearer hf_reader") {
      return refuse(401, "Invalid username or password.")
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
    const [, name, rest = ""] = /^(?:\/api)?\/datasets\/([^/]+\/[^/?]+?)((?:\/|\.git\/|\?|$).*)/.exec(path) ?? []
    const repository = repositories.get(name ?? "")
    if (repository === undefined) return refuse(404, "Repository not found")
    const [, verb, revision = "", file = ""] = /^\/(\w+)\/([^/?]+)\/?([^?]*)/.exec(rest) ?? []
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
    if (tree === undefined) return refuse(404, "Invalid rev id")
    switch (verb) {
      case "revision":
        return { body: { _id: "1", id: name, sha: head(repository, revision), lastModified: "2026-01-01T00:00:00Z" } }
      case "tree": {
        const from = Number(new URL(path, url).searchParams.get("cursor") ?? 0)
        const entries = [...tree].map(([path, { bytes, lfs }]) => {
          const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
          // Beside the files there are folders, and files of LFS have a pointer's size where Git looks.
          return { type: "file", path, size: bytes.length, oid, ...(lfs && { lfs: { oid: lfs, size: bytes.length } }) }
        })
        const all = [{ type: "directory", path: "data", size: 0, oid: "0" }, ...entries]
        const next = `<${url}${path.replace(/&cursor=\d+/, "")}&cursor=${from + pageSize}>; rel="next"`
        return {
          headers: from + pageSize < all.length ? { Link: next } : {},
          body: all.slice(from, from + pageSize),
        }
      }
      case "resolve": {
        const bytes = tree.get(file)?.bytes
        if (bytes === undefined) return { status: 404, headers: { "X-Error-Code": "EntryNotFound" } }
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? []
        const from = Number(first ?? 0)
        const to = Math.min(Number(last ?? bytes.length - 1), bytes.length - 1)
        return {
          status: range === undefined ? 200 : 206,
          headers: { ETag: `"${sha256(bytes)}"`, "Content-Range": `bytes ${from}-${to}/${bytes.length}` },
          body: bytes.subarray(from, to + 1),
        }
      }
      case "preupload": {
        if (!mayWrite) return refuse(403, "Forbidden: pass `create_pr=1` as a query parameter")
        const { files } = JSON.parse(body.toString()) as Preupload
        const modeOf = ({ path, size }: Preupload["files"][number]) =>
          path.endsWith(".parquet") || size > lfsFrom ? "lfs" : "regular"
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
        const request = { method: incoming.method!, path, body }
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
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => (server.close(), server.closeAllConnections())),
  )
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    repositories,
    requests,
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
  }
})

import { createServer, type Server } from "node:http"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FileSystem, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { Split } from "../../src/domain/Split.ts"
import * as Logs from "../support/logs.ts"
import { pair } from "../support/pairs.ts"
import * as HubServer from "./HubServer.ts"
import { test, written } from "./support.ts"

const repository = "ada/preferences"

/** A dataset of so many pairs in two splits, of several files each. */
const dataset = Effect.fnUntraced(function* (pairs = 100, splitOf: (i: number) => Split = () => "train") {
  const { directory } = yield* written(
    Array.from({ length: pairs }, (_, i) => pair(i)),
    {
      shardBytes: 6_000,
      formats: ["trl"],
      splitOf: ({ item_id }) => splitOf(Number(item_id.slice("item-".length))),
    },
  )
  return directory
})

const filesIn = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const files = new Map<string, Buffer>()
  for (const path of yield* fs.readDirectory(directory, { recursive: true })) {
    if ((yield* fs.stat(`${directory}/${path}`)).type === "File") {
      files.set(path, Buffer.from(yield* fs.readFile(`${directory}/${path}`)))
    }
  }
  return files
})

const options = (server: { readonly url: string }) => ({
  repository,
  token: Redacted.make("hf_writer"),
  endpoint: server.url,
})

/** To the end, however long is waited between its tries. */
const inNoTime = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(Effect.exit(effect))
  const passing = Effect.forever(Effect.andThen(TestClock.adjust("1 minute"), Effect.yieldNow))
  return yield* yield* Effect.raceFirst(Fiber.join(fiber), passing)
})

const sorted = (files: ReadonlyMap<string, Buffer>) => [...files.keys()].toSorted()
const isUpload = ({ method }: HubServer.Request) => method === "PUT"
const isCommit = ({ path }: HubServer.Request) => path.includes("/commit/")

describe("push", () => {
  test("creates a private repository, and commits all files at once", function* () {
    for (const partBytes of [Infinity, 1_000]) {
      const server = yield* HubServer.make({ partBytes })
      const directory = yield* dataset()
      const pushed = yield* Dataset.push(directory, options(server))
      const files = yield* filesIn(directory)
      const there = server.filesOf(repository)
      assert.deepStrictEqual(sorted(there), [".gitattributes", ...sorted(files)].toSorted())
      for (const [path, bytes] of files) assert.isTrue(bytes.equals(there.get(path)!), path)
      assert.strictEqual(server.repositories.get(repository)!.visibility, "private")
      assert.strictEqual(server.requests.filter(isCommit).length, 1)
      assert.isAtLeast(server.requests.filter(isUpload).length, 3)
      assert.deepStrictEqual(pushed, {
        repository,
        branch: "main",
        url: `${server.url}/datasets/${repository}`,
        commit: server.repositories.get(repository)!.branches.get("main")!,
        unchanged: false,
        rows: 100,
        files: files.size,
        bytes: [...files.values()].reduce((sum, { length }) => sum + length, 0),
        deleted: [],
      })
    }
  })

  test("commits nothing where the repository has the dataset", function* () {
    const server = yield* HubServer.make()
    const directory = yield* dataset()
    const first = yield* Dataset.push(directory, { ...options(server), public: true })
    assert.strictEqual(server.repositories.get(repository)!.visibility, "public")
    const before = server.requests.length
    const second = yield* Dataset.push(directory, options(server))
    assert.deepStrictEqual(second, { ...first, unchanged: true })
    assert.isTrue(server.requests.slice(before).every(({ method }) => method === "GET"))
    // Unless somebody has changed a file of it.
    server.commit(repository, { "README.md": "mine" })
    const third = yield* Dataset.push(directory, options(server))
    assert.isFalse(third.unchanged)
    assert.deepStrictEqual(server.filesOf(repository).get("README.md"), (yield* filesIn(directory)).get("README.md"))
  })

  test("replaces an earlier push, keeps other files, and sends no large file again that is there", function* () {
    const server = yield* HubServer.make()
    yield* Dataset.push(yield* dataset(100, (i) => (i < 50 ? "train" : "test")), options(server))
    server.commit(repository, { LICENSE: "mine", "data/notes.parquet": "mine" })
    const before = server.requests.length
    const next = yield* dataset(50)
    const { deleted } = yield* Dataset.push(next, options(server))
    const files = yield* filesIn(next)
    assert.deepStrictEqual(
      sorted(server.filesOf(repository)),
      [".gitattributes", "LICENSE", "data/notes.parquet", ...sorted(files)].toSorted(),
    )
    assert.isAbove(deleted.length, 0)
    assert.isTrue(deleted.every((path) => path.includes("test")))
    // The pairs of train are the same.
    assert.deepStrictEqual(server.requests.slice(before).filter(isUpload), [])
  })

  test("goes on where it was interrupted", function* () {
    const server = yield* HubServer.make()
    const directory = yield* dataset(400)
    const uploads = () => server.requests.filter(isUpload).map(({ path }) => path)
    const reached = yield* Deferred.make<void>()
    server.failWith((request) => {
      if (isUpload(request) && uploads().length === 3) Deferred.doneUnsafe(reached, Exit.void)
      return isUpload(request) && uploads().length >= 3 ? { status: 500, body: { error: "down" } } : undefined
    })
    const fiber = yield* Effect.forkChild(Logs.make().during(Dataset.push(directory, options(server))))
    yield* Deferred.await(reached)
    yield* Fiber.interrupt(fiber)
    const before = uploads()
    assert.deepStrictEqual(sorted(server.filesOf(repository)), [".gitattributes"])
    server.failWith(() => undefined)
    yield* Dataset.push(directory, options(server))
    const after = uploads().slice(before.length)
    for (const path of before.slice(0, 2)) assert.notInclude(after, path)
    for (const path of before.slice(2)) assert.include(after, path)
    assert.strictEqual((yield* Dataset.push(directory, options(server))).unchanged, true)
  })

  test("ends in time where the Hub accepts requests, and answers none", function* () {
    const directory = yield* dataset()
    const silent = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = createServer(() => {}).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => (server.closeAllConnections(), server.close())),
    )
    const address = silent.address()
    assert(typeof address === "object" && address !== null)
    const endpoint = `http://127.0.0.1:${address.port}`
    const logs = Logs.make()
    const pushed = Dataset.push(directory, { ...options({ url: endpoint }), requestTimeout: "20 millis" })
    const failure = yield* Effect.flip(inNoTime(logs.during(pushed)))
    assert.strictEqual(failure.message, `${endpoint} could not be reached (no answer in time)`)
  })

  test("tries again what may pass, and commits once though the answer was lost", function* () {
    const server = yield* HubServer.make()
    const directory = yield* dataset()
    const faults = [
      { of: isUpload, answer: () => "reset" as const },
      { of: isUpload, answer: () => ({ status: 503, body: { error: "busy" } }) },
      {
        of: isCommit,
        // Somebody else commits at this moment.
        answer: (request: HubServer.Request) => {
          server.commit(repository, { LICENSE: "mine" })
          return server.answer(request)
        },
      },
      { of: isCommit, answer: (request: HubServer.Request) => (server.answer(request), "reset" as const) },
    ]
    server.failWith((request) => (faults[0]?.of(request) ? faults.shift()!.answer(request) : undefined))
    const logs = Logs.make()
    const pushed = yield* logs.during(inNoTime(Dataset.push(directory, options(server))))
    assert.deepStrictEqual(faults, [])
    assert.deepStrictEqual([pushed.unchanged, server.repositories.get(repository)!.commits.size], [true, 3])
    assert.deepStrictEqual(
      sorted(server.filesOf(repository)),
      [".gitattributes", "LICENSE", ...sorted(yield* filesIn(directory))].toSorted(),
    )
    const refused = (status: number) => logs.messages.filter((message) => message.includes(`with status ${status}`))
    assert.deepStrictEqual([refused(503).length, refused(412).length], [1, 1])
  })

  test("creates a branch, and leaves the others as they are", function* () {
    const server = yield* HubServer.make()
    yield* Dataset.push(yield* dataset(10), options(server))
    const before = server.filesOf(repository)
    const { url } = yield* Dataset.push(yield* dataset(20), { ...options(server), branch: "week-48" })
    assert.strictEqual(url, `${server.url}/datasets/${repository}/tree/week-48`)
    assert.deepStrictEqual(server.filesOf(repository), before)
    assert.include(server.filesOf(repository, "week-48").get("manifest.json")!.toString(), '"rows": 20,')
  })

  test("says why it did not", function* () {
    const fs = yield* FileSystem.FileSystem
    const server = yield* HubServer.make()
    const directory = yield* dataset(10)
    const fails = (changes: Partial<Dataset.PushOptions>) =>
      inNoTime(Dataset.push(directory, { ...options(server), ...changes })).pipe(
        Effect.flip,
        Effect.map(({ message, reason }) => [reason._tag, message.replaceAll(server.url, "URL")]),
      )
    assert.deepStrictEqual(yield* fails({ repository: "preferences" }), [
      "PushOptionInvalid",
      "repository: expected user/name or organization/name",
    ])
    assert.deepStrictEqual(yield* fails({ token: Redacted.make("writer") }), [
      "PushOptionInvalid",
      "token: expected an access token, which begins with hf_",
    ])
    assert.deepStrictEqual(yield* fails({ endpoint: "localhost:80" }), [
      "PushOptionInvalid",
      "endpoint: expected the address of a server, such as https://huggingface.co",
    ])
    assert.deepStrictEqual(server.requests, [])
    assert.deepStrictEqual(yield* fails({ token: Redacted.make("hf_nobody") }), [
      "HubRefused",
      "the Hub refused ada/preferences with status 401: the access token is not valid (Invalid username or password.. URL: URL/api/repos/create)",
    ])
    assert.deepStrictEqual(yield* fails({ token: Redacted.make("hf_reader") }), [
      "HubRefused",
      "the Hub refused ada/preferences with status 403: the access token needs write permission for the repository (You don't have the rights to create a dataset under this namespace. URL: URL/api/repos/create)",
    ])
    const logs = Logs.make()
    const [tag, unreachable] = yield* logs.during(fails({ endpoint: "http://127.0.0.1:1" }))
    assert.strictEqual(logs.messages.filter((message) => message.endsWith("; trying again")).length, 5)
    assert.strictEqual(tag, "HubUnreachable")
    assert.match(unreachable!, /^http:\/\/127\.0\.0\.1:1 could not be reached \(.+\)$/)
    assert.strictEqual(server.repositories.size, 0)

    yield* fs.writeFileString(`${directory}/README.md`, "mine")
    const [changed, why] = yield* fails({})
    assert.strictEqual(changed, "DatasetInvalid")
    assert.match(why!, /dataset has integrity errors, and was not pushed: README\.md: expected \d+ bytes/)
    assert.strictEqual(server.repositories.size, 0)
  })
})

import { copyFileSync, globSync } from "node:fs"
import { connect, createServer, type AddressInfo, type Server } from "node:net"
import { fileURLToPath } from "node:url"
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, beforeAll, describe } from "@effect/vitest"
import { Effect, Exit, Option, Scope, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Listing from "../../../src/source/place/Listing.ts"
import * as Place from "../../../src/source/place/Place.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { bytesOf, environmentOf, failureOf, impatient, nowadays, pattern, test } from "./support.ts"

/** The keys that the server has from the start. */
const credentials = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" }

const environment = environmentOf(/^AWS_/, {
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
})

/** A storage with one bucket, `data`; the environment leads to it. */
const storage = Effect.fnUntraced(function* ({ checksSignatures }: { readonly checksSignatures: boolean }) {
  const directory = yield* temporaryDirectory
  const started = yield* ChildProcess.make(
    process.execPath,
    // Its tokens for the next page of a listing are encrypted as nobody does any more.
    [
      "--openssl-legacy-provider",
      "--no-warnings",
      fileURLToPath(new URL("fixtures/storage.ts", import.meta.url)),
      directory,
      checksSignatures ? "check" : "",
    ],
    { stdin: "ignore", stderr: "inherit" },
  )
  const port = Number(
    Option.getOrThrow(yield* started.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)),
  )
  const endpoint = `http://127.0.0.1:${port}`
  yield* environment({ ...credentials, AWS_ENDPOINT_URL_S3: endpoint })
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true })
  const put = (key: string, content: Uint8Array | string) =>
    Effect.promise(() => client.send(new PutObjectCommand({ Bucket: "data", Key: key, Body: content })))
  yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
  return { directory, port, put }
})

/** One storage for the tests of the group in which this is called. */
const storageOf = (options: { readonly checksSignatures: boolean }) => {
  const scope = Scope.makeUnsafe()
  let started: Effect.Success<ReturnType<typeof storage>>
  beforeAll(async () => {
    started = await Effect.runPromise(storage(options).pipe(Scope.provide(scope), Effect.provide(NodeServices.layer)))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => started
}

/** Passes on to the port; an answer breaks off after so many bytes. The environment leads to it. */
const breaking = Effect.fnUntraced(function* (port: number, after: number) {
  let broken = 0
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((socket) => {
        const upstream = connect(port, "127.0.0.1")
        let passed = 0
        let isBroken = false
        socket.pipe(upstream)
        upstream.on("data", (bytes) => {
          passed += bytes.length
          socket.write(bytes.subarray(0, bytes.length - Math.max(passed - after, 0)))
          if (passed < after || isBroken) return
          isBroken = true
          broken++
          upstream.destroy()
          socket.end()
        })
        upstream.on("close", () => socket.end())
        upstream.on("error", () => socket.destroy())
        socket.on("error", () => upstream.destroy())
        socket.on("close", () => upstream.destroy())
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void))),
  )
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  yield* environment({ ...credentials, AWS_ENDPOINT_URL: endpoint })
  return { broken: () => broken }
})

const open = (name: string) => nowadays(Place.open(name))
const read = (name: string) => impatient(Effect.flatMap(open(name), bytesOf))
const expand = (names: ReadonlyArray<string>) => nowadays(Listing.expand(names))

const content = pattern(400_000)

describe("an object of S3-compatible storage", () => {
  const stored = storageOf({ checksSignatures: true })

  test("is read whole, as often as one likes, and here and there; it may be empty", function* () {
    yield* stored().put("a/items 100%.jsonl", content)
    const input = yield* open("s3://data/a/items 100%.jsonl")
    assert.strictEqual(input.name, "s3://data/a/items 100%.jsonl")
    assert.strictEqual(input.size, content.length)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* input.slice!(0, 4), content.slice(0, 4))
    assert.deepStrictEqual(yield* input.slice!(100, 399_900), content.slice(100, 399_900))
    assert.deepStrictEqual(yield* input.slice!(5, 5), new Uint8Array(0))
    yield* stored().put("empty.jsonl", new Uint8Array(0))
    const empty = yield* open("s3://data/empty.jsonl")
    assert.deepStrictEqual([empty.size, (yield* bytesOf(empty)).length], [0, 0])
  })

  test("whose connection breaks off is read on from there", function* () {
    yield* stored().put("whole.jsonl", content)
    const proxy = yield* breaking(stored().port, 150_000)
    assert.deepStrictEqual(yield* read("s3://data/whole.jsonl"), content)
    assert.isAbove(proxy.broken(), 1)
  })

  test("that is replaced after it was opened is a failure", function* () {
    const { put } = stored()
    yield* put("a.jsonl", content)
    const input = yield* open("s3://data/a.jsonl")
    for (const other of [pattern(400_000).toReversed(), "short"]) {
      yield* put("a.jsonl", other)
      assert.match(yield* failureOf(bytesOf(input)), /^s3:\/\/data\/a\.jsonl: .*the object changed since it was opened/)
      assert.match(yield* failureOf(input.slice!(1000, 2000)), /changed since it was opened; run again$/)
    }
  })

  test("that can't be had is a failure that says why", function* () {
    const { port } = stored()
    assert.match(yield* failureOf(read("s3://data/absent.jsonl")), /^s3:\/\/data\/absent\.jsonl: there is no such file/)
    const noBucket = /there is no such bucket; check its name, and the endpoint$/
    assert.match(yield* failureOf(read("s3://absent/a.jsonl")), noBucket)
    assert.match(yield* failureOf(read("s3://")), /expected s3:\/\/BUCKET\/KEY$/)
    yield* environment({ AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` })
    assert.match(yield* failureOf(read("s3://data/a")), /no credentials were found; set AWS_ACCESS_KEY_ID and/)
    yield* environment({ ...credentials })
    assert.match(yield* failureOf(read("s3://data/a")), /no region is set; set AWS_REGION to the bucket's region$/)
    const to = { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` }
    yield* environment({ ...to, ...credentials, AWS_ACCESS_KEY_ID: "another" })
    assert.match(yield* failureOf(read("s3://data/a")), /does not recognize this access key; check AWS_ACCESS_KEY_ID/)
    yield* environment({ ...to, ...credentials, AWS_SECRET_ACCESS_KEY: "another" })
    assert.match(yield* failureOf(read("s3://data/a")), /does not match the access key; check AWS_SECRET_ACCESS_KEY$/)
  })

  test("is a failure where nobody answers", function* () {
    yield* environment({ ...credentials, AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "1" })
    assert.match(yield* failureOf(read("s3://data/a")), /^s3:\/\/data\/a: cannot be read: connect ECONNREFUSED/)
  })
})

describe("names in S3-compatible storage", () => {
  const stored = storageOf({ checksSignatures: false })

  test("are objects, folders and patterns", function* () {
    const names = "b.jsonl a/x.jsonl a/y.csv.gz a/_SUCCESS a/_x.jsonl a/notes.txt a/b/z.jsonl a/[1].jsonl"
    yield* Effect.forEach(names.split(" "), (name) => stored().put(name, "{}"))
    const files = (...names: ReadonlyArray<string>) =>
      Effect.map(expand(names.map((name) => `s3://${name}`)), (found) =>
        [...found.files, ...found.empty.map((name) => `empty:${name}`)].map((name) => name.replace("s3://data/", "")),
      )
    assert.deepStrictEqual(yield* files("data/a/"), ["a/[1].jsonl", "a/x.jsonl", "a/y.csv.gz"])
    assert.deepStrictEqual(yield* files("data"), ["b.jsonl"])
    const three = ["a/b/z.jsonl", "a/x.jsonl", "b.jsonl"]
    assert.deepStrictEqual(yield* files("data/**/[xz].jsonl", "data/b.jsonl"), three)
    const named = ["a/[1].jsonl", "a/_x.jsonl", "a/x.jsonl"]
    assert.deepStrictEqual(yield* files("data/a/*.jsonl", "data/a/x.jsonl"), named)
    assert.deepStrictEqual(yield* files("data/a/[1].jsonl"), ["a/[1].jsonl"])
    assert.deepStrictEqual(yield* files("data/none/", "data/*.tsv"), ["empty:none/", "empty:*.tsv"])
    assert.match(yield* failureOf(files("data/absent.jsonl")), /absent\.jsonl: there is no such file/)
    assert.match(yield* failureOf(files("absent/")), /there is no such bucket/)
  })

  test("are found beyond the thousand that an answer holds", function* () {
    const [first = "", ...others] = Array.from({ length: 1_050 }, (_, i) => `many/${String(i).padStart(5, "0")}.jsonl`)
    const { directory, put } = stored()
    yield* put(first, "{}")
    // The server's own files of the first object, under other names: quicker than a thousand requests.
    for (const file of globSync(`${directory}/data/${first}*`)) {
      for (const other of others) copyFileSync(file, file.replace(first, other))
    }
    const { files } = yield* expand(["s3://data/many/"])
    assert.deepStrictEqual(
      files,
      [first, ...others].map((name) => `s3://data/${name}`),
    )
  })
})

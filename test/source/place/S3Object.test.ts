import { copyFileSync, globSync } from "node:fs"
import { connect, createServer, type AddressInfo, type Server } from "node:net"
import { fileURLToPath } from "node:url"
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Option, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Listing from "../../../src/source/place/Listing.ts"
import * as Place from "../../../src/source/place/Place.ts"
import { RemoteTimeouts } from "../../../src/source/place/Remote.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { bytesOf, failureOf, pattern, test } from "./support.ts"

/** The keys that the server has from the start. */
const credentials = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" }

/** Sets these, and nothing else of this kind; gives what sets it back. */
const setEnvironment = (values: Readonly<Record<string, string>>) => {
  const before = { ...process.env }
  for (const name of Object.keys(before)) if (name.startsWith("AWS_")) delete process.env[name]
  const none = { AWS_CONFIG_FILE: "/dev/null", AWS_SHARED_CREDENTIALS_FILE: "/dev/null" }
  Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: "true" }, none, values)
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** The process's environment in the scope. */
const environment = (values: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => setEnvironment(values)),
    (reset) => Effect.sync(reset),
  )

/** A storage with one bucket, `data`, that holds these objects; the environment leads to it. */
const storage = Effect.fnUntraced(function* (
  objects: Readonly<Record<string, Uint8Array | string>>,
  { checksSignatures = true } = {},
) {
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
  yield* Effect.forEach(Object.entries(objects), ([key, content]) => put(key, content), { concurrency: 16 })
  return { directory, port, put }
})

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

const impatient = Effect.provideService(RemoteTimeouts, {
  idle: Duration.seconds(80),
  retries: 1,
  pause: Duration.millis(1),
})

/** With the environment as it is now. */
const nowadays = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(effect, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv()))

const open = (name: string) => nowadays(Place.open(name))
const read = (name: string) => impatient(Effect.flatMap(open(name), bytesOf))
const expand = (names: ReadonlyArray<string>) => nowadays(Listing.expand(names))

const content = pattern(400_000)

describe("an object of S3-compatible storage", () => {
  test("is read whole, as often as one likes, and here and there", () =>
    Effect.gen(function* () {
      yield* storage({ "a/items 100%.jsonl": content })
      const input = yield* open("s3://data/a/items 100%.jsonl")
      assert.strictEqual(input.name, "s3://data/a/items 100%.jsonl")
      assert.strictEqual(input.size, content.length)
      assert.deepStrictEqual(yield* bytesOf(input), content)
      assert.deepStrictEqual(yield* bytesOf(input), content)
      assert.deepStrictEqual(yield* input.slice!(0, 4), content.slice(0, 4))
      assert.deepStrictEqual(yield* input.slice!(100, 399_900), content.slice(100, 399_900))
      assert.deepStrictEqual(yield* input.slice!(5, 5), new Uint8Array(0))
    }))

  test("may be empty", () =>
    Effect.gen(function* () {
      yield* storage({ "empty.jsonl": new Uint8Array(0) })
      const input = yield* open("s3://data/empty.jsonl")
      assert.strictEqual(input.size, 0)
      assert.strictEqual((yield* bytesOf(input)).length, 0)
    }))

  test("whose connection breaks off is read on from there", () =>
    Effect.gen(function* () {
      const { port } = yield* storage({ "a.jsonl": content })
      const proxy = yield* breaking(port, 150_000)
      assert.deepStrictEqual(yield* read("s3://data/a.jsonl"), content)
      assert.isAbove(proxy.broken(), 1)
    }))

  test("that is replaced after it was opened is a failure", () =>
    Effect.gen(function* () {
      const { put } = yield* storage({ "a.jsonl": content })
      const input = yield* open("s3://data/a.jsonl")
      for (const other of [pattern(400_000).toReversed(), "short"]) {
        yield* put("a.jsonl", other)
        assert.match(
          yield* failureOf(bytesOf(input)),
          /^s3:\/\/data\/a\.jsonl: .*the object changed since it was opened/,
        )
        assert.match(yield* failureOf(input.slice!(1000, 2000)), /changed since it was opened; run again$/)
      }
    }))

  test("that can't be had is a failure that says why", () =>
    Effect.gen(function* () {
      const { port } = yield* storage({})
      assert.match(
        yield* failureOf(read("s3://data/absent.jsonl")),
        /^s3:\/\/data\/absent\.jsonl: there is no such file/,
      )
      assert.match(
        yield* failureOf(read("s3://absent/a.jsonl")),
        /there is no such bucket; check its name, and the endpoint$/,
      )
      assert.match(yield* failureOf(read("s3://")), /expected s3:\/\/BUCKET\/KEY$/)
      yield* environment({ AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` })
      assert.match(yield* failureOf(read("s3://data/a")), /no credentials were found; set AWS_ACCESS_KEY_ID and/)
      yield* environment({ ...credentials })
      assert.match(yield* failureOf(read("s3://data/a")), /no region is set; set AWS_REGION to the bucket's region$/)
      const to = { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` }
      yield* environment({ ...to, ...credentials, AWS_ACCESS_KEY_ID: "another" })
      assert.match(yield* failureOf(read("s3://data/a")), /does not know this access key; check AWS_ACCESS_KEY_ID/)
      yield* environment({ ...to, ...credentials, AWS_SECRET_ACCESS_KEY: "another" })
      assert.match(yield* failureOf(read("s3://data/a")), /does not match the access key; check AWS_SECRET_ACCESS_KEY$/)
    }))

  test("is a failure where nobody answers", () =>
    Effect.gen(function* () {
      yield* environment({ ...credentials, AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "1" })
      assert.match(yield* failureOf(read("s3://data/a")), /^s3:\/\/data\/a: cannot be read: connect ECONNREFUSED/)
    }))
})

describe("the client library of S3", () => {
  test("is asked for where it is not installed", () =>
    Effect.gen(function* () {
      const script = fileURLToPath(new URL("fixtures/withoutS3.ts", import.meta.url))
      const process_ = yield* ChildProcess.make(process.execPath, ["--no-warnings", script], { stderr: "inherit" })
      const said = yield* process_.stdout.pipe(Stream.decodeText(), Stream.mkString)
      assert.strictEqual(
        said,
        "s3://data/a.jsonl: cannot be read: to read from S3, install its client: npm install @aws-sdk/client-s3\n",
      )
    }))
})

describe("names in S3-compatible storage", () => {
  test("are objects, folders and patterns", () =>
    Effect.gen(function* () {
      yield* storage(
        {
          "b.jsonl": "{}",
          "a/x.jsonl": "{}",
          "a/y.csv.gz": "{}",
          "a/_SUCCESS": "{}",
          "a/_x.jsonl": "{}",
          "a/notes.txt": "{}",
          "a/b/z.jsonl": "{}",
          "a/[1].jsonl": "{}",
        },
        { checksSignatures: false },
      )
      const files = (...names: ReadonlyArray<string>) =>
        Effect.map(expand(names), (found) => [...found.files, ...found.empty.map((name) => `empty: ${name}`)])
      assert.deepStrictEqual(yield* files("s3://data/a/"), [
        "s3://data/a/[1].jsonl",
        "s3://data/a/x.jsonl",
        "s3://data/a/y.csv.gz",
      ])
      assert.deepStrictEqual(yield* files("s3://data"), ["s3://data/b.jsonl"])
      assert.deepStrictEqual(yield* files("s3://data/**/[xz].jsonl", "s3://data/b.jsonl"), [
        "s3://data/a/b/z.jsonl",
        "s3://data/a/x.jsonl",
        "s3://data/b.jsonl",
      ])
      assert.deepStrictEqual(yield* files("s3://data/a/*.jsonl", "s3://data/a/x.jsonl"), [
        "s3://data/a/[1].jsonl",
        "s3://data/a/_x.jsonl",
        "s3://data/a/x.jsonl",
      ])
      assert.deepStrictEqual(yield* files("s3://data/a/[1].jsonl"), ["s3://data/a/[1].jsonl"])
      assert.deepStrictEqual(yield* files("s3://data/none/", "s3://data/*.tsv"), [
        "empty: s3://data/none/",
        "empty: s3://data/*.tsv",
      ])
      assert.match(yield* failureOf(files("s3://data/absent.jsonl")), /absent\.jsonl: there is no such file/)
      assert.match(yield* failureOf(files("s3://absent/")), /there is no such bucket/)
    }))

  test("are found beyond the thousand that an answer holds", () =>
    Effect.gen(function* () {
      const [first = "", ...others] = Array.from(
        { length: 1_050 },
        (_, i) => `many/${String(i).padStart(5, "0")}.jsonl`,
      )
      const { directory } = yield* storage({ [first]: "{}" }, { checksSignatures: false })
      // The server's own files of the first object, under other names: quicker than a thousand requests.
      for (const file of globSync(`${directory}/data/${first}*`)) {
        for (const other of others) copyFileSync(file, file.replace(first, other))
      }
      const { files } = yield* expand(["s3://data/many/"])
      assert.deepStrictEqual(
        files,
        [first, ...others].map((name) => `s3://data/${name}`),
      )
    }))
})

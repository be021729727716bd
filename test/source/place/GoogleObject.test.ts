import { gzipSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Listing from "../../../src/source/place/Listing.ts"
import * as Place from "../../../src/source/place/Place.ts"
import { temporaryDirectory } from "../../support/job.ts"
import * as GoogleServer from "./GoogleServer.ts"
import { bytesOf, environmentOf, failureOf, impatient, nowadays, pattern, test } from "./support.ts"

const environment = environmentOf(/GOOGLE|GCE_|CLOUDSDK|STORAGE_EM/, { HOME: "/nonexistent" })

/** The storage at the server, with the credentials of a machine at Google. */
const machine = ({ host, url }: { readonly host: string; readonly url: string }) => ({
  CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: `${url}/storage/v1/`,
  GCE_METADATA_HOST: host,
  METADATA_SERVER_DETECTION: "assume-present",
})

/** The storage at the server, without credentials. */
const anonymous = (server: { readonly host: string; readonly url: string }) => ({
  ...machine(server),
  METADATA_SERVER_DETECTION: "none",
})

/** The server, to which the environment leads. */
const atMachine = Effect.tap(GoogleServer.make(), (server) => environment(machine(server)))

const open = (name: string) => impatient(nowadays(Place.open(name)))
const read = (name: string) => impatient(Effect.flatMap(open(name), bytesOf))

const content = pattern(400_000)

describe("an object of Google Cloud Storage", () => {
  test("is read whole and in slices, with the credentials of the machine", function* () {
    const server = yield* atMachine
    server.put("data", "a/items 100%#1?.jsonl", content)
    server.put("data", "empty.jsonl", new Uint8Array(0))
    const input = yield* open("gs://data/a/items 100%#1?.jsonl")
    assert.strictEqual(input.name, "gs://data/a/items 100%#1?.jsonl")
    assert.strictEqual(input.size, content.length)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* input.slice!(10, 20), content.slice(10, 20))
    assert.deepStrictEqual(yield* read("gs://data/empty.jsonl"), new Uint8Array(0))
  })

  test("shares its credentials with the other files of a run, until they are refused", function* () {
    const server = yield* atMachine
    const names = ["a", "b", "c"].map((name) => `gs://data/${name}.jsonl`)
    for (const name of names) server.put("data", name.replace("gs://data/", ""), content)
    for (const name of names) assert.deepStrictEqual(yield* read(name), content)
    const tokens = server.asked.filter(({ url }) => url?.includes("/token"))
    assert.lengthOf(tokens, 1)
    server.expireTokens()
    assert.match(yield* failureOf(read(names[0]!)), /refuses the credentials \(401\)/)
    assert.deepStrictEqual(yield* read(names[0]!), content)
  })

  test("that is public needs no credentials", function* () {
    const server = yield* GoogleServer.make()
    yield* environment(anonymous(server))
    server.put("public", "a.jsonl", content)
    assert.deepStrictEqual(yield* read("gs://public/a.jsonl"), content)
    assert.isTrue(server.asked.every(({ headers }) => headers.authorization === undefined))
  })

  test("of an emulator gets no credentials", function* () {
    const server = yield* GoogleServer.make()
    server.put("public", "a.jsonl", content)
    for (const emulator of [server.url, server.host]) {
      yield* environment({ ...machine(server), STORAGE_EMULATOR_HOST: emulator })
      assert.deepStrictEqual(yield* read("gs://public/a.jsonl"), content)
    }
    assert.isTrue(server.asked.every(({ headers }) => headers.authorization === undefined))
  })

  test("that is stored with gzip is read as it is stored, in slices, too", function* () {
    const server = yield* atMachine
    const packed = new Uint8Array(gzipSync(content))
    server.put("data", "a.jsonl", packed, { isGzip: true })
    const input = yield* open("gs://data/a.jsonl")
    assert.deepStrictEqual(yield* bytesOf(input), packed)
    assert.deepStrictEqual(yield* input.slice!(10, 20), packed.slice(10, 20))
  })

  test("is read on where the connection broke off, without a condition, since the tag is none of RFC 9110", function* () {
    const server = yield* atMachine
    server.put("data", "a.jsonl", content)
    server.cutAfter(150_000)
    assert.deepStrictEqual(yield* read("gs://data/a.jsonl"), content)
    const resumed = server.asked.filter(({ headers }) => /^bytes=[1-9]/.test(headers.range ?? ""))
    assert.isAtLeast(resumed.length, 2)
    for (const { headers } of resumed) assert.strictEqual(headers["if-range"], undefined)
  })

  test("that is replaced after it was opened is a failure", function* () {
    const server = yield* atMachine
    server.put("data", "a.jsonl", content)
    const input = yield* open("gs://data/a.jsonl")
    server.put("data", "a.jsonl", content.toReversed())
    assert.match(yield* failureOf(bytesOf(input)), /changed since it was opened; run again$/)
    assert.match(yield* failureOf(input.slice!(10, 20)), /changed since it was opened; run again$/)
  })

  test("that can't be had is a failure that says why, and no secret", function* () {
    const server = yield* GoogleServer.make()
    const failures = (...names: ReadonlyArray<string>) =>
      Effect.forEach(names, (name) => failureOf(read(`gs://${name}`)))
    const directory = yield* temporaryDirectory
    const keyFile = `${directory}/key.json`
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${directory}/identity`, "planted-identity")
    const identity = {
      type: "external_account",
      audience: "//iam.googleapis.com/planted",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${server.url}/sts`,
      credential_source: { file: `${directory}/identity` },
    }

    yield* environment(machine(server))
    const known = yield* failures("data/absent.jsonl", "absent/a.jsonl", "forbidden/a.jsonl", "", "absent/*.jsonl")
    yield* environment(anonymous(server))
    const unknown = yield* failures("data/a.jsonl")
    yield* environment({ ...anonymous(server), GOOGLE_APPLICATION_CREDENTIALS: keyFile })
    const withoutFile = yield* failures("data/a.jsonl")
    yield* fs.writeFileString(keyFile, JSON.stringify(identity))
    const expired = yield* failures("data/a.jsonl")
    yield* environment({ ...anonymous(server), CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: "http://127.0.0.1:9" })
    const nobody = yield* failures("data/a.jsonl")

    const messages = [...known, ...unknown, ...withoutFile, ...expired, ...nobody]
    const patterns = [
      /^gs:\/\/data\/absent\.jsonl: there is no such file; check the path$/,
      /^gs:\/\/absent\/a\.jsonl: cannot be read: there is no such bucket; check its name$/,
      /do not permit reading; they need storage\.objects\.get, and storage\.objects\.list for folders and patterns$/,
      /expected gs:\/\/BUCKET\/KEY$/,
      /^gs:\/\/absent\/\*\.jsonl: cannot be read: there is no such file; check the path|there is no such bucket/,
      /not public, and no usable credentials were found; log in with gcloud auth application-default login, or set GO/,
      /the file that GOOGLE_APPLICATION_CREDENTIALS names has no usable credentials$/,
      /the credentials were refused \(400\), and may have expired; log in with gcloud auth application-default login/,
      /connect ECONNREFUSED/,
    ]
    messages.forEach((message, i) => {
      assert.match(message, patterns[i]!)
      assert.notInclude(message, "planted")
    })
  })
})

test("names in Google Cloud Storage are objects, folders and patterns, over several pages", function* () {
  const server = yield* atMachine
  for (const name of [
    "b.jsonl",
    "a/x.jsonl",
    "a/y.csv.gz",
    "a/_x.jsonl",
    "a/notes.txt",
    "a/b/z.jsonl",
    "a/[1].jsonl",
  ]) {
    server.put("data", name, Buffer.from("{}"))
  }
  for (const [name, expected] of [
    ["b.jsonl", "b.jsonl"],
    ["a/", "a/[1].jsonl a/x.jsonl a/y.csv.gz"],
    ["", "b.jsonl"],
    ["a/[1].jsonl", "a/[1].jsonl"],
    ["**/[xz].jsonl", "a/b/z.jsonl a/x.jsonl"],
    ["c/*.jsonl", "empty:c/*.jsonl"],
  ] as const) {
    const { empty, files } = yield* nowadays(Listing.expand([`gs://data/${name}`]))
    const names = [...files, ...empty.map((name) => `empty:${name}`)].map((name) => name.replace("gs://data/", ""))
    assert.deepStrictEqual(names, expected.split(" "))
  }
})

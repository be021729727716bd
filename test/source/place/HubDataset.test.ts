import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import type { InputFile } from "../../../src/domain/InputFile.ts"
import * as OpenFile from "../../../src/source/OpenFile.ts"
import { InputAudit } from "../../../src/source/place/InputAudit.ts"
import * as Listing from "../../../src/source/place/Listing.ts"
import * as Place from "../../../src/source/place/Place.ts"
import * as HubServer from "../../dataset/HubServer.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { bytesOf, failureOf, impatient, pattern, test, within } from "./support.ts"

const repository = "ada/preferences"
const token = { HF_TOKEN: "hf_reader" }

/** With the Hub at the server, and this environment alone. */
const at = (server: { readonly url: string }, env: Readonly<Record<string, string>> = token) =>
  within({ HF_ENDPOINT: `${server.url}/`, ...env })

const named = (rest: string) => `hf://datasets/${repository}${rest}`
const open = (rest: string) => impatient(Place.open(named(rest)))
const read = (rest: string) => Effect.flatMap(open(rest), bytesOf)

const textOf = <E, R>(bytes: Effect.Effect<Uint8Array, E, R>) =>
  Effect.map(bytes, (bytes) => Buffer.from(bytes).toString())

const content = pattern(400_000)
const files = { "README.md": "# Mine\n", "data/items 100%#1?.bin": content, "empty.jsonl": "" }

describe("a file of a dataset", () => {
  test("is read whole and in slices, from the host that the Hub redirects to, which gets no token", function* () {
    const server = yield* HubServer.make({ hasCdn: true })
    const commit = server.create(repository, files, "private")
    const input = yield* at(server)(open("/data/items 100%#1?.bin"))
    assert.strictEqual(input.name, named(`@${commit}/data/items 100%#1?.bin`))
    assert.strictEqual(input.size, content.length)
    assert.deepStrictEqual(yield* bytesOf(input), content)
    assert.deepStrictEqual(yield* input.slice!(10, 20), content.slice(10, 20))
    assert.strictEqual(server.cdnRequests.at(-1)?.headers.range, "bytes=10-19")
    assert.isTrue(server.cdnRequests.every(({ headers }) => headers.authorization === undefined))
    assert.deepStrictEqual(yield* at(server)(read("/empty.jsonl")), new Uint8Array(0))
  })

  test("is read on where the connection broke off", function* () {
    const server = yield* HubServer.make({ hasCdn: true })
    server.create(repository, files)
    server.cutAfter(150_000)
    assert.deepStrictEqual(yield* at(server, {})(read("/data/items 100%#1?.bin")), content)
    const ranges = server.cdnRequests.map(({ headers }) => headers.range).slice(1)
    assert.strictEqual(ranges[0], undefined)
    assert.isAtLeast(ranges.length, 3)
    for (const range of ranges.slice(1)) assert.match(String(range), /^bytes=[1-9]\d+-$/)
    // Each time, the Hub signs another URL.
    assert.strictEqual(new Set(server.cdnRequests.map(({ url }) => url)).size, server.cdnRequests.length)
  })

  test("is of the commit that was the newest when it was opened", function* () {
    const server = yield* HubServer.make()
    const commit = server.create(repository, { "a.jsonl": "before" })
    const input = yield* at(server)(open("/a.jsonl"))
    server.commit(repository, { "a.jsonl": "after!" })
    assert.strictEqual(yield* textOf(bytesOf(input)), "before")
    assert.strictEqual(yield* textOf(at(server)(read(`@${commit}/a.jsonl`))), "before")
    assert.strictEqual(yield* textOf(at(server)(read("@main/a.jsonl"))), "after!")
  })

  test("may be of a branch with a slash, and of the Hub's own references", function* () {
    const server = yield* HubServer.make()
    server.create(repository, { "a.jsonl": "main" })
    for (const branch of ["of/ada", "refs/convert/parquet", "refs/pr/7"]) {
      server.branch(repository, branch)
      server.commit(repository, { "a.jsonl": branch }, branch)
    }
    for (const [revision, branch] of [
      ["of%2Fada", "of/ada"],
      ["refs/convert/parquet", "refs/convert/parquet"],
      ["refs%2Fpr%2F7", "refs/pr/7"],
    ]) {
      assert.strictEqual(yield* textOf(at(server)(read(`@${revision}/a.jsonl`))), branch)
    }
  })

  test("is asked for again where the Hub is busy, and after the time that it names", function* () {
    const server = yield* HubServer.make()
    server.create(repository, { "a.jsonl": "x" })
    const counts = new Map<string, number>()
    server.failWith(({ path }) => {
      const count = (counts.get(path) ?? 0) + 1
      counts.set(path, count)
      return count > 2 ? undefined : { status: 429, headers: { RateLimit: '"api";r=0;t=1' } }
    })
    assert.strictEqual(yield* textOf(at(server)(read("/a.jsonl"))), "x")
    server.failWith(() => ({ status: 429, headers: { RateLimit: '"api";r=0;t=0' } }))
    assert.match(yield* failureOf(at(server)(read("/a.jsonl"))), /the server answered 429 \(too many requests\)$/)
    server.failWith(() => "reset")
    assert.match(yield* failureOf(at(server)(read("/a.jsonl"))), /cannot be read: /)
  }, 30_000)

  test("is reported with its commit, and not downloaded for that", function* () {
    const server = yield* HubServer.make()
    const parquet = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: "chosen", data: Array.from("abcdefghij"), type: "STRING" }] }),
    )
    const commit = server.create(repository, { "data/train-00000-of-00001.parquet": parquet })
    const { files } = yield* at(server)(Listing.expand([named("")]))
    const file = named(`@${commit}/data/train-00000-of-00001.parquet`)
    assert.deepStrictEqual(files, [file])
    const inputs: Array<InputFile> = []
    const rows = yield* at(server)(OpenFile.open(file)).pipe(
      Effect.flatMap((opened) => Stream.runCollect(opened.rows(["chosen"]))),
      Effect.provideService(InputAudit, (input) => void inputs.push(input)),
    )
    assert.strictEqual(rows.length, 10)
    assert.deepStrictEqual(inputs, [{ file, bytes: parquet.length, records: 10 }])
  })
})

describe("the token", () => {
  test("is that of the environment, or of a login, and is not needed for public datasets", function* () {
    const fs = yield* FileSystem.FileSystem
    const home = yield* temporaryDirectory
    const server = yield* HubServer.make()
    server.create("ada/public", { "a.jsonl": "x" })
    server.create(repository, { "a.jsonl": "x" }, "private")
    yield* fs.writeFileString(`${home}/token`, "hf_reader\n")
    yield* at(server, { HF_HOME: home })(read("/a.jsonl"))
    yield* at(server, { HF_TOKEN_PATH: `${home}/token` })(read("/a.jsonl"))
    yield* at(server, {})(Effect.flatMap(Place.open("hf://datasets/ada/public/a.jsonl"), bytesOf))
  })

  test("that is missing, wrong, or not enough is a failure that says so, without it", function* () {
    const server = yield* HubServer.make({ gated: ["ada/gated"] })
    server.create(repository, { "a.jsonl": "x" }, "private")
    server.create("ada/gated", { "a.jsonl": "x" })
    const failure = (name: string, env?: Readonly<Record<string, string>>) =>
      failureOf(at(server, env)(impatient(Effect.flatMap(Place.open(`hf://datasets/${name}`), bytesOf))))
    const secret = { HF_TOKEN: "hf_planted" }
    for (const [message, words] of [
      [
        yield* failure("ada/preferences/a.jsonl", {}),
        /no public dataset ada\/preferences; if it is private, set HF_TOKEN/,
      ],
      [yield* failure("ada/absent/a.jsonl"), /no dataset ada\/absent, or the access token does not permit reading it$/],
      [
        yield* failure("ada/absent/a.jsonl", {}),
        /no public dataset ada\/absent; if it is private, set HF_TOKEN or log/,
      ],
      [
        yield* failure("ada/preferences/a.jsonl", secret),
        /refuses the access token \(401\): the token may be wrong or expired; set HF_TOKEN/,
      ],
      [
        yield* failure("ada/gated/a.jsonl"),
        /ada\/gated is gated, and the access token's account has no access; request/,
      ],
      [
        yield* failure("ada/gated/a.jsonl", {}),
        /ada\/gated is gated; request access at http:\S+\/datasets\/ada\/gated, th/,
      ],
      [yield* failure("ada/preferences@v9/a.jsonl"), /ada\/preferences has no revision v9; check the branch, tag, or/],
      [
        yield* failure("ada/preferences/b.jsonl"),
        /^hf:\/\/datasets\/ada\/preferences@[0-9a-f]{40}\/b\.jsonl: there is no su/,
      ],
      [yield* failure("preferences"), /expected hf:\/\/datasets\/USER\/NAME, with @REVISION or \/PATH appended/],
      [
        yield* failure("ada/preferences/a.jsonl", { HF_TOKEN: "planted" }),
        /HF_TOKEN: expected an access token, which be/,
      ],
      [
        yield* failure("ada/preferences/a.jsonl", { HF_ENDPOINT: "hub" }),
        /HF_ENDPOINT: expected the address of a server/,
      ],
    ] as const) {
      assert.match(message, words)
      assert.notInclude(message, "planted")
    }
    server.failWith(() => ({ status: 403, body: { error: "Forbidden" } }))
    assert.match(yield* failure("ada/preferences/a.jsonl"), /does not permit reading ada\/preferences \(403\)$/)
  })
})

describe("names of datasets", () => {
  /** The files that a name stands for, without the dataset and its commit. */
  const expanded = Effect.fnUntraced(function* (rest: string, files: ReadonlyArray<string>, card = "# Mine\n") {
    const server = yield* HubServer.make()
    const all = Object.fromEntries([...files.map((path) => [path, "{}"] as const), ["README.md", card]])
    const commit = server.create(repository, all)
    const listed = yield* at(server)(impatient(Listing.expand([named(rest)])))
    return [...listed.files, ...listed.empty.map((name) => `empty:${name}`)].map((name) =>
      name.replace(named(`@${commit}/`), ""),
    )
  })

  test("are files, folders and patterns of one commit", function* () {
    const files = ["b.jsonl", "a/x.jsonl", "a/y.csv.gz", "a/_x.jsonl", "a/notes.txt", "a/b/z.jsonl", "a/[1].jsonl"]
    const names: ReadonlyArray<readonly [rest: string, expected: ReadonlyArray<string>]> = [
      ["/b.jsonl", ["b.jsonl"]],
      ["/a", ["a/[1].jsonl", "a/x.jsonl", "a/y.csv.gz"]],
      ["/a/", ["a/[1].jsonl", "a/x.jsonl", "a/y.csv.gz"]],
      ["/a/[1].jsonl", ["a/[1].jsonl"]],
      ["/a/*.jsonl", ["a/[1].jsonl", "a/_x.jsonl", "a/x.jsonl"]],
      ["/**/[xz].jsonl", ["a/b/z.jsonl", "a/x.jsonl"]],
      ["/absent/*.jsonl", [`empty:${named("/absent/*.jsonl")}`]],
    ]
    for (const [rest, expected] of names) assert.deepStrictEqual(yield* expanded(rest, files), [...expected], rest)
    assert.match(yield* failureOf(expanded("/absent.jsonl", files)), /absent\.jsonl: there is no such file; check/)
  })

  const layouts: ReadonlyArray<readonly [what: string, files: string, expected: string]> = [
    ["shards of a split", "data/train-00000-of-00001.parquet data/x.parquet", "data/train-00000-of-00001.parquet"],
    ["folders of splits", "en/test/0.jsonl en/train-1/0.jsonl x.jsonl", "en/test/0.jsonl en/train-1/0.jsonl"],
    ["files of splits", "my_train_file.csv test1.csv trained.csv", "my_train_file.csv test1.csv"],
    [
      "any files, if none has a split's name",
      "x.jsonl y/z.jsonl .hidden/a.jsonl __x/a.jsonl notes.txt",
      "x.jsonl y/z.jsonl",
    ],
    ["the format of most files", "a.csv b.jsonl c.jsonl dataset_info.json", "b.jsonl c.jsonl"],
    ["Parquet, if formats are as frequent", "a.csv b.parquet", "b.parquet"],
  ]
  for (const [what, files, expected] of layouts) {
    test(`without a configuration stand for ${what}`, function* () {
      assert.deepStrictEqual(yield* expanded("", files.split(" ")), expected.split(" "))
    })
  }

  const cards: ReadonlyArray<readonly [what: string, configs: string, expected: string | RegExp]> = [
    ["a file", "[{config_name: default, data_files: b.csv}]", "b.csv"],
    ["patterns", '[{config_name: default, data_files: ["d/*.csv", a.csv]}]', "d/x.csv d/y.csv a.csv"],
    ["a folder and files", "[{config_name: x, data_dir: ./d, data_files: y.csv}]", "d/y.csv"],
    ["no configuration", "[]", "a.csv b.csv d/x.csv d/y.csv"],
    [
      "splits",
      "[{config_name: x, data_files: [{split: train, path: b.csv}, {split: test, path: [d/x.csv]}]}]",
      "b.csv d/x.csv",
    ],
    ["a folder", "[{config_name: x, data_dir: d}]", "d/x.csv d/y.csv"],
    [
      "the default",
      "[{config_name: x, data_files: a.csv}, {config_name: y, data_files: b.csv, default: true}]",
      "b.csv",
    ],
    [
      "nothing that exists",
      "[{config_name: x, data_files: z.csv}]",
      /no JSON Lines, JSON, CSV, TSV, or Parquet files; to read the Hub's copy in Parquet, app/,
    ],
    [
      "several configurations",
      "[{config_name: x, data_files: a.csv}, {config_name: y, data_files: d/*}]",
      /2 configurations, and none is the default; append the path of one configuration's files to the dataset's name: x \(a\.csv\), y \(d\/\*\)$/,
    ],
    [
      "no path of files",
      "[{config_name: x, data_files: 3}]",
      /README\.md: configs\[0\]\.data_files: expected .*found 3; correct README.md, or choose the files yourself/,
    ],
    [
      "a list of names",
      "{default: a.csv}",
      /README\.md: configs: expected .*; correct README.md, or choose the files yourself/,
    ],
    [
      "nothing that is YAML",
      "[{",
      /the YAML at the file's beginning is invalid; to read the dataset anyway, append the path of the data files/,
    ],
  ]
  for (const [what, configs, expected] of cards) {
    test(`whose card names ${what} stand for that, or fail`, function* () {
      const card = `---\nlicense: mit\nconfigs: ${configs}\n---\n# Mine\n`
      const files = expanded("", ["a.csv", "b.csv", "d/y.csv", "d/x.csv"], card)
      if (typeof expected === "string") assert.deepStrictEqual(yield* files, expected.split(" "))
      else assert.match(yield* failureOf(files), expected)
    })
  }
})

import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FileSystem, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { Threads } from "../../src/node/Thread.ts"
import { bundle } from "../support/built.ts"
import { hashes } from "../support/hashes.ts"
import { pair } from "../support/pairs.ts"
import { importedByThreads } from "../support/threads.ts"
import * as FullDevice from "./fixtures/fullDevice.ts"
import { test } from "./support.ts"

const crashingWrite = await bundle("crashingWrite", "test/dataset/fixtures/crashingWrite.ts")

const pairs = (rows: number): Stream.Stream<PreferencePair> =>
  Stream.range(0, rows - 1).pipe(Stream.map((i) => pair(i)))

/** 36 MB: more than the writers gather before they write. */
const many = Stream.range(0, 49).pipe(Stream.map((i) => pair(i, { chosen: String(i).repeat(400_000) })))

/** A folder for the test, and the place of a dataset in it. */
const workspace = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  return { folder, directory: `${folder}/dataset` }
})

const manifestOf = (directory: string) => JSON.parse(readFileSync(`${directory}/manifest.json`, "utf8"))

const siblings = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readDirectory(folder)).toSorted()
})

/** A dataset of three rows: after `attempt`, every byte of it and its folder's listing are as before. */
const staysAsItWas = (
  name: string,
  attempt: (place: Effect.Success<typeof workspace>) => ReturnType<Parameters<typeof test>[1]>,
  run: ReturnType<typeof test.skipIf> = test,
) =>
  run(name, function* () {
    const { folder, directory } = yield* workspace
    yield* Stream.run(pairs(3), Dataset.write({ directory }))
    const before = hashes(directory)
    yield* Effect.scoped(Effect.gen(() => attempt({ folder, directory })))
    assert.deepStrictEqual(hashes(directory), before)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })

const failure = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E | Dataset.DatasetError, R>) {
  const error = yield* Effect.flip(effect)
  assert.instanceOf(error, Dataset.DatasetError)
  return error
})

describe("a dataset's directory", () => {
  test("holds the files that the manifest lists, with their digests", function* () {
    const { folder } = yield* workspace
    const directory = `${folder}/new/folders/dataset`
    const info = yield* Stream.run(pairs(3), Dataset.write({ directory }))
    const digests = hashes(directory)
    assert.deepStrictEqual(Object.keys(digests), [
      "/README.md",
      "/data/train-00000-of-00001.parquet",
      "/jsonl/train-00000-of-00001.jsonl",
      "/manifest.json",
    ])
    const manifest = manifestOf(directory)
    assert.deepInclude(manifest, { format: "prefstream-dataset", version: 1, shape: "standard", rows: 3 })
    assert.deepStrictEqual(manifest.files, info.files)
    assert.deepStrictEqual(manifest.splits, info.splits)
    for (const { path, bytes, rows, sha256 } of info.files) {
      assert.strictEqual(bytes, statSync(`${directory}/${path}`).size)
      assert.strictEqual(rows, path === "README.md" ? null : 3)
      assert.strictEqual(sha256, digests[`/${path}`])
    }
    assert.strictEqual(info.rows, 3)
  })

  test("is replaced by the next write, byte for byte the same for the same pairs", function* () {
    const { folder, directory } = yield* workspace
    yield* Stream.run(pairs(3), Dataset.write({ directory }))
    const first = hashes(directory)
    yield* Stream.run(pairs(5), Dataset.write({ directory }))
    assert.strictEqual(manifestOf(directory).rows, 5)
    yield* Stream.run(pairs(3), Dataset.write({ directory }))
    assert.deepStrictEqual(hashes(directory), first)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })

  test("is open to whom the folder's creator lets in", function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    yield* fs.makeDirectory(`${folder}/ordinary`)
    yield* Stream.run(pairs(1), Dataset.write({ directory }))
    assert.strictEqual((yield* fs.stat(directory)).mode, (yield* fs.stat(`${folder}/ordinary`)).mode)
  })

  test("may be empty before, or a link", function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    yield* fs.makeDirectory(directory)
    yield* fs.symlink(directory, `${folder}/link`)
    yield* Stream.run(pairs(2), Dataset.write({ directory: `${folder}/link` }))
    assert.strictEqual(manifestOf(directory).rows, 2)
    assert.strictEqual(yield* fs.readLink(`${folder}/link`), directory)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset", "link"])
  })

  staysAsItWas("stays as it was when the stream fails", function* ({ directory }) {
    const failing = Stream.concat(many, Stream.fail("the ledger is gone"))
    const error = yield* Effect.flip(Stream.run(failing, Dataset.write({ directory })))
    assert.strictEqual(error, "the ledger is gone")
  })

  staysAsItWas("stays as it was when the write is interrupted", function* ({ directory, folder }) {
    const reached = yield* Deferred.make<void>()
    const stuck = Stream.concat(
      many,
      Stream.fromEffect(Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)),
    )
    const fiber = yield* Effect.forkChild(Stream.run(stuck, Dataset.write({ directory })))
    yield* Deferred.await(reached)
    assert.strictEqual((yield* siblings(folder)).length, 2)
    yield* Fiber.interrupt(fiber)
    assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
  })

  test("may be written by two at once, who leave each other alone", function* () {
    const { folder, directory } = yield* workspace
    const reached = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const waiting = Stream.concat(
      Stream.fromEffect(Effect.as(Deferred.succeed(reached, undefined), pair(0))),
      Stream.fromEffect(Effect.as(Deferred.await(go), pair(1))),
    )
    const slow = yield* Effect.forkChild(Stream.run(waiting, Dataset.write({ directory })))
    yield* Deferred.await(reached)
    yield* Stream.run(pairs(5), Dataset.write({ directory }))
    assert.strictEqual(manifestOf(directory).rows, 5)
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(slow)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
    yield* Stream.run(pairs(2), Dataset.write({ directory: `${folder}/undisturbed` }))
    assert.deepStrictEqual(hashes(directory), hashes(`${folder}/undisturbed`))
  })

  staysAsItWas("stays as it was when somebody removes the unfinished files", function* ({ directory, folder }) {
    const fs = yield* FileSystem.FileSystem
    const removal = Effect.gen(function* () {
      const [partial = ""] = yield* siblings(folder)
      yield* fs.remove(`${folder}/${partial}`, { recursive: true })
      return pair(0)
    })
    yield* failure(Stream.run(Stream.fromEffect(removal), Dataset.write({ directory })))
  })
})

describe("a directory that prefstream did not write", () => {
  const refused = Effect.fnUntraced(function* (directory: string, expected: string) {
    let isRead = false
    const stream = Stream.tap(pairs(1), () => Effect.sync(() => (isRead = true)))
    const { reason, message } = yield* failure(Stream.run(stream, Dataset.write({ directory })))
    assert.strictEqual(reason._tag, "DirectoryNotReplaceable")
    assert.include(message, expected)
    assert.isFalse(isRead)
  })

  test.each<readonly [string, string, hasDataset: boolean, expected: string]>([
    ["it has files and no manifest", "notes/thesis.txt", false, "notes"],
    ["another program's manifest.json stands in it", "manifest.json", false, "manifest.json"],
    ["somebody put a file beside the dataset's", "data/labels.csv", true, "data/labels.csv"],
  ])("is refused and left alone where %s", function* ([, file, hasDataset, expected]) {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    if (hasDataset) yield* Stream.run(pairs(2), Dataset.write({ directory }))
    yield* fs.makeDirectory(dirname(`${directory}/${file}`), { recursive: true })
    yield* fs.writeFileString(`${directory}/${file}`, '{"name":"a web app"}')
    const before = hashes(directory)
    yield* refused(directory, directory)
    yield* refused(directory, expected)
    assert.deepStrictEqual(hashes(directory), before)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })

  test("is refused where somebody puts a file into it during the write", function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    yield* fs.makeDirectory(directory)
    const meddling = Stream.fromEffect(Effect.as(fs.writeFileString(`${directory}/mine.txt`, "mine"), pair(0)))
    const { reason } = yield* failure(Stream.run(meddling, Dataset.write({ directory })))
    assert.strictEqual(reason._tag, "DirectoryNotReplaceable")
    assert.deepStrictEqual(yield* siblings(directory), ["mine.txt"])
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })

  test("is refused where it is a file, or the current directory", function* () {
    const fs = yield* FileSystem.FileSystem
    const { directory } = yield* workspace
    yield* fs.writeFileString(directory, "a file")
    yield* refused(directory, "not a directory")
    yield* refused(".", "current directory")
  })

  test.skipIf(process.platform !== "linux")(
    "is refused where it is a mount point, which can't be renamed",
    function* () {
      yield* refused("/proc", "root of a file system")
    },
  )
})

describe("a file system that fails", () => {
  for (const inThread of [true, false]) {
    staysAsItWas(
      `for want of space leaves the old dataset and says so, ${inThread ? "in a thread" : "in this thread"}`,
      function* ({ directory }) {
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            inThread ? importedByThreads(new URL("fixtures/fullDevice.ts", import.meta.url)) : FullDevice.install(),
          ),
          (takeBack) => Effect.sync(takeBack),
        )
        const full = Effect.provideService(
          Stream.run(many, Dataset.write({ directory })),
          Threads,
          inThread ? "always" : "never",
        )
        const { reason, message } = yield* failure(full)
        assert.strictEqual(reason._tag, "NoSpace")
        assert.include(message, "train-00000-of-00001.parquet")
      },
      test.skipIf(!existsSync("/dev/full")),
    )
  }

  test.skipIf(process.getuid?.() === 0)("for want of permission says which folder it is about", function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    yield* fs.chmod(folder, 0o555)
    const { reason, message } = yield* failure(Stream.run(pairs(1), Dataset.write({ directory })))
    yield* fs.chmod(folder, 0o755)
    assert.strictEqual(reason._tag, "PermissionDenied")
    assert.include(message, folder)
  })

  staysAsItWas("between the two renames brings the old dataset back", function* ({ directory }) {
    const fs = yield* FileSystem.FileSystem
    // The new directory is gone when its turn comes.
    const rename: FileSystem.FileSystem["rename"] = (from, to) =>
      from.endsWith("next") ? fs.rename(`${from}-gone`, to) : fs.rename(from, to)
    const write = Stream.run(pairs(5), Dataset.write({ directory }))
    const failing = Effect.provideService(write, FileSystem.FileSystem, { ...fs, rename })
    const { reason, message } = yield* failure(failing)
    assert.strictEqual(reason._tag, "FileSystemFailure")
    assert.include(message, directory)
  })
})

describe("after a writer was killed", () => {
  const crash = (directory: string, rows: number, moment: "before" | "after", rename: number) => {
    const { signal } = spawnSync(process.execPath, [crashingWrite, directory, String(rows), moment, String(rename)])
    assert.strictEqual(signal, "SIGKILL")
  }

  test.each([
    { moment: "before", rename: 1, stands: true, rows: 3 },
    { moment: "before", rename: 2, stands: false, rows: 3 },
    { moment: "after", rename: 2, stands: true, rows: 5 },
  ] as const)("$moment rename $rename, recovery leaves a whole dataset", function* ({ moment, rename, stands, rows }) {
    const { folder, directory } = yield* workspace
    yield* Stream.run(pairs(3), Dataset.write({ directory }))
    crash(directory, 5, moment, rename)
    assert.strictEqual(existsSync(directory), stands)
    assert.strictEqual((yield* siblings(folder)).length, stands ? 2 : 1)
    yield* Dataset.recover(directory)
    assert.strictEqual(manifestOf(directory).rows, rows)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })

  test("between the renames, recovery finds the place through a link", function* () {
    const fs = yield* FileSystem.FileSystem
    const { folder, directory } = yield* workspace
    yield* fs.makeDirectory(`${folder}/links`)
    yield* fs.symlink("../dataset", `${folder}/links/latest`)
    yield* Stream.run(pairs(3), Dataset.write({ directory: `${folder}/links/latest` }))
    crash(`${folder}/links/latest`, 5, "before", 2)
    assert.isFalse(existsSync(directory))
    yield* Dataset.recover(`${folder}/links/latest`)
    assert.strictEqual(manifestOf(directory).rows, 3)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset", "links"])
  })

  test("the next write recovers by itself, also one that fails", function* () {
    const { folder, directory } = yield* workspace
    yield* Stream.run(pairs(3), Dataset.write({ directory }))
    const before = hashes(directory)
    crash(directory, 5, "before", 2)
    yield* Effect.flip(Stream.run(Stream.fail("no ledger"), Dataset.write({ directory })))
    assert.deepStrictEqual(hashes(directory), before)
    crash(directory, 5, "before", 2)
    yield* Stream.run(pairs(7), Dataset.write({ directory }))
    assert.strictEqual(manifestOf(directory).rows, 7)
    assert.deepStrictEqual(yield* siblings(folder), ["dataset"])
  })
})

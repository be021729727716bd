import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, FileSystem, Stream } from "effect"
import { ChildProcess } from "effect/process"
import type { Input } from "../../../src/source/place/Input.ts"
import * as Listing from "../../../src/source/place/Listing.ts"
import * as Place from "../../../src/source/place/Place.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { bytesOf, collected, failureOf, pattern, test } from "./support.ts"

const fileOf = Effect.fnUntraced(function* (content: Uint8Array | string) {
  const file = `${yield* temporaryDirectory}/items.jsonl`
  yield* Effect.sync(() => writeFileSync(file, content))
  return file
})

/** The file's bytes, of which each chunk is followed by the action. */
const readWhile = (input: Input, action: () => void) =>
  collected(Stream.mapEffect(input.bytes, (chunk) => Effect.as(Effect.sync(action), chunk)))

describe("a file on this machine", () => {
  test("is read whole, again and again, and tells its size; it may be empty", function* () {
    for (const content of [pattern(300_001), new Uint8Array(0)]) {
      const input = yield* Place.open(yield* fileOf(content))
      assert.strictEqual(input.size, content.length)
      assert.deepStrictEqual(yield* bytesOf(input), content)
      assert.deepStrictEqual(yield* bytesOf(input), content)
      assert.deepStrictEqual(yield* input.slice!(0, 0), new Uint8Array(0))
    }
  })

  test("is read here and there, and there is a failure where it has no bytes", function* () {
    const content = pattern(200_000)
    const input = yield* Place.open(yield* fileOf(content))
    for (const [start, end] of [
      [0, 4],
      [199_996, 200_000],
      [60_000, 140_000],
      [7, 7],
    ] as const) {
      assert.deepStrictEqual(yield* input.slice!(start, end), content.slice(start, end))
    }
    assert.match(
      yield* failureOf(input.slice!(199_999, 200_001)),
      /items\.jsonl: .*expected 200001 bytes, found 200000; run again$/,
    )
  })

  test("that grows while it is read ends where it ended at the beginning", function* () {
    const content = pattern(300_000)
    const file = yield* fileOf(content)
    const input = yield* Place.open(file)
    const grow = () => appendFileSync(file, pattern(100_000))
    assert.deepStrictEqual(yield* readWhile(input, grow), content)
    // What was appended belongs to the next run.
    assert.isAbove((yield* bytesOf(input)).length, content.length)
  })

  test("that becomes shorter while it is read is a failure", function* () {
    const file = yield* fileOf(pattern(1_000_000))
    const input = yield* Place.open(file)
    assert.match(
      yield* failureOf(readWhile(input, () => truncateSync(file, 400_000))),
      /items\.jsonl: cannot be read: the file became shorter while it was read: expected 1000000 bytes, found 400000; run again$/,
    )
  })

  test("that is removed or replaced while it is read is read on as it was", function* () {
    const content = pattern(300_000)
    const file = yield* fileOf(content)
    const input = yield* Place.open(file)
    yield* input.slice!(0, 1)
    const replace = () => {
      writeFileSync(`${file}.new`, "another")
      renameSync(`${file}.new`, file)
    }
    assert.deepStrictEqual(yield* readWhile(input, replace), content)
    yield* Effect.sync(() => rmSync(file))
    assert.deepStrictEqual(yield* input.slice!(299_000, 300_000), content.slice(299_000))
    assert.match(yield* failureOf(bytesOf(input)), /there is no such file/)
  })

  test("that is not there, or is a folder, is a failure that says what to do", function* () {
    const directory = yield* temporaryDirectory
    assert.match(yield* failureOf(Place.open(`${directory}/absent`)), /absent: there is no such file; check the path$/)
    assert.match(yield* failureOf(Place.open(directory)), /: a directory, not a file; name the files in it$/)
    assert.match(
      yield* failureOf(Place.open("ftp://host/a.jsonl")),
      /^ftp:\/\/host\/a\.jsonl: .*s3:\/\/, gs:\/\/, or hf:/,
    )
  })

  test("that is a symbolic link to itself fails with a readable message", function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const file = `${directory}/a.jsonl`
    yield* fs.symlink("a.jsonl", file)
    const problem = `${file}: cannot be read: the symbolic links form a loop; check the path`
    assert.strictEqual(yield* failureOf(Place.open(file)), problem)
    assert.strictEqual(yield* failureOf(Listing.expand([file])), problem)
    assert.strictEqual(yield* failureOf(Listing.expand([directory])), problem)
  })

  test("may be a device", function* () {
    const input = yield* Place.open("/dev/null")
    assert.strictEqual(input.size, undefined)
    assert.strictEqual(input.slice, undefined)
    assert.deepStrictEqual(yield* bytesOf(input), new Uint8Array(0))
  })
})

describe("a FIFO", () => {
  const fifo = Effect.fnUntraced(function* () {
    const path = `${yield* temporaryDirectory}/fifo`
    yield* run("mkfifo", path)
    return path
  })

  test("is read when somebody writes to it, and can be read again", function* () {
    const path = yield* fifo()
    const content = pattern(300_000)
    const source = yield* fileOf(content)
    const first = yield* Place.open(path)
    assert.strictEqual(first.size, undefined)
    assert.strictEqual(first.slice, undefined)
    const [read] = yield* Effect.all([bytesOf(first), run("sh", "-c", `cat ${source} > ${path}`)], { concurrency: 2 })
    assert.deepStrictEqual(read, content)
    const second = yield* Effect.scoped(Effect.flatMap(Place.open(path), bytesOf))
    assert.deepStrictEqual(second, content)
  })

  test("may be one that a shell makes", function* () {
    const script = fileURLToPath(new URL("fixtures/cat.ts", import.meta.url))
    const said = yield* output("bash", "-c", `'${process.execPath}' --no-warnings '${script}' <(echo one) <(true)`)
    assert.strictEqual(said, "one\n")
  })

  test("to which nobody writes can be given up, and read afterwards", function* () {
    const path = yield* fifo()
    const input = yield* Place.open(path)
    const waiting = yield* Effect.forkChild(bytesOf(input), { startImmediately: true })
    yield* Fiber.interrupt(waiting)
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(waiting)))
    const [read] = yield* Effect.all([bytesOf(input), run("sh", "-c", `echo late > ${path}`)], { concurrency: 2 })
    assert.strictEqual(new TextDecoder().decode(read), "late\n")
  })
})

const output = Effect.fnUntraced(function* (command: string, ...args: ReadonlyArray<string>) {
  const process_ = yield* ChildProcess.make(command, args, { stderr: "inherit" })
  return yield* process_.stdout.pipe(Stream.decodeText(), Stream.mkString)
})

/** A command, until it has ended. */
const run = Effect.fnUntraced(function* (command: string, ...args: ReadonlyArray<string>) {
  const process_ = yield* ChildProcess.make(command, args)
  assert.strictEqual(yield* process_.exitCode, 0, command)
})

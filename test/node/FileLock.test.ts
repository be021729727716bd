import { hostname } from "node:os"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, FileSystem, Option, Scope } from "effect"
import { ChildProcess } from "effect/process"
import * as FileLock from "../../src/node/FileLock.ts"
import { fixture, layer, start, temporaryPath } from "./support.ts"
import { effectTest } from "../support/effectTest.ts"

const refusal = Effect.fnUntraced(function* (path: string) {
  const error = yield* Effect.flip(Effect.scoped(FileLock.acquire(path)))
  return error.reason
})

it.layer(layer)("FileLock", (it) => {
  const test = effectTest(it.effect)
  test("a second process is refused and told who holds the file", function* () {
    const path = yield* temporaryPath("ledger.db")
    const holder = yield* start("lockHolder.ts", path)
    assert.strictEqual(holder.firstLine, "locked")

    const reason = yield* refusal(path)
    assert(reason._tag === "FileLocked")
    assert.isTrue(reason.isRetryable)
    assert.strictEqual(reason.path, path)
    assert.strictEqual(reason.holder?.pid, holder.pid)
    assert.include(reason.message, path)
    assert.include(reason.message, `process ${holder.pid} on `)

    const fs = yield* FileSystem.FileSystem
    assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(`${path}.lock.json`)), reason.holder)
  })

  test("who holds the file can be asked for, also of a process that was killed: nobody then", function* () {
    const path = yield* temporaryPath("ledger.db")
    assert.deepStrictEqual(yield* FileLock.holder(path), Option.none())
    const fs = yield* FileSystem.FileSystem
    assert.isFalse(yield* fs.exists(`${path}.lock`), "asking creates nothing")
    const child = yield* start("lockHolder.ts", path)
    const holder = Option.getOrThrow(yield* FileLock.holder(path))
    assert(holder !== "unknown")
    assert.strictEqual(holder.pid, child.pid)
    yield* fs.writeFileString(`${path}.lock.json`, "?")
    assert.deepStrictEqual(yield* FileLock.holder(path), Option.some("unknown"))
    yield* child.kill
    assert.deepStrictEqual(yield* FileLock.holder(path), Option.none())
    // Its id belongs to another process now, or it ran on another machine.
    for (const host of ["elsewhere", hostname()]) {
      yield* fs.writeFileString(`${path}.lock.json`, JSON.stringify({ ...holder, pid: process.pid, host }))
      assert.deepStrictEqual(yield* FileLock.holder(path), Option.none())
    }
    // Neither asking nor that name holds the lock.
    yield* FileLock.acquire(path)
  })

  it.effect(
    "of several processes that want it again and again, one has it at a time; also after one was killed with it",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* temporaryPath("ledger.db")
        const log = yield* temporaryPath("log")
        const ends = ["", "killed", "", "killed"]
        yield* Effect.forEach(
          ends,
          Effect.fnUntraced(function* (end) {
            const racer = yield* ChildProcess.make(
              process.execPath,
              ["--no-warnings", fixture("lockRacer.ts"), path, log, String(ends.length), "25", end],
              { stdin: "ignore", stderr: "inherit" },
            )
            yield* Effect.exit(racer.exitCode)
          }, Effect.scoped),
          { concurrency: "unbounded" },
        )
        const lines = (yield* fs.readFileString(log)).trim().split("\n")
        const visits = lines.filter((line) => !/^(ready|refused) /.test(line))
        assert.strictEqual(visits.length, ends.length * 25 * 2 + 2 * 2)
        for (let i = 0; i < visits.length; i += 2) {
          const [came, who] = visits[i]!.split(" ")
          const [went, same] = visits[i + 1]!.split(" ")
          assert.deepStrictEqual([came, same], ["in", who], `visit ${i / 2}`)
          assert.include(["out", "killed"], went)
        }
      }),
  )

  test("of many at once in one process, one gets it", function* () {
    const path = yield* temporaryPath("ledger.db")
    const exits = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.exit(FileLock.acquire(path)), {
      concurrency: "unbounded",
    })
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    // Those that were refused have not loosened it.
    const child = yield* start("lockHolder.ts", path)
    assert.include(child.firstLine, `process ${process.pid} on `)
  })

  test("a closed scope frees the file, also for a scope that was refused, and takes the holder's name away", function* () {
    const path = yield* temporaryPath("ledger.db")
    const fs = yield* FileSystem.FileSystem
    const first = yield* Scope.make()
    yield* Scope.provide(FileLock.acquire(path), first)
    yield* Effect.flip(FileLock.acquire(path))
    yield* Scope.close(first, Exit.void)
    assert.isFalse(yield* fs.exists(`${path}.lock.json`))
    yield* FileLock.acquire(path)
  })

  test("a link to the file has the same lock", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* temporaryPath("ledger.db")
    const link = yield* temporaryPath("link.db")
    yield* fs.writeFileString(path, "")
    yield* fs.symlink(path, link)
    yield* FileLock.acquire(path)
    const reason = yield* refusal(link)
    assert.strictEqual(reason._tag, "FileLocked")
  })

  test("an unreadable name of the holder leaves the refusal nameless", function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* temporaryPath("ledger.db")
    yield* FileLock.acquire(path)
    yield* fs.writeFileString(`${path}.lock.json`, '{"pid":')
    const reason = yield* refusal(path)
    assert(reason._tag === "FileLocked")
    assert.isUndefined(reason.holder)
    assert.include(reason.message, path)
  })

  test("a folder that doesn't exist is another reason than a held lock", function* () {
    const path = yield* temporaryPath("absent/ledger.db")
    const reason = yield* refusal(path)
    assert.strictEqual(reason._tag, "LockUnavailable")
    assert.isFalse(reason.isRetryable)
    assert.include(reason.message, path)
  })

  test("where there is no file yet, the lock is its owner's alone; else it is for whom the file is", function* () {
    const fs = yield* FileSystem.FileSystem
    for (const [name, mode] of [
      ["absent.db", 0o600],
      ["present.db", 0o640],
    ] as const) {
      const path = yield* temporaryPath(name)
      if (name === "present.db") {
        yield* fs.writeFileString(path, "")
        yield* fs.chmod(path, mode)
      }
      yield* FileLock.acquire(path)
      for (const beside of [".lock", ".lock.json"]) {
        assert.strictEqual((yield* fs.stat(`${path}${beside}`)).mode & 0o777, mode)
      }
    }
  })

  test("a database in memory has no lock", function* () {
    yield* FileLock.acquire(":memory:")
    yield* FileLock.acquire(":memory:")
    const fs = yield* FileSystem.FileSystem
    assert.isFalse(yield* fs.exists(":memory:.lock"))
  })
})

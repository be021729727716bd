import { spawn, type SpawnOptions } from "node:child_process"
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { once } from "node:events"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fixture, layer, temporaryPath } from "./support.ts"
import { effectTest } from "../support/effectTest.ts"

const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff))
const told = `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}\n`

const start = (command: string, args: ReadonlyArray<string>, stdin: "pipe" | "ignore") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(command, args, { stdio: [stdin, "pipe", "inherit"] } satisfies SpawnOptions)
      let stdout = ""
      child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
      return { child, ended: once(child, "close").then(([status]) => ({ status: Number(status), stdout })) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL")),
  )

const script = fixture("standardInput.ts")

it.layer(layer)("standard input of a process", (it) => {
  const test = effectTest(it.effect)
  test("is read through a pipe, after it was looked at", function* () {
    const { child, ended } = yield* start(process.execPath, ["--no-warnings", script, "twice"], "pipe")
    child.stdin?.end(bytes)
    assert.deepStrictEqual(yield* Effect.promise(() => ended), { status: 0, stdout: told })
  })

  test("is read from a file, a shell's pipe, and nothing", function* () {
    const file = yield* temporaryPath("input")
    yield* Effect.sync(() => writeFileSync(file, bytes))
    const node = `'${process.execPath}' --no-warnings '${script}' twice`
    const none = `0 ${createHash("sha256").digest("hex")}\n`
    for (const [command, expected] of [
      [`${node} < '${file}'`, told],
      [`cat '${file}' | ${node}`, told],
      [`${node} < /dev/null`, none],
      [`true | ${node}`, none],
    ] as const) {
      const { ended } = yield* start("sh", ["-c", command], "ignore")
      assert.deepStrictEqual(yield* Effect.promise(() => ended), { status: 0, stdout: expected }, command)
    }
  })

  test("does not keep the process alive once nobody waits for it", function* () {
    const { child, ended } = yield* start(process.execPath, ["--no-warnings", script, "giveUp"], "pipe")
    assert.deepStrictEqual(yield* Effect.promise(() => ended), { status: 0, stdout: "waiting\n" })
    assert.isFalse(child.stdin?.writableEnded)
  })
})

/**
 * Writes a dataset, and dies by SIGKILL where it is told to:
 * `node crashingWrite.ts DIRECTORY ROWS before|after N` kills it before or after its Nth rename.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import { pair } from "./pairs.ts"

const [directory = "", rows, moment, n] = process.argv.slice(2)

let renames = 0
const dieAt = (now: string) =>
  Effect.sync(() => {
    if (moment === now && renames === Number(n)) process.kill(process.pid, "SIGKILL")
  })

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const rename: FileSystem.FileSystem["rename"] = (from, to) =>
    Effect.suspend(() => {
      renames++
      return dieAt("before").pipe(Effect.andThen(fs.rename(from, to)), Effect.andThen(dieAt("after")))
    })
  const pairs = Stream.range(0, Number(rows) - 1).pipe(Stream.map((i) => pair(i)))
  yield* Effect.provideService(Dataset.write(pairs, { directory }), FileSystem.FileSystem, { ...fs, rename })
})

await Effect.runPromise(Effect.provide(program, NodeServices.layer))

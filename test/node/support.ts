/**
 * A script of `fixtures/` in a process of its own, and a folder of one's own.
 */
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Option, Path, Stream } from "effect"
import { ChildProcess } from "effect/process"

export const layer = NodeServices.layer

/** A path in a new folder that goes away with the scope. */
export const temporaryPath = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fs.makeTempDirectoryScoped({ prefix: "prefstream-" }), name)
})

/** Where a script of `fixtures/` stands. */
export const fixture = (script: string): string => fileURLToPath(new URL(`./fixtures/${script}`, import.meta.url))

/** Starts the script and waits for the first line that it prints. `kill` is kill -9, and waits for the end. */
export const start = Effect.fnUntraced(function* (script: string, ...args: ReadonlyArray<string>) {
  const process_ = yield* ChildProcess.make(process.execPath, ["--no-warnings", fixture(script), ...args], {
    stdin: "ignore",
    stderr: "inherit",
  })
  const firstLine = yield* process_.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
  return {
    pid: process_.pid,
    firstLine: Option.getOrThrow(firstLine),
    kill: process_.kill({ killSignal: "SIGKILL" }),
  }
})

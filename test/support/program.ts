/**
 * prefstream as a process of its own, as a user starts it. It is one file (see `built.ts`): where a
 * pipeline file imports the sources, use `runSources` of `process.ts` instead.
 */
import { Effect } from "effect"
import { bundle } from "./built.ts"
import { type Ended, type Running, root, spawned } from "./process.ts"

/** prefstream, as a file that Node runs. */
export const program = await bundle("prefstream", "src/cli/Process.ts")

/** The words of a command line that starts it. */
export const prefstream = [process.execPath, program]

/** Starts `prefstream ARGS`. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Running => {
  const [node = "", ...words] = prefstream
  return spawned(node, [...words, ...args], { cwd, env })
}

export const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Promise<Ended> =>
  start(args, env, cwd).ended

/** A process that is ended with the test's scope if it has not ended by itself. */
export const scoped = (spawn: () => Running) =>
  Effect.acquireRelease(Effect.sync(spawn), ({ child, ended }) =>
    Effect.promise(() => {
      child.kill("SIGKILL")
      return ended
    }),
  )

/** `prefstream ARGS` for as long as the test's scope. */
export const started = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root) =>
  scoped(() => start(args, env, cwd))

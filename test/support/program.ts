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

/** `prefstream serve` on a free port; the environment that leads to it. */
export const served = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  token = "token-of-a-test",
  env: Record<string, string> = {},
) {
  const service = yield* started(["serve", "--port", "0", ...args], { ...env, PREFSTREAM_TOKEN: token })
  const said = yield* Effect.promise(() => service.says(/PREFSTREAM_BASE_URL=\S+\n/))
  const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(said) ?? []
  return { service, env: { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token } }
})

/** prefstream as a process of its own, as a user starts it. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

export const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))
export const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves with stdout as soon as it matches. */
  readonly says: (pattern: RegExp) => Promise<string>
  /** The same of stderr. */
  readonly talks: (pattern: RegExp) => Promise<string>
}

export interface Surroundings {
  readonly env?: Record<string, string>
  readonly cwd?: string
}

/** Starts a program with none of this process's own settings. */
export const spawned = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd = root, env = {} }: Surroundings = {},
): Running => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PREFSTREAM_"))
  const child = spawn(command, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, "close").then(([status, signal]): Ended => ({ status, signal, stdout, stderr }))
  const matching = async (stream: Readable, said: () => string, pattern: RegExp) => {
    while (!pattern.test(said())) {
      const gone = await Promise.race([once(stream, "data").then(() => false), ended.then(() => true)])
      if (gone && !pattern.test(said())) throw new Error(`ended without saying ${pattern}: ${stdout}${stderr}`)
    }
    return said()
  }
  return {
    child,
    ended,
    says: (pattern) => matching(child.stdout, () => stdout, pattern),
    talks: (pattern) => matching(child.stderr, () => stderr, pattern),
  }
}

/** Waits until something can be seen; fails where it has not come in a minute, so that no loop outlives its test. */
export const until = async (what: string, isSo: () => boolean) => {
  const deadline = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited a minute for: ${what}`)
    await setImmediate()
  }
}

/** What Node is told to run prefstream from its sources. */
export const fromSources = ["--conditions=prefstream-source"]

/** Starts `prefstream ARGS`. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Running =>
  spawned(process.execPath, [...fromSources, bin, ...args], { cwd, env })

export const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Promise<Ended> =>
  start(args, env, cwd).ended

/** The same, ended with the test's scope if it has not ended by itself. */
export const started = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root) =>
  Effect.acquireRelease(
    Effect.sync(() => start(args, env, cwd)),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      }),
  )

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

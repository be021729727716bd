/** Processes of their own, and what they say. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The sample data: 72 items, with gold answers. */
export const sample = `${root}data/sample.jsonl`

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

/**
 * Waits until something can be seen, which is looked at each so many milliseconds; fails where it has not come in three
 * minutes, so that no loop outlives its test.
 */
export const until = async (what: string, isSo: () => boolean, pause = 10) => {
  const deadline = performance.now() + 180_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited three minutes for: ${what}`)
    await setTimeout(pause)
  }
}

/** Starts a program that imports prefstream's sources, as pipeline files do. */
export const startSources = (args: ReadonlyArray<string>, surroundings: Surroundings = {}): Running =>
  spawned(process.execPath, ["--conditions=prefstream-source", ...args], surroundings)

/** The same, to its end. */
export const runSources = (args: ReadonlyArray<string>, surroundings: Surroundings = {}): Promise<Ended> =>
  startSources(args, surroundings).ended

/** Of `prefstream`, from the sources. */
export const bin = `${root}src/bin.ts`

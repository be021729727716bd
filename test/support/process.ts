/** prefstream as a process of its own, as a user starts it. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))
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
}

/** Starts `prefstream ARGS`, with none of this process's own settings. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}): Running => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PREFSTREAM_"))
  const child = spawn(process.execPath, ["--conditions=prefstream-source", bin, ...args], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, "close").then(([status, signal]): Ended => ({ status, signal, stdout, stderr }))
  const says = async (pattern: RegExp) => {
    while (!pattern.test(stdout)) {
      const gone = await Promise.race([once(child.stdout, "data").then(() => false), ended.then(() => true)])
      if (gone && !pattern.test(stdout)) throw new Error(`ended without saying ${pattern}: ${stdout}${stderr}`)
    }
    return stdout
  }
  return { child, ended, says }
}

export const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}): Promise<Ended> =>
  start(args, env).ended

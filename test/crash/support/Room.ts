/** A folder for the jobs of a test file, and its two lanes: as many processes at once as there are processors. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { program } from "../../support/program.ts"
import { type Job, stopAll } from "./Job.ts"

export interface Room {
  readonly folder: string
  /** A new job; a copy of another's folder, where one is given. */
  readonly job: (name: string, env: Record<string, string>, like?: Job) => Job
  readonly inTurn: <A>(use: () => Promise<A>) => Promise<A>
  readonly remove: () => void
}

/** As it can stand in a path, and in a header. */
export const plain = (name: string): string => name.replaceAll(/\W+/g, "-")

export const make = (): Room => {
  const folder = mkdtempSync(join(tmpdir(), "prefstream-crash-"))
  const waiting: Array<() => void> = []
  let free = 2
  return {
    folder,
    job: (name, env, like) => {
      const job = {
        program,
        // All folders have one name, which is part of the tasks' group.
        folder: join(folder, plain(name), "job"),
        // More completions than the service takes: refusals are among what a job is killed at.
        env: { PREFSTREAM_MAX_COMPLETIONS: "64", ...env },
      }
      if (like === undefined) mkdirSync(job.folder, { recursive: true })
      else cpSync(like.folder, job.folder, { recursive: true })
      return job
    },
    inTurn: async (use) => {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await use()
      } finally {
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
    remove: () => {
      stopAll()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

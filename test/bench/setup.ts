/** What benchmarks begin with: numbers of the command line, a folder that goes with the process, files of lines, a service. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The numbers of the command line, each with its default. */
export const numbers = <const A extends ReadonlyArray<number>>(...usual: A) =>
  usual.map((number, i) => Number(process.argv[i + 2] ?? number)) as { readonly [K in keyof A]: number }

/** A file by its place beside this one. */
export const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** A folder that is removed when the process ends. */
export const scratchFolder = (parent = tmpdir()) => {
  const folder = mkdtempSync(join(parent, "prefstream-bench-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file of so many lines, of which none is kept in memory. */
export const writeLines = async (file: string, count: number, lineOf: (i: number) => string) => {
  const out = createWriteStream(file)
  for (let i = 0; i < count; i++) if (!out.write(`${lineOf(i)}\n`)) await once(out, "drain")
  out.end()
  await once(out, "finish")
}

/** A linear congruential generator (Numerical Recipes' constants), so that the same seed gives the same numbers, below 2³². */
export const congruential = (seed: number) => {
  let state = seed
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0)
}

/** durabilityService.ts over so many tasks, for as long as this process, unless it is ended before. */
export const serveItems = async (tasks: number, prompts: number, items = "./durabilityItems.ts") => {
  const args = [path("durabilityService.ts"), String(tasks), String(prompts), items]
  const service = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  process.on("exit", () => service.kill())
  const [address] = (await once(service.stdout, "data")) as [Buffer]
  return { service, url: address.toString().trim() }
}

/** The middle one of an odd number of values, the upper of the middle two of an even one. */
export const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

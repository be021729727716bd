/** An empty project with the package in it, as npm packs and installs it; removed when the process ends. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export const { devDependencies, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, unknown>>
}

const scratch = mkdtempSync(join(tmpdir(), "prefstream-package-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))

export const npm = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

// Of `dist` as it stands.
const [packed = ""] = npm(root, "pack", "--ignore-scripts", "--pack-destination", scratch).trim().split("\n").slice(-1)

/** The folder of a project with prefstream, Effect, and these packages. */
export const make = (name: string, ...packages: ReadonlyArray<string>): string => {
  const folder = join(scratch, name)
  mkdirSync(folder)
  const project = { name: "empty", version: "1.0.0", private: true, type: "module" }
  writeFileSync(join(folder, "package.json"), JSON.stringify(project))
  npm(folder, "install", join(scratch, packed), `effect@${devDependencies["effect"]}`, ...packages)
  return folder
}

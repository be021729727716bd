/**
 * What the tests build, in `.cache/tests`: `dist` may change, or be gone, while they run. What was
 * built of the same sources is used again.
 *
 * Every run builds the pages and the report's template (`globalSetup` of vitest.config.ts), of
 * which `#built/…` in package.json gives the place; a program is built by the first test that needs it.
 */
import { createHash } from "node:crypto"
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const cache = `${root}.cache/tests`
const dayMillis = 86_400_000

const digest = (patterns: ReadonlyArray<string>) => {
  const hash = createHash("sha256")
  const files = globSync([...patterns, "package-lock.json", "test/support/built.ts"], { cwd: root })
  for (const file of files.toSorted()) {
    if (statSync(root + file).isFile()) hash.update(`${file}\0`).update(readFileSync(root + file))
  }
  return hash.digest("hex").slice(0, 16)
}

/** The folder that `build` has filled from these sources, now or in an earlier run. */
export const made = async (name: string, sources: ReadonlyArray<string>, build: (folder: string) => Promise<void>) => {
  const place = `${cache}/${name}-${digest(sources)}`
  if (existsSync(place)) return place
  mkdirSync(cache, { recursive: true })
  for (const old of globSync(`${cache}/${name}-*`)) {
    if (Date.now() - statSync(old).mtimeMs > dayMillis) rmSync(old, { recursive: true, force: true })
  }
  const folder = mkdtempSync(`${cache}/unfinished-`)
  await build(folder)
  // Another process may have been quicker.
  if (existsSync(place)) rmSync(folder, { recursive: true })
  else renameSync(folder, place)
  return place
}

/** The pages of the service and the report's template. */
export const setup = async () => {
  const sources = ["vite.config.ts", "src/service/pages/**", "src/dataset/report/**"]
  const place = await made("pages", sources, async (outDir) => {
    const { build } = await import("vite")
    await build({ logLevel: "error", build: { outDir: `${outDir}/pages` } })
    await build({ logLevel: "error", mode: "report", build: { outDir } })
  })
  const link = `${mkdtempSync(`${cache}/unfinished-`)}/built`
  symlinkSync(place, link)
  renameSync(link, `${cache}/built`)
  rmSync(new URL(".", `file://${link}`), { recursive: true })
}

/** A module of the sources or a fixture with all that it imports, bundled as the package's command line is. */
export const bundle = async (name: string, entry: string) => {
  const place = await made(name, ["vite.config.ts", "src/**/*.ts", "test/support/*.ts", entry], async (outDir) => {
    const { build, mergeConfig } = await import("vite")
    const { bundled } = await import("../../vite.config.ts")
    const config = bundled({ [name]: root + entry })
    await build(mergeConfig(config, { configFile: false, logLevel: "error", build: { outDir } }))
  })
  return `${place}/${name}.js`
}

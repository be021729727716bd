/**
 * What `import "prefstream"` and each of its subpaths load, in a process of its own.
 *
 * Counts modules, not time: a room, a library or a file that a subpath does not need is named.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const root = new URL("../../", import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { exports: object }
const subpaths = Object.keys(exports).filter((name) => !name.endsWith(".json"))

/** Rooms of `src` and packages, each once. */
const loadedBy = (subpath: string): ReadonlySet<string> => {
  const program = `import { registerHooks } from "node:module"
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    await import(${JSON.stringify(subpath.replace(".", "prefstream"))})
    console.log(JSON.stringify(urls))`
  const output = execFileSync(
    process.execPath,
    ["--conditions=prefstream-source", "--input-type=module", "--eval", program],
    { cwd: root, encoding: "utf8" },
  )
  const urls = JSON.parse(output) as ReadonlyArray<string>
  return new Set(
    urls.map((url) => {
      const [, name] =
        /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url) ?? /\/src\/([^/]+)/.exec(url) ?? []
      return name ?? url
    }),
  )
}

const never = ["redis", "@redis/client", "@effect/sql-pg", "pg", "@aws-sdk/client-s3", "eld", "cli", "bin.ts"]
const neverIn: { readonly [subpath: string]: ReadonlyArray<string> } = {
  ".": [],
  "./source": ["task", "pair", "dataset", "pipeline", "service", "hyparquet-writer", "yaml", "ws"],
  "./tasks": ["source", "pair", "dataset", "pipeline", "service", "hyparquet", "hyparquet-writer", "yaml"],
  "./pairs": ["source", "task", "dataset", "pipeline", "service", "sql", "api", "hyparquet", "@effect/platform-node"],
  "./dataset": ["source", "task", "pair", "pipeline", "service", "sql", "api", "@effect/platform-node"],
  "./trainer-formats": ["source", "task", "pair", "pipeline", "service", "sql", "api", "hyparquet-writer", "yaml"],
  "./pipeline": ["service"],
  "./service": ["source", "task", "pair", "dataset", "pipeline", "hyparquet", "hyparquet-writer", "yaml"],
}

describe("subpath exports", () => {
  it("each has its line here", () => {
    assert.deepStrictEqual(Object.keys(neverIn), subpaths)
  })

  it.each(subpaths)("%s loads no room and no library that it does not need", (subpath) => {
    const loaded = loadedBy(subpath)
    assert.isTrue(loaded.has("effect"))
    assert.deepStrictEqual(
      [...never, ...(neverIn[subpath] ?? [])].filter((name) => loaded.has(name)),
      [],
    )
  })
})

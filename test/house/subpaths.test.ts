/**
 * What `import "prefstream"`, each of its subpaths and each command load, in a process of its own.
 *
 * Counts modules, not time: a room, a library or a file that a subpath does not need is named.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const root = new URL("../../", import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { exports: object }
const subpaths = Object.keys(exports).filter((name) => !name.endsWith(".json"))

/** Writes the addresses of all modules to descriptor 3 in the end. */
const watching = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module"
  import { writeSync } from "node:fs"
  const urls = []
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
  process.on("exit", () => writeSync(3, JSON.stringify(urls)))`)}`

/** Rooms of `src` and packages that Node loads with these words, each once. */
const loadedBy = (...words: ReadonlyArray<string>): ReadonlySet<string> => {
  const { output } = spawnSync(process.execPath, ["--conditions=prefstream-source", "--import", watching, ...words], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  })
  const urls = JSON.parse(output[3]!) as ReadonlyArray<string>
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
  "./source": ["task", "pair", "dataset", "pipeline", "service", "hyparquet", "hyparquet-writer", "yaml", "ws"],
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
    const program = `import ${JSON.stringify(subpath.replace(".", "prefstream"))}`
    const loaded = loadedBy("--input-type=module", "--eval", program)
    assert.isTrue(loaded.has("effect"))
    assert.deepStrictEqual(
      [...never, ...(neverIn[subpath] ?? [])].filter((name) => loaded.has(name)),
      [],
    )
  })
})

const rooms = ["source", "task", "pair", "dataset", "service"]
const neverBy: ReadonlyArray<readonly [words: string, ...never: ReadonlyArray<string>]> = [
  ["--version", "effect", ...rooms],
  ["--help", "undici", "node:http", ...rooms],
  ["status --dir nowhere", "undici", "node:http", "hyparquet", "yaml", "eld", "source", "pair", "dataset", "service"],
  ["export --dir nowhere", "undici", "node:http", "eld"],
  ["submit nowhere.jsonl --base-url http://localhost/v1 --token t", "ws", "eld"],
]

describe("commands", () => {
  it.each(neverBy)("%s loads no room and no library that it does not need", (words, ...never) => {
    const loaded = loadedBy("src/bin.ts", ...words.split(" "))
    assert.isTrue(loaded.has("bin.ts"))
    assert.deepStrictEqual(
      never.filter((name) => loaded.has(name)),
      [],
    )
  })
})

/**
 * What `import "prefstream"`, each of its subpaths and each command load.
 *
 * Counts modules, not time: a folder, a library or a file that a subpath does not need is named.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, beforeAll, describe, it } from "@effect/vitest"

const root = new URL("../../", import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { exports: object }
const subpaths = Object.keys(exports).filter((name) => !name.endsWith(".json"))

interface Loading {
  /** The addresses of all modules. */
  readonly urls: ReadonlyArray<string>
  /** Of each module, what it imports, by the words of the import. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Writes what was loaded to descriptor 3 in the end. */
const watching = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module"
  import { writeSync } from "node:fs"
  const urls = []
  const imports = {}
  registerHooks({
    load: (url, context, next) => (urls.push(url), next(url, context)),
    resolve: (words, context, next) => {
      const found = next(words, context)
      const importer = context.parentURL ?? ""
      imports[importer] ??= {}
      imports[importer][words] = found.url
      return found
    },
  })
  process.on("exit", () => {
    const bytes = Buffer.from(JSON.stringify({ urls, imports }))
    for (let at = 0; at < bytes.length;) at += writeSync(3, bytes, at)
  })`)}`

const load = (words: ReadonlyArray<string>, env: Record<string, string> = {}): Loading => {
  const { output } = spawnSync(process.execPath, ["--conditions=prefstream-source", "--import", watching, ...words], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  })
  return JSON.parse(output[3]!) as Loading
}

/** Folders of `src` and packages that the modules belong to, each once. */
const ownersOf = (urls: Iterable<string>): ReadonlySet<string> =>
  new Set(
    Array.from(urls, (url) => {
      const [, name] =
        /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url) ?? /\/src\/([^/]+)/.exec(url) ?? []
      return name ?? url
    }),
  )

/** One process imports all subpaths: what each of them loads are the modules that are reached from it. */
const loadedBySubpath = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const program = subpaths.map((subpath) => `import ${JSON.stringify(subpath.replace(".", "prefstream"))}`)
  const { imports, urls } = load(["--input-type=module", "--eval", program.join("\n")])
  const loaded = new Set(urls)
  return new Map(
    subpaths.map((subpath) => {
      const words = subpath.replace(".", "prefstream")
      const entry = Object.values(imports).find((importer) => words in importer)?.[words]
      const reached = new Set(entry === undefined ? [] : [entry])
      for (const url of reached) {
        for (const next of Object.values(imports[url] ?? {})) if (loaded.has(next)) reached.add(next)
      }
      return [subpath, ownersOf(reached)]
    }),
  )
}

const never = ["redis", "@redis/client", "@effect/sql-pg", "pg", "@aws-sdk/client-s3", "eld", "cli", "bin.ts"]
const neverIn: { readonly [subpath: string]: ReadonlyArray<string> } = {
  ".": [],
  "./source": ["task", "pair", "dataset", "pipeline", "service", "hyparquet", "hyparquet-writer", "yaml", "ws"],
  "./tasks": ["source", "pair", "dataset", "pipeline", "service", "hyparquet", "hyparquet-writer", "yaml"],
  "./webhooks": [
    "source",
    "pair",
    "dataset",
    "pipeline",
    "service",
    "sql",
    "domain",
    "node",
    "@effect/platform-node",
    "yaml",
  ],
  "./pairs": ["source", "task", "dataset", "pipeline", "service", "sql", "api", "hyparquet", "@effect/platform-node"],
  "./dataset": ["source", "task", "pair", "pipeline", "service", "sql", "api", "@effect/platform-node"],
  "./trainer-formats": ["source", "task", "pair", "pipeline", "service", "sql", "api", "hyparquet-writer", "yaml"],
  "./pipeline": ["service"],
  "./job": ["service", "hyparquet", "hyparquet-writer", "undici", "node:http"],
  "./worker": ["service"],
  "./service": ["source", "task", "pair", "dataset", "pipeline", "hyparquet", "hyparquet-writer"],
  "./promises": ["service", "ipaddr.js"],
  "./testing": ["pair", "dataset", "pipeline", "service", "hyparquet", "hyparquet-writer"],
}

describe("subpath exports", () => {
  let loadedBy: ReadonlyMap<string, ReadonlySet<string>>
  beforeAll(() => {
    loadedBy = loadedBySubpath()
  })

  it("each has its line here", () => {
    assert.deepStrictEqual(Object.keys(neverIn), subpaths)
  })

  it.each(subpaths)("%s loads no folder and no library that it does not need", (subpath) => {
    const loaded = loadedBy.get(subpath) ?? new Set()
    assert.isTrue(loaded.has("effect"))
    assert.deepStrictEqual(
      [...never, ...(neverIn[subpath] ?? [])].filter((name) => loaded.has(name)),
      [],
    )
  })
})

const folders = ["source", "task", "pair", "dataset", "service"]
const neverBy: ReadonlyArray<readonly [words: string, ...never: ReadonlyArray<string>]> = [
  ["--version", "effect", ...folders],
  ["--help", "undici", "node:http", ...folders],
  ["status --dir nowhere", "undici", "node:http", "hyparquet", "yaml", "eld", "source", "pair", "dataset", "service"],
  ["export --dir nowhere", "undici", "node:http", "eld"],
  ["submit nowhere.jsonl --base-url http://localhost/v1", "ws", "eld"],
]

describe("commands", () => {
  it("nothing is loaded to export telemetry, unless a variable names a collector", () => {
    const exporters = (env: Record<string, string>) =>
      load(["src/bin.ts", "export", "--dir", "nowhere"], env).urls.filter((url) => url.includes("/observability/"))
    assert.deepStrictEqual(exporters({}), [])
    assert.isNotEmpty(exporters({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" }))
  })

  it.each(neverBy)("%s loads no folder and no library that it does not need", (words, ...never) => {
    const loaded = ownersOf(load(["src/bin.ts", ...words.split(" ")]).urls)
    assert.isTrue(loaded.has("bin.ts"))
    assert.deepStrictEqual(
      never.filter((name) => loaded.has(name)),
      [],
    )
  })
})

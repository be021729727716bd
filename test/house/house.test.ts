/**
 * The rules of the house that neither the linter nor the compiler can express.
 *
 * Reads the text of the files that git tracks or would track; it parses nothing,
 * so each rule is a pattern over lines. A failure lists every offending place.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const root = new URL("../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), "utf8")

const files = existsSync(new URL(".git", root))
  ? execFileSync("git", ["-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"], {
      cwd: root,
      encoding: "utf8",
    })
      .split("\n")
      .filter((path) => path !== "" && existsSync(new URL(path, root)))
  : []
const sources = files.filter((path) => /^src\/.*\.tsx?$/.test(path)).map((path) => ({ path, text: read(path) }))

/** `path:line: text` of each line that `offends`. */
const places = (
  of: ReadonlyArray<{ readonly path: string; readonly text: string }>,
  offends: (line: string, before: string) => boolean,
): ReadonlyArray<string> =>
  of.flatMap(({ path, text }) => {
    const lines = text.split("\n")
    return lines.flatMap((line, i) => (offends(line, lines[i - 1] ?? "") ? [`${path}:${i + 1}: ${line.trim()}`] : []))
  })

describe.skipIf(files.length === 0)("the house (needs a git checkout)", () => {
  it("every source file opens with a doc comment", () => {
    const bare = sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text)).map(({ path }) => path)
    assert.deepStrictEqual(bare, [])
  })

  it("every file in src/node says first that it is an adapter", () => {
    const suppressed = sources
      .filter(({ path, text }) => path.startsWith("src/node/") && !/^\/\*\*\s+(\* )?Adapter: /.test(text))
      .map(({ path }) => path)
    assert.deepStrictEqual(suppressed, [])
  })

  it("only the folders' public modules merely pass on exports", () => {
    const faces = ["src/index.ts", "src/source/Source.ts", "src/task/Tasks.ts", "src/pair/Pairs.ts"]
    const passedOn = /^(import|export)\s[^"]*?\sfrom "[^"]*"$/gm
    const barrels = sources
      .filter(({ path }) => !faces.includes(path))
      .filter(({ text }) => {
        const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "")
        return /^export \* from/m.test(code) || code.replaceAll(passedOn, "").trim() === ""
      })
    assert.deepStrictEqual(
      barrels.map(({ path }) => path),
      [],
    )
  })

  it("a try statement outside src/node has a comment above it that says why", () => {
    const unexplained = places(
      sources.filter(({ path }) => !path.startsWith("src/node/")),
      (line, before) => /(^|[\s{;])try \{/.test(line) && !/^\s*(\/\/|\*)/.test(line) && !/^\s*(\/\/|\*\/)/.test(before),
    )
    assert.deepStrictEqual(unexplained, [])
  })

  it("a message of the library names options, which the command line prints as flags", () => {
    const others = /pg_dump --format|--long or --ultra|--data\.\w+|export-votes --pseudonyms/
    const library = sources.filter(({ path }) => !/^src\/(cli|service)\//.test(path))
    assert.deepStrictEqual(
      places(
        library,
        (line) => !/^\s*(\/?\*|\/\/)/.test(line) && /["'`].*(?<!var)[ (]--[a-z]/.test(line) && !others.test(line),
      ),
      [],
    )
  })

  it("service ids are prefstream/folder/Name, each used once", () => {
    const ids = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/class (\w+) extends Context\.Service<[\s\S]*?>\(\)\(\s*"([^"]*)"/g)].map(([, name, id]) => ({
        id,
        expected: `prefstream/${path.split("/")[1]}/${name}`,
      })),
    )
    assert.isNotEmpty(ids)
    assert.deepStrictEqual(
      ids.map(({ id }) => id),
      ids.map(({ expected }) => expected),
    )
    assert.strictEqual(new Set(ids.map(({ id }) => id)).size, ids.length)
  })

  it("no test is left out without a condition", () => {
    const tests = files.filter((path) => /^test\/.*\.ts$/.test(path)).map((path) => ({ path, text: read(path) }))
    const left = places(tests, (line) => /\b(it|test|describe)(\.\w+)*\.(only|skip|todo|fails)\b/.test(line))
    assert.deepStrictEqual(left, [])
  })

  it("no text names a place of one machine", () => {
    // Spelled in pieces, so that this file does not name one.
    const machines = ["home/\\w", "root/", "Users/\\w", "work/", "mnt/", "tmp/\\w"].join("|")
    const local = new RegExp(`(^|[\\s"'\`(=:])(file://)?/(${machines})`)
    const texts = files
      .filter((path) => !/^data\/|\/fixtures\/|\.(parquet|gz|zst|zip|png)$/.test(path))
      .map((path) => ({ path, text: read(path) }))
    assert.deepStrictEqual(
      places(texts, (line) => local.test(line)),
      [],
    )
  })

  it("the top level holds what it is to hold", () => {
    const folders = new Set(files.flatMap((path) => (path.includes("/") ? [path.slice(0, path.indexOf("/"))] : [])))
    assert.deepStrictEqual([...folders].toSorted(), [".ci", ".github", "data", "docs", "pipelines", "src", "test"])
    const known =
      /^(\..+|CHANGELOG\.md|CONTRIBUTING\.md|Dockerfile|LICENSE|README\.md|compose\.yaml|knip\.json|package(-lock)?\.json|tsconfig(\.\w+)?\.json|vite(st)?\.config\.ts)$/
    assert.deepStrictEqual(
      files.filter((path) => !path.includes("/") && !known.test(path)),
      [],
    )
  })

  it("the lock file names no registry", () => {
    assert.notInclude(read("package-lock.json"), '"resolved": "http')
  })
})

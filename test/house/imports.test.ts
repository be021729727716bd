/**
 * Who imports whom: each folder of `mayImport` only what its line in `mayImport` names, and no folder, at any
 * depth, one that imports it back.
 *
 * Type-only and lazy imports count. Imports are found by a pattern over the text, not by a parser:
 * one that is computed at run time is not seen.
 */
import { globSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { assert, describe, it } from "@effect/vitest"

/** Folders in their order, and what each may import besides itself and `effect`: other folders, files of them, packages. */
const mayImport: { readonly [folder: string]: string } = {
  domain: "",
  io: "domain",
  node: "node:* @effect/platform-node @effect/sql-pg package.json",
  sql: "node",
  telemetry: "node",
  api: "domain io yaml",
  source: "domain io node hyparquet yaml @aws-sdk/client-s3 @huggingface/hub google-auth-library",
  task: "domain io node sql telemetry api",
  pair: "domain io node eld",
  "dataset/report":
    "domain/QualityReport.ts domain/Distribution.ts domain/Leaderboard.ts domain/RubricReport.ts domain/Evaluation.ts domain/Audit.ts service/pages/shared preact @observablehq/plot",
  dataset: "domain io node hyparquet hyparquet-writer yaml @huggingface/hub",
  pipeline: "domain io node telemetry api source task pair dataset",
  "service/pages": "service/pageApi preact markdown-it dompurify highlight.js diff katex",
  service: "domain io node sql telemetry api source ipaddr.js",
  testing: "domain io node api source task @effect/platform-node",
  cli: "domain io node sql telemetry api source task pair dataset pipeline service node:* @effect/platform-node yaml",
  "bin.ts": "cli node node:* #cli",
  "promises.ts": "domain io node api source dataset pipeline service @effect/platform-node",
  "index.ts": "domain api source task pair dataset pipeline service",
}

interface Import {
  /** Relative to `src`. */
  readonly from: string
  /** A file relative to `src`, or a package. */
  readonly to: string
  readonly isTypeOnly: boolean
}

const root = new URL("../../", import.meta.url)
const statement =
  /^(?:import|export)(\s+type)?\s(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)|new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/gm

const importsOf = (path: string): ReadonlyArray<Import> => {
  const text = readFileSync(new URL(`src/${path}`, root), "utf8").replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "")
  return [...text.matchAll(statement)].map(([, type, name, lazy, url]) => {
    const to = (name ?? lazy ?? url)!
    return {
      from: path,
      to: to.startsWith(".") ? posix.relative("", posix.join(posix.dirname(path), to)) : to,
      isTypeOnly: type !== undefined,
    }
  })
}

const imports = globSync("**/*.{ts,tsx}", { cwd: new URL("src/", root) })
  .map((path) => path.replaceAll("\\", "/"))
  .toSorted()
  .flatMap(importsOf)

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

const ownerOf = (path: string) =>
  Object.keys(mayImport)
    .filter((folder) => isWithin(path, folder))
    .reduce((a, b) => (b.length > a.length ? b : a), "")

describe("imports", () => {
  it("each folder imports only what its line names", () => {
    const isAllowed = ({ from, to }: Import) => {
      const owner = ownerOf(from)
      if (/^(\.\.\/)?effect(\/|$)/.test(to) || isWithin(to, owner) || to.endsWith(".css")) return true
      return mayImport[owner]
        ?.split(" ")
        .some((name) =>
          name.endsWith("*") ? to.startsWith(name.slice(0, -1)) : isWithin(to.replace(/^\.\.\//, ""), name),
        )
    }
    assert.deepStrictEqual(
      imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} imports ${to}`),
      [],
    )
  })

  it("what runs in a browser takes only types from the other folders", () => {
    const taken = imports.filter(({ from, isTypeOnly, to }) => {
      const owner = ownerOf(from)
      return (
        ["service/pages", "dataset/report"].includes(owner) &&
        !isTypeOnly &&
        to !== "service/pageApi/PageConstants.ts" &&
        !to.startsWith("service/pages/shared/") &&
        isWithin(to, ownerOf(to)) &&
        ownerOf(to) !== owner
      )
    })
    assert.deepStrictEqual(taken, [])
  })

  it("what runs in a thread does not load Effect, which would take each thread 20 MB and more", () => {
    const stages = [...new Set(imports.map(({ from }) => from))].filter((path) =>
      /(^|\/)(ThreadEntry|\w+Stage)\.ts$/.test(path),
    )
    assert.includeMembers(stages, ["node/ThreadEntry.ts", "pair/text/SignatureStage.ts"])
    const loaded = new Set(stages)
    const loading = imports.filter(({ isTypeOnly }) => !isTypeOnly)
    for (const path of loaded) for (const { from, to } of loading) if (from === path) loaded.add(to)
    assert.deepStrictEqual(
      [...loaded].filter((path) => /^(effect|@effect)(\/|$)/.test(path)),
      [],
    )
  })

  it("no folder imports one that imports it back", () => {
    const folders = new Set(
      imports.flatMap(({ from }) => from.split("/").map((_, i, parts) => parts.slice(0, i).join("/"))),
    )
    const cycles = [...folders].toSorted().flatMap((folder) => {
      // Below `folder`: each subfolder is a node, and so are the files directly in it together.
      const nodeOf = (path: string) => {
        if (folder !== "" && !isWithin(path, folder)) return undefined
        const rest = folder === "" ? path : path.slice(folder.length + 1)
        return rest.includes("/") ? posix.join(folder, rest.slice(0, rest.indexOf("/"))) : `${folder}/*`
      }
      const edges = imports.flatMap(({ from, to }) => {
        const [a, b] = [nodeOf(from), ownerOf(to) === "" ? undefined : nodeOf(to)]
        return a === undefined || b === undefined || a === b ? [] : [{ a, b, text: `${from} imports ${to}` }]
      })
      const reaches = (start: string, end: string, passed = new Set<string>()): boolean =>
        edges.some(({ a, b }) => {
          if (a !== start || passed.has(b)) return false
          return b === end || reaches(b, end, passed.add(b))
        })
      return edges.filter(({ a, b }) => reaches(b, a)).map(({ a, b, text }) => `${a} -> ${b}: ${text}`)
    })
    assert.deepStrictEqual(cycles, [])
  })

  it("a pipeline is a user's program, which imports prefstream by its public names, Node, and its neighbors", () => {
    const foreign = globSync("pipelines/**/*.ts", { cwd: root }).flatMap((path) =>
      [...readFileSync(new URL(path, root), "utf8").matchAll(statement)]
        .map(([, , name, lazy]) => name ?? lazy)
        .filter(
          (name) => !/^(prefstream|effect)(\/|$)|^@effect\/platform-node$|^node:|^\.\/[\w-]+\.ts$/.test(name ?? ""),
        )
        .map((name) => `${path} imports ${name}`),
    )
    assert.deepStrictEqual(foreign, [])
  })
})

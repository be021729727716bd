/**
 * Words that stop readers, as far as they can be counted: comments that begin as fragments, participles as names, and one
 * name for several exported types. The numbers may only fall.
 */
import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { child, isNode, nameOf, type Node, statementsOf } from "./syntax.ts"

const root = new URL("../../", import.meta.url)
const files = globSync("src/**/*.{ts,tsx}", { cwd: root }).map((path) => {
  const text = readFileSync(new URL(path, root), "utf8")
  return { path, text, statements: statementsOf(text, path.endsWith("x") ? "tsx" : "ts") }
})

/** The names that a pattern binds, and those that patterns within the node bind. */
const boundIn = (node: unknown, isPattern = false): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap((one) => boundIn(one, isPattern))
  if (!isNode(node)) return []
  if (isPattern && node.type === "Identifier") return [String(node["name"])]
  return Object.entries(node).flatMap(([member, value]) =>
    boundIn(
      value,
      (member === "id" && node.type === "VariableDeclarator") ||
        member === "params" ||
        (isPattern && ["argument", "elements", "left", "properties", "value"].includes(member)),
    ),
  )
}

const exportedTypes = (statements: ReadonlyArray<Node>): ReadonlyArray<string> =>
  statements.flatMap((node) => {
    const declaration = node.type === "ExportNamedDeclaration" ? child(node, "declaration") : undefined
    const isType = /^(TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/.test(declaration?.type ?? "")
    return isType ? [nameOf(child(declaration, "id"))] : []
  })

const fragment =
  /^[^\S\n]*(?:\/\*\*?(?:\n[^\S\n]*\*)?|(?<!^[^\S\n]*\/\/.*\n[^\S\n]*)\/\/)[^\S\n]+(What|Of|As|Nothing|Who|Whose)\b.*/gm
const participles = /^(found|given|known|said|asked|told|taken|kept|left|meant|seen)$/

describe("words in src", () => {
  it("few comments begin with What, Of, As, Nothing, Who or Whose", () => {
    const fragments = files.flatMap(({ path, text }) =>
      [...text.matchAll(fragment)].map(([line]) => `${path}: ${line.trim()}`),
    )
    assert.isAtMost(fragments.length, 0, fragments.join("\n"))
  })

  it("few variables and parameters are named by a participle", () => {
    const names = files.flatMap(({ path, statements }) =>
      boundIn(statements).flatMap((name) => (participles.test(name) ? [`${path}: ${name}`] : [])),
    )
    assert.isAtMost(names.length, 57, names.join("\n"))
  })

  it("few exported types have the name of another one", () => {
    const places = Map.groupBy(
      files.flatMap(({ path, statements }) => exportedTypes(statements).map((name) => ({ name, path }))),
      ({ name }) => name,
    )
    const repeated = [...places].filter(([, { length }]) => length > 1)
    assert.isAtMost(
      repeated.length,
      48,
      repeated.map(([name, all]) => `${name}: ${all.map(({ path }) => path).join(", ")}`).join("\n"),
    )
  })
})

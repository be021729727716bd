/** Each public name has a doc comment, found by following what the package's entry points pass on. */
import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"

const root = new URL("../../", import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly "prefstream-source": string }>>
}

const declaration = /^export (?:const|function|interface|class|type) (\w+)/gm
const passedOn = /^export (?:type )?(?:\{([^}]*)\}|\*(?: as \w+)?) from "(\.[^"]+)"/gm

const seen = new Set<string>()
/** All names of a module, or those that are named. */
const publicNames = (
  module: URL,
  named?: ReadonlySet<string>,
): ReadonlyArray<{ name: string; isDocumented: boolean }> => {
  const key = `${module.pathname} ${[...(named ?? [])].join()}`
  if (seen.has(key)) return []
  seen.add(key)
  const text = readFileSync(module, "utf8")
  const own = [...text.matchAll(declaration)].flatMap(({ 1: name = "", index }) => {
    if (named !== undefined && !named.has(name)) return []
    const before = text.slice(0, index)
    // A schema and its type have one name, and one comment.
    const isSecond = new RegExp(`^export const ${name}\\b`, "m").test(before)
    const isDocumented = isSecond || /\*\/\s*(\/\/ .*\s*)*$/.test(before)
    return [{ name: `${module.pathname.slice(root.pathname.length)}: ${name}`, isDocumented }]
  })
  const others = [...text.matchAll(passedOn)].flatMap(({ 1: names, 2: path = "" }) => {
    const original = (item: string) =>
      item
        .trim()
        .replace(/^type /, "")
        .split(" as ")[0]!
    return publicNames(new URL(path, module), names === undefined ? undefined : new Set(names.split(",").map(original)))
  })
  return [...own, ...others]
}

it("each public name has a doc comment", () => {
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [new URL(entry["prefstream-source"], root)],
  )
  const names = entries.flatMap((entry) => publicNames(entry))
  assert.isAbove(names.length, 200)
  assert.deepStrictEqual(
    names.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name),
    [],
  )
})

/**
 * Each public name has a doc comment, and so has each member of public options, services, errors and rows. Names are found
 * by following what the package's entry points pass on.
 */
import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { blocksOf, guides } from "./examples.ts"
import { child, nameOf, type Node, nodes, statementsOf } from "./syntax.ts"

const root = new URL("../../", import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly "prefstream-source": string }>>
}

/** These say it themselves. */
const selfEvident = new Set(["_tag", "message"])

/** Signatures and fields of an interface, a type, a schema or an error: those that stand in it, not those in its members. */
const membersOf = (declaration: Node): ReadonlyArray<Node> => {
  switch (declaration.type) {
    case "TSInterfaceDeclaration":
      return nodes(child(declaration, "body")?.["body"])
    case "TSTypeAliasDeclaration":
      return membersOf(child(declaration, "typeAnnotation")!)
    case "TSTypeLiteral":
      return nodes(declaration["members"])
    case "TSIntersectionType":
      return nodes(declaration["types"]).flatMap(membersOf)
    case "ClassDeclaration": {
      const own = nodes(child(declaration, "body")?.["body"])
      return [...fieldsOf(child(declaration, "superClass")), ...own.filter(({ override }) => override !== true)]
    }
    default:
      return fieldsOf(child(declaration, "init"))
  }
}

/** Of `Schema.TaggedError<…>()("Tag", { … })`, `Context.Service<Self, { … }>()("id")`, `Schema.Struct({ … }).check(…)`. */
const fieldsOf = (expression: Node | undefined): ReadonlyArray<Node> => {
  if (expression?.type !== "CallExpression") return []
  const callee = child(expression, "callee")
  const isSchema = /^(Struct|StructWithRest|TaggedError|TaggedClass|Service|Class)$/.test(calledName(callee))
  const shapes = nodes(child(expression, "typeArguments")?.["params"]).flatMap(membersOf)
  const fields = nodes(expression["arguments"]).filter(({ type }) => type === "ObjectExpression")
  const inner = callee?.type === "MemberExpression" ? child(callee, "object") : callee
  return [
    ...(isSchema ? [...shapes, ...fields.flatMap(({ properties }) => nodes(properties))] : []),
    ...fieldsOf(inner),
  ]
}

/** `TaggedError`, of whatever is called on it. */
const calledName = (callee: Node | undefined): string =>
  callee?.type === "MemberExpression"
    ? nameOf(child(callee, "property"))
    : callee?.type === "CallExpression"
      ? calledName(child(callee, "callee"))
      : ""

interface Named {
  readonly name: string
  readonly isDocumented: boolean
}

const seen = new Set<string>()
/** All names of a module with their members, or those that are named. */
const publicNames = (module: URL, named?: ReadonlySet<string>): ReadonlyArray<Named> => {
  const text = readFileSync(module, "utf8")
  const path = module.pathname.slice(root.pathname.length)
  const isDocumented = ({ start }: Pick<Node, "start">) => /\*\/\s*(\/\/ .*\s*)*$/.test(text.slice(0, start))
  /** The description of a schema is its comment. */
  const isDescribed = (member: Node) =>
    /\bdescribed\(\s*["'`]/.test(text.slice(member.start, child(member, "value")?.end))
  const documented = new Set<string>()

  const declared = (statement: Node): ReadonlyArray<Named> => {
    const declaration = child(statement, "declaration")!
    const declarations = declaration.type === "VariableDeclaration" ? nodes(declaration["declarations"]) : [declaration]
    return declarations.flatMap((each) => {
      const name = nameOf(child(each, "id"))
      const key = `${path} ${each.type} ${name}`
      if ((named !== undefined && !named.has(name)) || seen.has(key)) return []
      seen.add(key)
      const members = membersOf(each).flatMap((member): ReadonlyArray<Named> => {
        const own = nameOf(child(member, "key"))
        const isExempt = own === "" || selfEvident.has(own) || member["static"] === true
        return isExempt
          ? []
          : [{ name: `${path}: ${name}.${own}`, isDocumented: isDescribed(member) || isDocumented(member) }]
      })
      // A schema and its type have one name, and one comment.
      const isSecond = documented.has(name)
      documented.add(name)
      return [{ name: `${path}: ${name}`, isDocumented: isSecond || isDocumented(statement) }, ...members]
    })
  }

  return statementsOf(text, "ts").flatMap((statement) => {
    if (child(statement, "declaration") !== undefined) {
      return statement.type === "ExportNamedDeclaration" ? declared(statement) : []
    }
    const source = nameOf(child(statement, "source"))
    if (!statement.type.startsWith("Export") || !source.startsWith(".")) return []
    const next = new URL(source, module)
    if (statement.type === "ExportAllDeclaration") {
      return publicNames(next, child(statement, "exported") === undefined ? named : undefined)
    }
    const names = nodes(statement["specifiers"])
      .filter((each) => named === undefined || named.has(nameOf(child(each, "exported"))))
      .map((each) => nameOf(child(each, "local")))
    return names.length === 0 ? [] : publicNames(next, new Set(names))
  })
}

it("each public name and member has a doc comment", () => {
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [new URL(entry["prefstream-source"], root)],
  )
  const names = entries.flatMap((entry) => publicNames(entry))
  assert.isAbove(names.filter(({ name }) => !name.split(": ")[1]!.includes(".")).length, 200)
  assert.isAbove(names.length, 700)
  assert.deepStrictEqual(
    names.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name),
    [],
  )
})

it("the guides show the pipeline of the quickstart", () => {
  const quickstart = readFileSync(new URL("pipelines/quickstart.ts", root), "utf8")
  for (const guide of guides) assert.include(quickstart, blocksOf(guide)[0]!.trim(), guide)
})

/**
 * The API reference, one Markdown file for each entry point of the package, made from its declarations in `dist`.
 *
 *     node test/package/reference.ts            compares docs/api with the declarations, and fails if they differ
 *     node test/package/reference.ts --write    writes it
 *
 * Guarantees: each public name has its declaration once, in the entry point that exports it first; the others refer to
 * it. The order is that of the entry point, and private members are left out. It prints the number of public names.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { child, nameOf, type Node, nodes, statementsOf } from "../house/syntax.ts"

const root = new URL("../../", import.meta.url)
const folder = new URL("docs/api/", root)

interface Module {
  readonly url: URL
  readonly text: string
  readonly statements: ReadonlyArray<Node>
}

const modules = new Map<string, Module>()
const moduleOf = (url: URL): Module => {
  const text = modules.has(url.href) ? "" : readFileSync(url, "utf8")
  const module = modules.get(url.href) ?? { url, text, statements: statementsOf(text, "dts") }
  modules.set(url.href, module)
  return module
}

/** The module that a declaration file imports as `./File.ts`. */
const importedFrom = ({ url }: Module, source: string): Module =>
  moduleOf(new URL(source.replace(/\.ts$/, ".d.ts"), url))

/** The text of a comment as Markdown. Its `@param` lines become a list. */
const markdownOf = (comment = ""): string =>
  comment
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .replaceAll(/^@param (\S+) /gm, "- `$1`: ")
    .replaceAll(/(?<=^|\s)@returns /g, "Returns ")
    .replaceAll("data/README.md", "[data/README.md](../../data/README.md)")
    .trim()
const commentBefore = ({ text }: Module, { start }: Node): string =>
  markdownOf(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(text.slice(0, start))?.[1])
const headOf = ({ text }: Module): string => markdownOf(/^\/\*\*((?:(?!\*\/)[^])*)\*\//.exec(text)?.[1])

const isPrivate = (member: Node): boolean =>
  member["accessibility"] === "private" || child(member, "key")?.type === "PrivateIdentifier"

/** The text of a statement without private members, and without the files of imported types. */
const codeOf = ({ text }: Module, statement: Node): string => {
  const body = child(child(statement, "declaration"), "body")
  let code = ""
  let end = statement.start
  for (const member of nodes(body?.["body"]).filter(isPrivate)) {
    code += text.slice(end, member.start).replace(/(\/\*\*((?!\*\/)[^])*\*\/)?\s*$/, "")
    end = member.end
  }
  return (code + text.slice(end, statement.end))
    .replaceAll(/(?:typeof )?import\("[^"]+"\)\.(?:default\.)?/g, "")
    .replaceAll(/^(?:export )?(?:declare )?/gm, "")
}

const declaredNames = (declaration: Node): ReadonlyArray<string> =>
  declaration.type === "VariableDeclaration"
    ? nodes(declaration["declarations"]).map((each) => nameOf(child(each, "id")))
    : [nameOf(child(declaration, "id"))]

const importsOf = ({ statements }: Module): ReadonlyMap<string, readonly [source: string, name: string]> =>
  new Map(
    statements
      .filter(({ type }) => type === "ImportDeclaration")
      .flatMap((statement) =>
        nodes(statement["specifiers"]).map((each) => {
          const name = each.type === "ImportSpecifier" ? nameOf(child(each, "imported")) : "*"
          return [nameOf(child(each, "local")), [nameOf(child(statement, "source")), name] as const] as const
        }),
      ),
  )

/**
 * The declarations of interfaces, types, structs, and lists of names that are not public, but that a declaration needs:
 * of an interface what it extends, of others what they name.
 */
const privateBases = (module: Module, declaration: Node, seen = new Set([declaration])): ReadonlyArray<string> => {
  const extended = declaration.type === "TSInterfaceDeclaration" ? nodes(declaration["extends"]) : [declaration]
  const code = extended
    .map(({ end, start }) => module.text.slice(start, end))
    .join()
    .replaceAll(/"[^"]*"/g, "")
  const imports = importsOf(module)
  return [...new Set(code.match(/\b[A-Za-z_]\w*(\.\w+)?/g))].flatMap((reference) => {
    const [first = "", member] = reference.split(".")
    const [source, imported] = imports.get(first) ?? []
    if (source?.startsWith(".") === false) return []
    const target = source === undefined ? module : importedFrom(module, source)
    const name = source === undefined ? first : imported === "*" ? member : imported
    const statement = target.statements.find((each) => {
      const one = child(each, "declaration") ?? each
      const isType = one.type === "TSInterfaceDeclaration" || one.type === "TSTypeAliasDeclaration"
      const isValue =
        one.type === "VariableDeclaration" &&
        /^[\w\s]+: (Schema\.(?!Class)\w+<|readonly \[")/.test(target.text.slice(one.start, one.end))
      return (isType || isValue) && declaredNames(one).includes(name ?? "")
    })
    const base = child(statement, "declaration") ?? statement
    if (statement === undefined || base === undefined || listed.has(`${target.url.href} ${name}`) || seen.has(base))
      return []
    seen.add(base)
    const code = codeOf(target, statement)
    // Another file's type under the same name says nothing.
    const isSameName = /^type (\w+) = \w+\.\1;/.test(code)
    return [
      ...(isSameName ? [] : [code]),
      ...(base.type === "VariableDeclaration" ? [] : privateBases(target, base, seen)),
    ]
  })
}

interface Entry {
  readonly name: string
  /** The comment, as Markdown. */
  text: string
  readonly declarations: Array<string>
  /** The page and the name under which this declaration or namespace appears already. */
  readonly elsewhere?: string
}

/** The page and the name of each declaration that a page has, by file and local name; of each namespace, by file. */
const listed = new Map<string, string>()

/**
 * The public names of a module.
 *
 * @param prefix the namespaces before each name, such as `Curation.`
 * @param exportedAs the exported names by local name; undefined chooses all names of the module
 */
const entriesOf = (
  page: string,
  module: Module,
  prefix: string,
  exportedAs?: ReadonlyMap<string, string>,
): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  const imports = importsOf(module)
  const addNamespace = (exported: string, target: Module) => {
    const name = prefix + exported
    const place = `${page} ${name}`
    const first = listed.get(target.url.href) ?? place
    if (first === place) {
      listed.set(target.url.href, place)
      entries.push({ name, text: headOf(target), declarations: [] }, ...entriesOf(page, target, `${name}.`))
    } else entries.push({ name, text: "", declarations: [], elsewhere: first })
  }
  const exportedName = (local: string) => (exportedAs === undefined ? local : exportedAs.get(local))

  const addDeclaration = (statement: Node, declaration: Node) => {
    for (const local of declaredNames(declaration)) {
      const exported = exportedName(local)
      if (exported === undefined) continue
      const name = prefix + exported
      const key = `${module.url.href} ${local}`
      const place = `${page} ${name}`
      const first = listed.get(key) ?? place
      if (first !== place) {
        entries.push({ name, text: "", declarations: [], elsewhere: first })
        continue
      }
      listed.set(key, place)
      let entry = entries.find((entry) => entry.name === name)
      if (entry === undefined) entries.push((entry = { name, text: "", declarations: [] }))
      if (entry.text === "") entry.text = commentBefore(module, statement)
      // A class of a schema or a service extends a constant that is declared before it.
      const base = module.statements.find((each) =>
        each.type === "VariableDeclaration" ? declaredNames(each).includes(`${local}_base`) : false,
      )
      const alias = local === exported ? [] : [`// exported as ${exported}`]
      const isClass = declaration.type === "ClassDeclaration" && base !== undefined
      entry.declarations.push(
        ...alias,
        ...(isClass ? [codeOf(module, base)] : []),
        codeOf(module, statement),
        ...privateBases(module, declaration),
      )
    }
  }

  for (const statement of module.statements) {
    const declaration = child(statement, "declaration")
    const source = nameOf(child(statement, "source"))
    if (statement.type === "ExportNamedDeclaration" && declaration !== undefined) addDeclaration(statement, declaration)
    else if (statement.type === "ExportAllDeclaration" && source.startsWith(".")) {
      const target = importedFrom(module, source)
      const local = nameOf(child(statement, "exported"))
      const namespace = exportedName(local)
      if (local === "") entries.push(...entriesOf(page, target, prefix, exportedAs))
      else if (namespace !== undefined) addNamespace(namespace, target)
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const each of nodes(statement["specifiers"])) {
        const local = nameOf(child(each, "local"))
        const exported = exportedName(nameOf(child(each, "exported")))
        const [from, name] = source === "" ? (imports.get(local) ?? ["", ""]) : [source, local]
        if (exported === undefined || !from.startsWith(".")) continue
        const target = importedFrom(module, from)
        if (name === "*") addNamespace(exported, target)
        else entries.push(...entriesOf(page, target, prefix, new Map([[name, exported]])))
      }
    }
  }
  return entries
}

const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

const pages = new Map<string, string>()
let count = 0
// The main entry point has the others as namespaces, so it comes last and refers to them.
const main = "."
const entryPoints = [...Object.keys(exports).filter((subpath) => subpath !== main), main].flatMap((subpath) => {
  const target = exports[subpath]!
  if (typeof target === "string") return []
  const page = `${subpath === main ? "prefstream" : subpath.slice(2)}.md`
  return [{ page, title: subpath.replace(main, "prefstream"), module: moduleOf(new URL(target.types, root)) }]
})
// The first pass lists all names, so that the second knows which are public.
for (const { module, page, title } of entryPoints) {
  listed.set(module.url.href, `${page} ${title}`)
  entriesOf(page, module, "")
}
for (const { module, page, title } of entryPoints) {
  const entries = entriesOf(page, module, "")
  count += entries.filter(({ elsewhere }) => elsewhere === undefined).length
  const sections = entries.map(({ declarations, elsewhere, name, text }) => {
    const [place = "", other = ""] = elsewhere?.split(" ") ?? []
    return [
      `## ${name}`,
      ...(elsewhere === undefined ? [] : [`See [${other}](${place}#${other.toLowerCase().replaceAll(/[./]/g, "")}).`]),
      ...(text === "" ? [] : [text]),
      ...(declarations.length === 0 ? [] : [`\`\`\`ts\n${declarations.join("\n")}\n\`\`\``]),
    ].join("\n\n")
  })
  // The compiler drops the first comment of a module whose first import has no part in the declarations.
  if (headOf(module) === "") throw new Error(`${title} has no comment at the head of its declarations`)
  pages.set(page, [`# ${title}`, headOf(module), ...sections].join("\n\n") + "\n")
}

if (process.argv.includes("--write")) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of pages) writeFileSync(new URL(file, folder), text)
}
const files = new Set([...globSync("*", { cwd: folder }), ...pages.keys()])
const differing = [...files].filter(
  (file) => !existsSync(new URL(file, folder)) || readFileSync(new URL(file, folder), "utf8") !== pages.get(file),
)
console.log(`${count} public names in ${pages.size} entry points`)
if (differing.length > 0) {
  console.error(`docs/api differs from the declarations: ${differing.join(", ")}. Build, then run npm run reference`)
  process.exitCode = 1
}

/**
 * Whether the package works where it is installed: packed, in an empty project, on each Node that it is for.
 *
 *     node test/package/install.ts [VERSION …]      (default: the oldest and the newest that it names; the tests run on 24)
 *
 * The command runs on sample data, and a pipeline file and a program import the package by its name. Once, its types are
 * checked with all those that they come with (`skipLibCheck` off), as Node resolves modules and as bundlers do, and
 * the recipes and a file with every public value compile with `declaration`, so that each type in a public signature has
 * a public name. It needs npm's registry, so it is a step of `.ci/run` and none of the tests.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { devDependencies, exports, make, root } from "./project.ts"

const versions = process.argv.length > 2 ? process.argv.slice(2) : ["22.19.0", "26"]

const subpaths = Object.keys(exports).filter((path) => path !== "./package.json")
const program = subpaths
  .map((path, i) => `import * as m${i} from "prefstream${path.slice(1)}"`)
  .concat(
    `export const names = [${subpaths.map((_, i) => `m${i}`).join(", ")}].map((module) => Object.keys(module).length)`,
  )
  .join("\n")

/** Prints a program that exports every public value again, so that the compiler writes out its type. */
const valuesProgram = `
const isNamespace = (value) => value?.[Symbol.toStringTag] === "Module"
const walk = (module, path) =>
  Object.entries(module).flatMap(([name, value]) => {
    const place = \`\${path}.\${name}\`
    return isNamespace(value) ? walk(value, place) : [\`export const \${place.replaceAll(".", "_")} = \${place}\`]
  })
for (const [i, path] of ${JSON.stringify(subpaths)}.entries()) {
  const name = "prefstream" + path.slice(1)
  console.log(\`import * as m\${i} from "\${name}"\`)
  console.log(walk(await import(name), \`m\${i}\`).join("\\n"))
}`

for (const [i, version] of versions.entries()) {
  const types = ["typescript", "@types/node"].map((name) => `${name}@${devDependencies[name]}`)
  const folder = make(version, `node@${version}`, ...(i === 0 ? types : []))
  copyFileSync(join(root, "data/sample.jsonl"), join(folder, "sample.jsonl"))
  writeFileSync(join(folder, "program.ts"), program)
  const quickstart = readFileSync(join(folder, "node_modules/prefstream/pipelines/quickstart.ts"), "utf8")
  writeFileSync(join(folder, "pipeline.ts"), quickstart.replaceAll("data/sample", "sample"))

  const env = { ...process.env, PATH: `${join(folder, "node_modules/node/bin")}${delimiter}${process.env["PATH"]}` }
  const run = (command: string, ...args: ReadonlyArray<string>) =>
    execFileSync(command, args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  const bin = join(folder, "node_modules/.bin/prefstream")
  const report = JSON.parse(run(bin, "run", "sample.jsonl", "--expert", "longest", "--json")) as {
    readonly dataset: { readonly rows: number }
  }
  const ofPipeline = JSON.parse(run(bin, "run", "pipeline.ts", "--json")) as typeof report
  const loaded = run(
    "node",
    "--input-type=module",
    "-e",
    'import { names } from "./program.ts"; console.log(names.join(" "))',
  )
  const resolutions = [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const
  const compile = (options: Readonly<Record<string, string>>, ...files: ReadonlyArray<string>) => {
    const shared = { strict: "true", target: "es2023", types: "node", skipLibCheck: "false" }
    const flags = Object.entries({ ...shared, ...options }).flatMap(([name, value]) => [`--${name}`, value])
    run(join(folder, "node_modules/.bin/tsc"), ...flags, ...files)
  }
  if (i === 0) {
    for (const [module, moduleResolution] of resolutions) {
      compile({ module, moduleResolution, noEmit: "true" }, "program.ts")
    }
    // A copy, since the compiler writes no declarations for files of `node_modules`.
    cpSync(join(folder, "node_modules/prefstream/pipelines"), join(folder, "recipes"), { recursive: true })
    const recipes = globSync("recipes/**/*.ts", { cwd: folder })
    const declarations = { declaration: "true", emitDeclarationOnly: "true", outDir: "declarations" }
    writeFileSync(join(folder, "values.ts"), run("node", "--input-type=module", "-e", valuesProgram))
    compile({ module: "nodenext", ...declarations }, "values.ts", ...recipes)
  }
  console.log(
    `${run("node", "--version").trim()}: ${report.dataset.rows} pairs by flags, ${ofPipeline.dataset.rows} by a pipeline file; ${subpaths.length} entry points (${loaded.trim()} names)${i === 0 ? ", types checked" : ""}`,
  )
}

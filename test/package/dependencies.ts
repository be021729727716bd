/**
 * What comes with the package: the table of `test/package/README.md`, and the software bill of materials.
 *
 *     node test/package/dependencies.ts            (exits with 1 where the table names other packages or licenses)
 *     node test/package/dependencies.ts --write    (writes the table)
 *     node test/package/dependencies.ts --sbom     (prints the bill, CycloneDX)
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { make, npm } from "./project.ts"

const folder = make("dependencies")
const guide = new URL("README.md", import.meta.url)

const megabytes = (path: string): string => {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)
  return (bytes / 1e6).toFixed(1)
}

interface Locked {
  readonly license?: string
}

const table = () => {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const rows = Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(
      ([path, { license = "?" }]) =>
        `| \`${path.replace(/^.*node_modules\//, "")}\` | ${license} | ${megabytes(join(folder, path))} |`,
    )
  return [`| package | license | MB |`, `| --- | --- | --- |`, ...rows.toSorted()].join("\n")
}

/** Names and licenses: sizes change with each patch of a dependency. */
const namesIn = (markdown: string) =>
  [...markdown.matchAll(/^\| `([^`]+)` *\| ([^|]+?) *\|/gm)].map(([, name, license]) => `${name} (${license})`)

if (process.argv.includes("--sbom")) {
  process.stdout.write(npm(folder, "sbom", "--sbom-format", "cyclonedx"))
} else if (process.argv.includes("--write")) {
  const mark = "<!-- What follows is written by npm run check:dependencies -- --write -->\n"
  const [before] = readFileSync(guide, "utf8").split(mark)
  writeFileSync(guide, `${before}${mark}\n${table()}\n`)
} else {
  const [found, expected] = [namesIn(table()), namesIn(readFileSync(guide, "utf8"))]
  const differing = [
    ...found.filter((name) => !expected.includes(name)),
    ...expected.filter((name) => !found.includes(name)),
  ]
  if (differing.length > 0) console.error(`other than in ${guide.pathname}: ${differing.join(", ")}`)
  process.exitCode = differing.length > 0 ? 1 : 0
}

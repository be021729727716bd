/** The built pages and the report's template come with the licenses of the packages that they contain. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const read = (file: string) => readFileSync(fileURLToPath(import.meta.resolve(`#built/${file}`)), "utf8")

describe("licenses of bundled packages", () => {
  it.each([
    // KaTeX is in the worker alone.
    ["pages/licenses.md", ["diff", "dompurify", "highlight.js", "katex", "markdown-it", "preact"]],
    ["report.licenses.md", ["@observablehq/plot", "d3-scale", "preact"]],
  ])("%s", (file, names) => {
    const [, ...sections] = read(file).split(/^## /m)
    for (const name of names)
      assert.isTrue(
        sections.some((section) => section.startsWith(`${name} `)),
        name,
      )
    for (const section of sections) assert.match(section, /copyright|MIT|apache/i)
  })
})

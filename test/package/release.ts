/**
 * Whether a tag may be released, and the notes of the release.
 *
 *     node test/package/release.ts v1.2.0     (prints the section of CHANGELOG.md)
 *
 * Exits with 1 unless package.json has the version, CHANGELOG.md a section for it with its date, and nothing stands under
 * Unreleased.
 */
import { readFileSync } from "node:fs"

/** What CHANGELOG.md says of the version, or why it is not released. */
export const notes = (tag: string, version: string, changelog: string): string => {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, and package.json has ${version}: expected v${version}`)
  const sections = new Map(
    changelog
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const end = section.indexOf("\n")
        return [section.slice(0, end).trim(), section.slice(end).trim()]
      }),
  )
  const titles = [...sections.keys()]
  const title = titles.find((title) => title.startsWith(`[${version}]`))
  if (title === undefined || !/\] - \d{4}-\d\d-\d\d$/.test(title)) {
    throw new Error(`CHANGELOG.md: expected a section "## [${version}] - YYYY-MM-DD", found ${titles.join(", ")}`)
  }
  if ((sections.get("[Unreleased]") ?? "") !== "") {
    throw new Error(`CHANGELOG.md: expected nothing under Unreleased, but in the section of ${version}`)
  }
  const text = sections.get(title)!
  if (text === "") throw new Error(`CHANGELOG.md: the section of ${version} is empty`)
  return text
}

if (import.meta.main) {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")
  const { version } = JSON.parse(read("package.json")) as { readonly version: string }
  console.log(notes(process.argv[2] ?? "", version, read("CHANGELOG.md")))
}

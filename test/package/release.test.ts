import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { notes } from "./release.ts"

const changelog = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-12-01

### Added

- A thing.

## [1.1.0]

- Another.
`

describe("a release", () => {
  it("has the notes of its version", () => {
    assert.strictEqual(notes("v1.2.0", "1.2.0", changelog), "### Added\n\n- A thing.")
  })

  it("is refused under another tag, without a dated section, and with something unreleased", () => {
    const refused = (tag: string, version: string, text: string, why: RegExp) =>
      assert.throws(() => notes(tag, version, text), why)
    refused("v1.3.0", "1.2.0", changelog, /expected v1\.2\.0/)
    refused("v1.3.0", "1.3.0", changelog, /expected a section "## \[1\.3\.0\] - YYYY-MM-DD", found \[Unreleased\], /)
    refused("v1.1.0", "1.1.0", changelog, /expected a section/)
    refused("v1.2.0", "1.2.0", changelog.replace("## [1.2.0]", "- New.\n\n## [1.2.0]"), /nothing under Unreleased/)
    refused("v1.2.0", "1.2.0", changelog.replace(/### Added[^#]*/, ""), /is empty/)
  })

  it("is published from a tag alone, with provenance and without a token, after the whole check", () => {
    const workflow = parse(readFileSync(new URL("../../.github/workflows/release.yml", import.meta.url), "utf8"))
    assert.deepStrictEqual(workflow.on, { push: { tags: ["v*"] } })
    assert.deepStrictEqual(workflow.permissions, {})
    const { check, publish } = workflow.jobs
    assert.deepInclude(check.steps, { run: ".ci/run" })
    assert.strictEqual(publish.needs, "check")
    assert.strictEqual(publish.permissions["id-token"], "write")
    const commands: ReadonlyArray<string> = publish.steps.flatMap(({ run = [] }) => run)
    assert.lengthOf(
      commands.filter((command) => /^npm publish .*--provenance/.test(command)),
      1,
    )
    assert.notMatch(JSON.stringify(workflow), /NODE_AUTH_TOKEN|NPM_TOKEN/)
  })
})

/** The TypeScript in the guides: each block compiles as a file beside the recipes; the one that both show is a recipe. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))
const blocksOf = (guide: string) =>
  [...readFileSync(`${root}${guide}`, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ""]) => block)
const blocks = [...blocksOf("README.md"), ...blocksOf("pipelines/README.md")]

it("each compiles", () => {
  const folder = `${root}.cache/examples`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [i, block] of blocks.entries()) {
    writeFileSync(`${folder}/block${i}.ts`, block.replaceAll('from "./', 'from "../../pipelines/'))
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ extends: "../../tsconfig.json", include: ["."] }))
  const { status, stdout } = spawnSync(`${root}node_modules/.bin/tsc`, ["-p", folder], { encoding: "utf8" })
  assert.strictEqual(status, 0, stdout)
  assert.isAtLeast(blocks.length, 3)
})

it("the pipeline in both is the quickstart's", () => {
  const quickstart = readFileSync(`${root}pipelines/quickstart.ts`, "utf8")
  for (const guide of ["README.md", "pipelines/README.md"]) {
    assert.include(quickstart, blocksOf(guide)[0]!.trim(), guide)
  }
})

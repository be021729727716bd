/**
 * Writes the TypeScript blocks of the guides to `.cache/examples`, as files beside the recipes, so that `npm run check:types`
 * compiles them.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const folder = `${root}.cache/examples`

/** The TypeScript blocks of a guide. */
export const blocksOf = (guide: string): ReadonlyArray<string> =>
  [...readFileSync(`${root}${guide}`, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ""]) => block)

export const guides = ["README.md", "pipelines/README.md"]

if (import.meta.main) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [i, block] of guides.flatMap(blocksOf).entries()) {
    writeFileSync(`${folder}/block${i}.ts`, block.replaceAll('from "./', 'from "../../pipelines/'))
  }
}

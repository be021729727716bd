/** A whole run over items of real texts: its input, a service of its own that answers at once, and its command. Gone with this process. */
import { join } from "node:path"
import { itemOf } from "./arenaItems.ts"
import { path, scratchFolder, serveItems, writeLines } from "./setup.ts"

export const batchSize = 50

export const prepare = async (items: number) => {
  const scratch = scratchFolder()
  const input = join(scratch, "items.jsonl")
  const job = join(scratch, "job")
  await writeLines(input, items, (i) => JSON.stringify(itemOf(i)))
  const { service, url } = await serveItems(Math.ceil(items / batchSize), batchSize, "./arenaItems.ts")
  const command = [
    path("../../dist/bin.js"), "run", input, "--dir", job, "--base-url", url,
    "--batch-size", String(batchSize), "--concurrency", "64", "--requests-per-second", "1000000",
    "--idempotency-key", "honored", "--poll-min", "10ms", "--poll-max", "1s", "--guidelines", "Prefer the one that is correct.",
  ] // prettier-ignore
  return { scratch, input, job, url, service, command }
}

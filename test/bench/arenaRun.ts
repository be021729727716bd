/** A whole run over items of real texts: its input, a service of its own that answers at once, and its command. Gone with this process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { itemOf } from "./arenaItems.ts"

export const batchSize = 50

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

export const prepare = async (items: number) => {
  const scratch = mkdtempSync(join(tmpdir(), "prefstream-bench-"))
  const input = join(scratch, "items.jsonl")
  const job = join(scratch, "job")
  const out = createWriteStream(input)
  for (let i = 0; i < items; i++) if (!out.write(`${JSON.stringify(itemOf(i))}\n`)) await once(out, "drain")
  out.end()
  await once(out, "finish")

  const service = spawn(
    process.execPath,
    [path("durabilityService.ts"), String(Math.ceil(items / batchSize)), String(batchSize), "./arenaItems.ts"],
    { stdio: ["ignore", "pipe", "inherit"] },
  )
  process.on("exit", () => {
    service.kill()
    rmSync(scratch, { recursive: true })
  })
  const [address] = (await once(service.stdout, "data")) as [Buffer]
  const url = address.toString().trim()
  const command = [
    path("../../dist/bin.js"), "run", input, "--dir", job, "--base-url", url,
    "--batch-size", String(batchSize), "--concurrency", "64", "--requests-per-second", "1000000",
    "--idempotency-key", "honored", "--poll-min", "10ms", "--poll-max", "1s", "--guidelines", "Prefer the one that is correct.",
  ] // prettier-ignore
  return { scratch, input, job, url, service, command }
}

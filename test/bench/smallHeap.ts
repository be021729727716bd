/**
 * A whole run over large items in a small heap: 1,000 items of 64 completions of 2 kB, with `--max-old-space-size=256`
 * and without it, in turns, each a process of its own.
 *
 *     node test/bench/smallHeap.ts [ITEMS] [ROUNDS]      (default 1000 5: about 2 minutes; needs `npm run build`)
 *
 * Exits with 1 where the median time in the small heap is more than 1.3 times the other one, or a run fails.
 */
import { spawnSync } from "node:child_process"
import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { median, numbers, path, scratchFolder, writeLines } from "./setup.ts"

const [items, rounds] = numbers(1_000, 5)
const scratch = scratchFolder()
const input = join(scratch, "items.jsonl")
const job = join(scratch, "job")

const words = "the of and to in is you that it he was for on are as with his they at be this have from or one".split(
  " ",
)
const prose = (seed: number) => {
  let text = `${seed}:`
  for (let i = seed; text.length < 2_000; i = (i * 31 + 7) % 1_000_003) text += ` ${words[i % words.length]}`
  return text
}

await writeLines(input, items, (i) => {
  const completions = Array.from({ length: 64 }, (_, completion) => prose(i * 64 + completion))
  return JSON.stringify({ prompt: `${i}: which is best?`, completions })
})

const run = (flags: ReadonlyArray<string>) => {
  const begun = performance.now()
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...flags, path("../../dist/bin.js"),
      "run", input, "--dir", job, "--expert", "longest", "--max-completions", "64", "--poll-min", "10ms",
    ],
    { encoding: "utf8" },
  ) // prettier-ignore
  if (status !== 0) throw new Error(`with ${flags.join(" ")} it ended with ${status}: ${stderr}`)
  rmSync(job, { recursive: true })
  return (performance.now() - begun) / 1000
}

const small: Array<number> = []
const usual: Array<number> = []
for (let round = 0; round < rounds; round++) {
  usual.push(run([]))
  small.push(run(["--max-old-space-size=256"]))
}
console.log(
  `${items} items of 64 completions, ${(statSync(input).size / 1e6).toFixed(0)} MB; medians of ${rounds} rounds`,
)
console.log(`seconds: ${median(usual).toFixed(1)}, in a heap of 256 MB ${median(small).toFixed(1)}`)
const ratio = median(small) / median(usual)
console.log(`time in a heap of 256 MB ${ratio.toFixed(2)} (at most 1.3)`)
process.exitCode = ratio <= 1.3 ? 0 : 1

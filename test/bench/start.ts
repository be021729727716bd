/**
 * How long the CLI and a subpath take to start, compared with a bare Node and `import "effect"`.
 *
 *     node test/bench/start.ts [ROUNDS]      (default 11: about half a minute; needs `npm run build`)
 *
 * Whole processes of one Node, in turns, after a round that is not counted and that fills the CLI's compile cache.
 * Exits with 1 where a ratio of the medians misses its target.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { median, numbers, path, scratchFolder } from "./setup.ts"

const [rounds] = numbers(11)
const scratch = scratchFolder()
const job = join(scratch, "job")
const bin = path("../../dist/bin.js")
const importing = (name: string) => ["--input-type=module", "--eval", `import ${JSON.stringify(name)}`]

const programs = {
  "node -e 0": ["-e", "0"],
  "prefstream --version": [bin, "--version"],
  "prefstream status": [bin, "status", "--dir", job],
  "prefstream --help": [bin, "--help"],
  'import "effect"': importing("effect"),
  'import "prefstream/source"': importing("prefstream/source"),
}
type Program = keyof typeof programs

const targets: ReadonlyArray<{ readonly program: Program; readonly peer: Program; readonly ratio: number }> = [
  { program: "prefstream --version", peer: "node -e 0", ratio: 8 },
  { program: "prefstream status", peer: "node -e 0", ratio: 12 },
  { program: "prefstream --help", peer: "node -e 0", ratio: 12 },
  { program: 'import "prefstream/source"', peer: 'import "effect"', ratio: 1.5 },
]

const run = (...args: ReadonlyArray<string>): number => {
  const begun = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: path("../.."),
    encoding: "utf8",
    env: { ...process.env, XDG_CACHE_HOME: scratch },
  })
  const millis = performance.now() - begun
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return millis
}

const names = Object.keys(programs) as ReadonlyArray<Program>
const millis = Object.fromEntries(names.map((name) => [name, [] as Array<number>])) as Record<Program, Array<number>>
run(bin, "run", path("../../data/sample.jsonl"), "--dir", job, "--expert", "longest")
for (let round = 0; round <= rounds; round++) {
  for (const name of names) {
    const took = run(...programs[name])
    if (round > 0) millis[name].push(took)
  }
}

const rows = targets.map(({ program, peer: peerName, ratio }) => {
  const [own, peer] = [median(millis[program]), median(millis[peerName])]
  return { program, ms: own, "compared with": peerName, "its ms": peer, ratio: own / peer, "at most": ratio }
})
console.log(`medians of ${rounds} rounds`)
console.table(
  rows.map((row) => ({
    ...row,
    ms: Math.round(row.ms),
    "its ms": Math.round(row["its ms"]),
    ratio: row.ratio.toFixed(2),
  })),
)
console.log(rows.map((row) => `${row.program} ${row.ratio.toFixed(2)} (at most ${row["at most"]})`).join(", "))
process.exitCode = rows.every((row) => row.ratio <= row["at most"]) ? 0 : 1

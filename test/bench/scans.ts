/**
 * Commands that go over all votes or pairs once, beside a DuckDB script that does the same work (scansPeer.ts).
 *
 *     node test/bench/scans.ts [ITEMS] [VOTES PER ITEM] [ROUNDS]      (default 200000 5 3; needs `npm run build`)
 *
 * In turns, each a process of its own, from its start to its end. Exits with 1 where the median of a command takes more than
 * five times its peer's, or where the two disagree on the number of votes, the winner, or the dataset.
 *
 * - `import`: votes in JSON Lines, two completions each, into the ledger; the peer: into a database file with a table of
 *   items and one of votes
 * - `export-votes`: all of them back to JSON Lines
 * - `leaderboard`: counts and ratings, without resamples (the bench `leaderboard` has those)
 * - `verify`: digests, and Parquet compared with JSON Lines, of the dataset that `export` made
 */
import { spawnSync } from "node:child_process"
import { openSync, closeSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { seeded } from "../pair/stats/support.ts"
import { median, numbers, path, scratchFolder, writeLines } from "./setup.ts"

const [items, votesPerItem, rounds] = numbers(200_000, 5, 3)
const most = 5
const models = 50
const scratch = scratchFolder()
const [votes, job, database] = ["votes.jsonl", "job", "votes.duckdb"].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
]

const random = seeded(1)
const below = (limit: number) => Math.floor(random() * limit)
const words = "the quick brown fox jumps over a lazy dog and then sleeps twelve hours".split(" ")
const prose = (length: number) => Array.from({ length }, () => words[below(words.length)]).join(" ")
await writeLines(votes, items, (i) => {
  const one = below(models)
  const other = (one + 1 + below(models - 1)) % models
  const record = {
    id: `item-${i}`,
    prompt: `${i}: ${prose(15)}?`,
    response_a: prose(30),
    response_b: prose(30),
    model_a: `model-${one}`,
    model_b: `model-${other}`,
  }
  const votes = Array.from({ length: votesPerItem }, (_, vote) => {
    const isTie = random() < 0.125
    const winner = isTie ? "tie" : random() < 1 / (1 + Math.exp((one - other) / 10)) ? "model_a" : "model_b"
    return JSON.stringify({ ...record, annotator: `expert-${vote}`, winner })
  })
  return votes.join("\n")
})

/** Seconds of a process, and what it printed, if that does not go to a file. */
const run = (name: string, args: ReadonlyArray<string>, to?: string): readonly [number, string] => {
  const target = to === undefined ? undefined : openSync(to, "w")
  const begun = performance.now()
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", target ?? "pipe", "pipe"],
    timeout: 600_000,
  })
  const seconds = (performance.now() - begun) / 1000
  if (target !== undefined) closeSync(target)
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
  return [seconds, stdout]
}
const prefstream = (...args: ReadonlyArray<string>) => [path("../../dist/bin.js"), ...args]
const peer = (...args: ReadonlyArray<string>) => [path("scansPeer.ts"), ...args]

const commands = ["import", "export-votes", "leaderboard", "verify"] as const
const times = Object.fromEntries(commands.map((name) => [name, { own: [], peer: [] }])) as unknown as Record<
  (typeof commands)[number],
  { readonly own: Array<number>; readonly peer: Array<number> }
>
const same = (what: string, own: unknown, other: unknown) => {
  if (own !== other) throw new Error(`${what}: ${String(own)}, but the peer has ${String(other)}`)
}

for (let round = 0; round < rounds; round++) {
  const [own, theirs] = ["own.jsonl", "theirs.jsonl"].map((name) => join(scratch, name)) as [string, string]
  const timed = (name: (typeof commands)[number], args: ReadonlyArray<string>, peerArgs: ReadonlyArray<string>) => {
    const [seconds, printed] = run(name, args, name === "export-votes" ? own : undefined)
    const [peerSeconds, peerPrinted] = run(`the peer's ${name}`, peerArgs)
    times[name].own.push(seconds)
    times[name].peer.push(peerSeconds)
    return [name === "export-votes" ? {} : JSON.parse(printed), JSON.parse(peerPrinted)] as [
      Record<string, never>,
      Record<string, never>,
    ]
  }
  const [, imported] = timed(
    "import",
    prefstream("import", votes, "--dir", job, "--json", ...(round === 0 ? [] : ["--new-ledger"])),
    peer("import", votes, database),
  )
  same("votes", items * votesPerItem, imported["votes"])
  const [, exported] = timed(
    "export-votes",
    prefstream("export-votes", "--dir", job),
    peer("export-votes", database, theirs),
  )
  const [, printed] = run("count", peer("count", own))
  same("votes printed", (JSON.parse(printed) as { readonly votes: number }).votes, exported["votes"])
  const [board, ratings] = timed(
    "leaderboard",
    prefstream("leaderboard", "--dir", job, "--resamples", "0", "--json"),
    peer("leaderboard", database),
  )
  const [first] = board["models"] as unknown as ReadonlyArray<{
    readonly model: string
    readonly rating: { readonly value: number }
  }>
  same("first model", first!.model, ratings["model"])
  if (Math.abs(first!.rating.value - Number(ratings["rating"])) > 0.5)
    throw new Error(`rating: ${first!.rating.value}, but the peer has ${String(ratings["rating"])}`)
  if (round === 0) run("export", prefstream("export", "--dir", job))
  const dataset = join(job, "dataset")
  const [found, compared] = timed("verify", prefstream("verify", dataset, "--json"), peer("verify", dataset))
  same("pairs", found["rows"], compared["pairs"])
  if (round < rounds - 1) {
    // The dataset stays for `verify`; a ledger that has the votes would be read, not filled.
    for (const file of ["ledger.db", "ledger.db-wal", "ledger.db-shm"]) rmSync(join(job, file), { force: true })
    rmSync(database)
  }
}

console.log(
  `${items * votesPerItem} votes on ${items} items, ${(statSync(votes).size / 1e6).toFixed(0)} MB; medians of ${rounds} rounds`,
)
const ratios = commands.map((name) => ({ name, own: median(times[name].own), peer: median(times[name].peer) }))
console.table(
  ratios.map(({ name, own, peer }) => ({
    command: name,
    "prefstream s": own.toFixed(1),
    "DuckDB s": peer.toFixed(1),
    times: (own / peer).toFixed(2),
  })),
)
console.log(`${ratios.map(({ name, own, peer }) => `${name} ${(own / peer).toFixed(1)}`).join(", ")} (at most ${most})`)
process.exitCode = ratios.every(({ own, peer }) => own / peer <= most) ? 0 : 1

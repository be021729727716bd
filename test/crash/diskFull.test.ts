/** A disk that fills: said in one line, exit status 1, and the same command finishes once there is space. */
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  statfsSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Threads } from "../../src/node/Thread.ts"
import { drawn, threads } from "../support/cases.ts"
import { cli, type Said } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { platform } from "../support/job.ts"
import * as Program from "../support/program.ts"
import * as SmallDisk from "../support/smallDisk.ts"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-full-"))

/** Text that no compression makes smaller. */
const noise = (seed: string, bytes: number): string => {
  let text = ""
  for (let i = 0; text.length < bytes; i++) text += createHash("sha512").update(`${seed} ${i}`).digest("base64")
  return text.slice(0, bytes)
}

/** 150 items, 1.1 MB, and 500 bad lines, 0.5 MB. */
const items = Array.from({ length: 150 }, (_, i) =>
  JSON.stringify({
    id: `item-${i}`,
    prompt: `${i} ${noise(`p${i}`, 2500)}`,
    completions: [noise(`a${i}`, 2500), noise(`b${i}`, 2500)],
  }),
)
const bad = Array.from({ length: 500 }, (_, i) => `{"id": "bad-${i}", "prompt": "${noise(`x${i}`, 1000)}"`)

/** `prefstream ARGS` in this process: a process of its own takes ten times as long, and one of them is tried. */
const run = (args: ReadonlyArray<string>, env?: Record<string, string>): Promise<Said> =>
  Effect.runPromise(
    cli(args, env).pipe(Effect.provide(platform), Effect.provideService(Threads, threads === "1" ? "always" : "never")),
  )

const leftovers = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("partial"))

describe.skipIf(SmallDisk.unavailable)(`a disk that fills, THREADS=${threads}`, () => {
  const input = join(scratch, "items.jsonl")
  const disks: Array<SmallDisk.SmallDisk> = []
  const disk = (size: string) => {
    const made = SmallDisk.make(size)
    disks.push(made)
    return made
  }
  let service: Awaited<ReturnType<typeof Program.serve>>
  let dataset: Record<string, string>
  let rejects: string

  const command = (dir: string, ledger: string, files: ReadonlyArray<string> = [input]) => [
    "run", ...files, "--group", "full", "--dir", dir, "--ledger", ledger, "--batch-size", "10",
    "--idempotency-key", "honored", "--requests-per-second", "1000", "--poll-min", "50ms",
  ] // prettier-ignore

  const full = ({ status, stderr, stdout }: Said, place: string) => {
    const line = stderr.split("\n").find((line) => line.startsWith("prefstream: ")) ?? ""
    assert.strictEqual(status, 1, stderr)
    assert.match(line, /is full|No space is left/)
    assert.include(line, place)
    assert.notMatch(stderr, /^ +at /m, "a stack")
    assert.strictEqual(stdout, "")
  }

  beforeAll(async () => {
    mkdirSync(`${scratch}/undisturbed`)
    writeFileSync(input, [...items, ...bad].join("\n"))
    service = await Program.serve(["--database", `${scratch}/service.db`, "--expert", "first"])
    const job = `${scratch}/undisturbed`
    const ended = await run(command(job, `${job}/ledger.db`), service.env)
    assert.strictEqual(ended.status, 0, ended.stderr)
    dataset = datasetHashes(`${job}/dataset`)
    rejects = readFileSync(`${job}/rejects.jsonl`, "utf8")
  })

  afterAll(async () => {
    await service.kill()
    for (const made of disks) made.remove()
    rmSync(scratch, { recursive: true, force: true })
  })

  const asUndisturbed = async (job: string, ledger: string) => {
    const ended = await run(command(job, ledger), service.env)
    assert.strictEqual(ended.status, 0, ended.stderr)
    assert.deepStrictEqual(datasetHashes(`${job}/dataset`), dataset)
    assert.strictEqual(readFileSync(`${job}/rejects.jsonl`, "utf8"), rejects)
    const checked = await run(["ledger", "check", "--dir", job, "--ledger", ledger, "--json"])
    assert.deepInclude(JSON.parse(checked.stdout), { findings: [], tasks: 15, items: 150, results: 15 })
  }

  // From the first table, at 0.7 MB and as much of the log, to the last result: more space, and it fills later.
  for (const size of drawn(["64k", "1m", "2m"])) {
    it(`of ${size}, under the ledger: the same command finishes, with the same bytes`, async () => {
      const small = disk(size)
      const job = join(scratch, `ledger-${size}`)
      const ledger = join(small.path, "ledger.db")
      const { status, ...said } = await Program.run(command(job, ledger), service.env)
      assert.strictEqual(status, 1, said.stderr)
      full({ ...said, status: 1 }, ledger)
      // Full as it still is, it says the same again.
      full(await run(command(job, ledger), service.env), ledger)
      small.grow("64m")
      await asUndisturbed(job, ledger)
    })
  }

  for (const [what, size] of [
    ["the rejects", "256k"],
    ["the dataset", "1m"],
  ] as const) {
    it(`under ${what}: the same command finishes, with the same bytes`, async () => {
      const small = disk(size)
      const job = join(small.path, "job")
      const ledger = join(scratch, `${what}.db`)
      const ended = await run(command(job, ledger), service.env)
      full(ended, what === "the rejects" ? "rejects.jsonl" : "dataset")
      assert.deepStrictEqual(leftovers(job), [])
      assert.isFalse(existsSync(`${job}/dataset`))
      small.grow("64m")
      await asUndisturbed(job, ledger)
    })
  }

  it("under a dataset that replaces an older one: that one stays", async () => {
    const small = disk("64m")
    const job = join(small.path, "job")
    const ledger = join(scratch, "older.db")
    await asUndisturbed(job, ledger)
    const { bfree, blocks, bsize } = statfsSync(small.path)
    small.grow(`${Math.ceil(((blocks - bfree) * bsize) / 1024) + 256}k`)
    const again = ["export", "--force", "--dir", job, "--ledger", ledger]
    full(await run(again), "dataset")
    assert.deepStrictEqual(datasetHashes(`${job}/dataset`), dataset)
    assert.deepStrictEqual(leftovers(job), [])
    small.grow("64m")
    assert.strictEqual((await run(again)).status, 0)
    assert.deepStrictEqual(datasetHashes(`${job}/dataset`), dataset)
  })

  it("under a backup: none is left behind, and the ledger is whole", async () => {
    const small = disk("512k")
    const job = `${scratch}/undisturbed`
    const backup = join(small.path, "backup.db")
    full(await run(["ledger", "backup", backup, "--dir", job]), backup)
    assert.deepStrictEqual(readdirSync(small.path), [])
    small.grow("64m")
    const ended = await run(["ledger", "backup", backup, "--dir", job])
    assert.strictEqual(ended.status, 0, ended.stderr)
    assert.deepStrictEqual(readdirSync(small.path), ["backup.db"])
  })

  it("under a join's scratch: the same command finishes", async () => {
    const small = disk("512k")
    const job = join(small.path, "join")
    const lines = (of: (i: number) => object) => Array.from({ length: 150 }, (_, i) => JSON.stringify(of(i))).join("\n")
    writeFileSync(
      `${scratch}/prompts.jsonl`,
      lines((i) => ({ id: `${i}`, prompt: `prompt ${i}` })),
    )
    for (const model of ["a", "b"]) {
      writeFileSync(
        `${scratch}/${model}.jsonl`,
        lines((i) => ({ id: `${i}`, completion: noise(`${model}${i}`, 2500) })),
      )
    }
    const args = [
      ...command(job, `${scratch}/join.db`, [`${scratch}/prompts.jsonl`]),
      "--completions", `${scratch}/a.jsonl`, "--completions", `${scratch}/b.jsonl`,
    ] // prettier-ignore
    const ended = await run(args, service.env)
    full(ended, "scratch")
    assert.deepStrictEqual(readdirSync(job), ["group.txt", "settings.yaml"])
    small.grow("64m")
    const after = await run(args, service.env)
    assert.strictEqual(after.status, 0, after.stderr)
    assert.match(after.stdout, /150 submitted/)
  })
})

/**
 * In CI: four workers over one ledger in PostgreSQL: the one that reads the input is killed, another one, too; one is frozen for
 * longer than its lease, and thaws. The job comes to what one process comes to.
 *
 * When, is drawn from a seed that is printed; `CRASH_SEED` sets it. It decides nothing of what is asserted.
 */
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cases, manyCases } from "../support/cases.ts"
import { cli } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { platform } from "../support/job.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import type { Running } from "../support/process.ts"
import { start } from "../support/program.ts"
import * as RecordingService from "./support/RecordingService.ts"

const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31))
const rounds = cases(1, 20)
const tasks = cases(400, 4_000)

const scratch = mkdtempSync(join(tmpdir(), "prefstream-workers-"))
const input = join(scratch, "items.jsonl")

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
const draws = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const prefstream = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.runPromise(Effect.provide(cli(args, env), platform))

describe.skipIf(notInstalled || !manyCases)(`four workers, CRASH_SEED=${seed}`, { timeout: 1_200_000 }, () => {
  let server: Server
  beforeAll(async () => {
    server = await Server.make()
    const items = Array.from({ length: tasks * 2 }, (_, i) => ({
      id: `item-${i}`,
      prompt: `Question ${i}?`,
      completions: ["one", `another ${i}`],
    }))
    writeFileSync(input, items.map((item) => `${JSON.stringify(item)}\n`).join(""))
  })
  afterAll(async () => {
    await server.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const flags = (keys: string) => [input, "--batch-size", "2", "--idempotency-key", keys]

  for (const [i, keys] of (["honored", "ignored"] as const).entries()) {
    it(`at a service by which keys are ${keys}: nothing is sent twice, nothing is lost`, async () => {
      const service = await RecordingService.start(keys)
      const env = (token: string) => ({ PREFSTREAM_BASE_URL: service.baseUrl, PREFSTREAM_TOKEN: token })
      const alone = `${scratch}/${keys}-alone`
      service.book("alone")
      const undisturbed = await prefstream(
        ["run", ...flags(keys), "--dir", alone, "--requests-per-second", "1000", "--poll-min", "20ms"],
        env("alone"),
      )
      assert.strictEqual(undisturbed.status, 0, undisturbed.stderr)

      for (let round = 0; round < rounds; round++) {
        const random = draws(seed + i + round)
        const token = `${keys}-${round}`
        const book = service.book(token)
        const schema = server.newSchema()
        const shared = { ...env(token), PREFSTREAM_LEDGER: server.url(schema) }
        const count = (condition: string) => {
          try {
            return Number(server.psql(`SELECT COUNT(*) FROM task WHERE ${condition}`, schema))
          } catch {
            return 0 // not created yet
          }
        }
        const until = async (what: string, isSo: () => boolean) => {
          for (const deadline = performance.now() + 300_000; !isSo(); await setTimeout(100)) {
            if (performance.now() > deadline) throw new Error(`waited five minutes for: ${what}`)
          }
        }
        const pace = [
          "--requests-per-second",
          String(Math.ceil(tasks / 20)),
          "--poll-min",
          "100ms",
          "--poll-max",
          "500ms",
        ]
        const workers = Array.from({ length: 4 }, (_, n): Running =>
          start(["worker", ...flags(keys), ...pace, "--lease", "5s", "--dir", `${scratch}/${token}-${n}`], shared),
        )
        const running = new Set(workers)
        const end = async (worker: Running) => {
          running.delete(worker)
          worker.child.kill("SIGKILL")
          await worker.ended
        }
        try {
          const names = await Promise.all(
            workers.map(async (worker) => /^Worker (\S+)/m.exec(await worker.talks(/^Worker \S+/m))![1]!),
          )
          await until("the first tasks", () => count("state <> 'planned'") >= tasks * (0.05 + 0.2 * random()))
          const reader = names.indexOf(server.psql("SELECT owner FROM part_owner WHERE part = -1", schema))
          await end(workers[reader]!)
          const [frozen, killed] = workers.filter((worker) => running.has(worker)) as [Running, Running]
          frozen.child.kill("SIGSTOP")
          await until(
            "more tasks",
            () => count("state IN ('submitted', 'completed')") >= tasks * (0.3 + 0.3 * random()),
          )
          await end(killed)
          const frozenParts = () =>
            Number(
              server.psql(`SELECT COUNT(*) FROM part_owner WHERE owner = '${names[workers.indexOf(frozen)]}'`, schema),
            )
          await until("others to take the parts of the frozen one", () => frozenParts() === 0)
          frozen.child.kill("SIGCONT")
          await until("the end", () => count("state NOT IN ('completed', 'in_doubt')") === 0 && count("true") === tasks)
          for (const worker of running) assert.isNull(worker.child.exitCode, "a worker has ended")
        } finally {
          for (const worker of workers) worker.child.kill("SIGCONT")
          await Promise.all(workers.map(end))
        }

        const doubts = count("state = 'in_doubt'")
        const bought = book.posts.filter(({ repeated }) => !repeated)
        assert.strictEqual(book.keys.size, bought.length, "a task was bought twice")
        if (keys === "honored") assert.strictEqual(doubts, 0)
        // What is not known to be there may be there, and everything else is.
        assert.isAtLeast(bought.length, tasks - doubts)
        assert.strictEqual(count("state = 'completed'"), tasks - doubts)
        if (keys === "ignored" && doubts > 0) continue
        const exported = await prefstream(["export", "--dir", `${scratch}/${token}`], shared)
        assert.strictEqual(exported.status, 0, exported.stderr)
        assert.deepStrictEqual(datasetHashes(`${scratch}/${token}/dataset`), datasetHashes(`${alone}/dataset`))
      }
      await service.close()
    })
  }
})

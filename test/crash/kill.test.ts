import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setImmediate } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { run, type Running, start } from "../support/process.ts"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-kill-"))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const token = "kill-test-token"

/** One row of an SQLite file that another process is writing, or undefined while there is none. */
const query = (file: string, sql: string): Record<string, unknown> | undefined => {
  if (!existsSync(file)) return undefined
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true })
    return database.prepare(sql).get()
  } catch {
    return undefined // not created yet
  } finally {
    database?.close()
  }
}

/** How many tasks of a job stand in one of the states. */
const tasksIn = (job: string, ...states: ReadonlyArray<string>): number =>
  Number(
    query(`${job}/ledger.db`, `SELECT COUNT(*) AS n FROM task WHERE state IN ('${states.join("','")}')`)?.["n"] ?? 0,
  )

/** Every file below a folder with the hash of its bytes. */
const hashes = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((file) => [file.slice(folder.length), createHash("sha256").update(readFileSync(file)).digest("hex")]),
  )

const serve = async (database: string) => {
  const service = start(["serve", "--database", database, "--port", "0", "--expert", "gold:data/sample.jsonl"], {
    PREFSTREAM_TOKEN: token,
  })
  const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(await service.says(/PREFSTREAM_BASE_URL=\S+/)) ?? []
  return { baseUrl, stop: () => (service.child.kill("SIGKILL"), service.ended) }
}

const over = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null

const pipelineArgs = (job: string) => [
  "run", "data/sample.jsonl", "--dir", job, "--batch-size", "1",
  "--idempotency-key", "honoured", "--concurrency", "2", "--requests-per-second", "1000", "--poll-min", "20ms",
] // prettier-ignore

/** Moments of a run, as they can be seen from outside. The sample has 72 items, here in tasks of one. */
const moments: ReadonlyArray<readonly [name: string, reached: (job: string) => boolean]> = [
  ["the ledger exists", (job) => existsSync(`${job}/ledger.db`)],
  ["the first tasks are planned", (job) => tasksIn(job, "planned") > 0],
  ["a task is being sent", (job) => tasksIn(job, "submitting") > 0],
  ["the first task is submitted", (job) => tasksIn(job, "submitted", "completed") >= 1],
  ["10 are submitted", (job) => tasksIn(job, "submitted", "completed") >= 10],
  ["30 are submitted", (job) => tasksIn(job, "submitted", "completed") >= 30],
  ["60 are submitted", (job) => tasksIn(job, "submitted", "completed") >= 60],
  ["the first result is there", (job) => tasksIn(job, "completed") >= 1],
  ["20 results are there", (job) => tasksIn(job, "completed") >= 20],
  ["50 results are there", (job) => tasksIn(job, "completed") >= 50],
  ["all results are there", (job) => tasksIn(job, "completed") === 72],
  [
    "the dataset is being written",
    (job) => existsSync(job) && readdirSync(job).some((name) => name.includes("partial")),
  ],
]

describe("kill -9", () => {
  let undisturbed: Record<string, string>

  beforeAll(async () => {
    const { baseUrl, stop } = await serve(`${scratch}/undisturbed-service.db`)
    const ended = await run(pipelineArgs(`${scratch}/undisturbed`), {
      PREFSTREAM_BASE_URL: baseUrl,
      PREFSTREAM_TOKEN: token,
    })
    assert.strictEqual(ended.status, 0, ended.stderr)
    await stop()
    undisturbed = hashes(`${scratch}/undisturbed/dataset`)
  }, 60_000)

  for (const [i, [name, reached]] of moments.entries()) {
    it(`when ${name}: the same command finishes, with the same bytes and no second task`, async () => {
      // A run that was over before the moment was seen proves nothing: then another is tried.
      for (let attempt = 0; ; attempt++) {
        const job = `${scratch}/job-${i}-${attempt}`
        const store = `${scratch}/service-${i}-${attempt}.db`
        const { baseUrl, stop } = await serve(store)
        const env = { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token }

        const first = start(pipelineArgs(job), env)
        while (!over(first) && !reached(job)) await setImmediate()
        first.child.kill("SIGKILL")
        const { signal } = await first.ended

        const second = await run(pipelineArgs(job), env)
        assert.strictEqual(second.status, 0, second.stderr)
        assert.deepStrictEqual(hashes(`${job}/dataset`), undisturbed)
        assert.deepEqual({ ...query(store, "SELECT COUNT(*) AS n FROM task") }, { n: 72 })
        assert.deepEqual(
          readdirSync(job).filter((file) => file.includes("partial")),
          [],
        )
        await stop()
        if (signal === "SIGKILL") return
        assert.isBelow(attempt, 5, `no run could be killed when ${name}`)
      }
    }, 60_000)
  }

  it("of a run with its embedded service: the same command finishes, with the same pairs", async () => {
    const job = `${scratch}/embedded`
    const args = ["run", "data/sample.jsonl", "--dir", job, "--batch-size", "1", "--expert", "gold:data/sample.jsonl"]
    for (const results of [1, 25, 50]) {
      const broken = start(args)
      while (!over(broken) && tasksIn(job, "completed") < results) await setImmediate()
      broken.child.kill("SIGKILL")
      assert.strictEqual((await broken.ended).signal, "SIGKILL")
    }
    const ended = await run(args)
    assert.strictEqual(ended.status, 0, ended.stderr)
    assert.deepEqual({ ...query(`${job}/service.db`, "SELECT COUNT(*) AS n FROM task") }, { n: 72 })
    assert.deepStrictEqual(hashes(`${job}/dataset`), undisturbed)
  }, 60_000)
})

/** Whole runs over a ledger in PostgreSQL, whose server goes away in the middle. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { drawn, leftOut } from "../support/cases.ts"
import { cli } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { platform } from "../support/job.ts"
import { notInstalled, password, Server } from "../support/postgres.ts"
import { type Running } from "../support/process.ts"
import { serve, start } from "../support/program.ts"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-pg-run-"))
const store = join(scratch, "service.db")

const args = (job: string, perSecond = 1000) => [
  "run", "data/sample.jsonl", "--group", "night", "--dir", `${scratch}/${job}`, "--batch-size", "2",
  "--idempotency-key", "honored", "--requests-per-second", String(perSecond), "--poll-min", "50ms",
] // prettier-ignore

/** `prefstream ARGS` in this process, for the runs in which nothing goes away. */
const run = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.runPromise(Effect.provide(cli(args, env), platform))

describe.skipIf(notInstalled)("a run over PostgreSQL", () => {
  let server: Server
  let service: Awaited<ReturnType<typeof serve>>
  let env: Record<string, string>
  let dataset: Record<string, string>

  beforeAll(async () => {
    server = await Server.make()
    service = await serve(["--database", store, "--expert", "gold:data/sample.jsonl"])
    env = service.env
    const ended = await run(args("sqlite"), env)
    assert.strictEqual(ended.status, 0, ended.stderr)
    dataset = datasetHashes(`${scratch}/sqlite/dataset`)
  })

  afterAll(async () => {
    await service.kill()
    await server.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const tasksOfService = () => {
    const database = new DatabaseSync(store, { readOnly: true })
    const row = database.prepare("SELECT COUNT(*) AS n FROM task").get()
    database.close()
    return Number(row?.["n"])
  }

  /** Waits until so many tasks of the schema are in the state. */
  const until = async (schema: string, state: string, tasks: number, running: Running) => {
    const count = () => {
      try {
        return Number(server.psql(`SELECT COUNT(*) FROM task WHERE state = '${state}'`, schema))
      } catch {
        return 0 // not created yet
      }
    }
    while (count() < tasks) {
      assert.isNull(running.child.exitCode, "the run was over too soon")
      await setTimeout(100)
    }
  }

  it("gives the bytes that SQLite gives, and shows the password nowhere", async () => {
    const schema = server.newSchema()
    const ledger = { ...env, PREFSTREAM_LEDGER: server.guardedUrl(schema, password) }
    const ended = await run([...args("plain"), "--job", "night"], ledger)
    assert.strictEqual(ended.status, 0, ended.stderr)
    assert.deepStrictEqual(datasetHashes(`${scratch}/plain/dataset`), dataset)
    assert.deepStrictEqual(readdirSync(`${scratch}/plain`).toSorted(), [
      "dataset",
      "export.json",
      "group.txt",
      "settings.yaml",
    ])
    assert.match(ended.stdout, /ledger +postgres:\/\/guarded@\S+\/postgres \(job night\)/)
    const others = await Promise.all(
      [["status"], ["export"], ["ledger", "check"], ["ledger", "backup", "x.db"]].map((command) =>
        run([...command, "--dir", `${scratch}/plain`, "--job", "night"], ledger),
      ),
    )
    assert.deepStrictEqual(
      others.map(({ status }) => status),
      [0, 0, 0, 2],
    )
    for (const { stderr, stdout } of [ended, ...others]) {
      assert.notInclude(stdout + stderr, password)
      assert.notInclude(stdout + stderr, encodeURIComponent(password))
    }
    assert.deepStrictEqual(datasetHashes(`${scratch}/plain/dataset`), dataset)
  })

  const isLeftOut = leftOut(2)
  for (const [what, goAway] of drawn([
    ["is restarted", () => server.stop()],
    ["crashes", () => server.crash()],
  ] as const)) {
    it.skipIf(isLeftOut(0))(
      `whose server ${what} ends with 1, and the same command finishes, with the same bytes`,
      async () => {
        const schema = server.newSchema()
        const job = what.replaceAll(" ", "-")
        const ledger = { ...env, PREFSTREAM_LEDGER: server.url(schema) }
        const before = tasksOfService()
        const first = start(args(job, 8), ledger)
        await until(schema, "completed", 3, first)
        await goAway()
        const { status, stderr } = await first.ended
        assert.strictEqual(status, 1, stderr)
        assert.match(stderr, /^prefstream: postgres:\/\/prefstream@.*run the same command again/m, stderr)
        assert.notMatch(stderr, /^ +at /m, "a stack")
        await server.start()
        const second = await run(args(job), ledger)
        assert.strictEqual(second.status, 0, second.stderr)
        assert.deepStrictEqual(datasetHashes(`${scratch}/${job}/dataset`), dataset)
        // The service knows every task from the first run of all, by its key.
        assert.strictEqual(tasksOfService(), before)
        const checked = await run(["ledger", "check", "--json"], ledger)
        assert.deepInclude(JSON.parse(checked.stdout), { findings: [], tasks: 36, results: 36 })
      },
    )
  }

  it.skipIf(isLeftOut(1))("is refused while another works it, and taken over when that is killed", async () => {
    const schema = server.newSchema()
    const ledger = { ...env, PREFSTREAM_LEDGER: server.url(schema) }
    const first = start(args("killed", 8), ledger)
    await until(schema, "completed", 1, first)
    const refused = await run(args("killed"), ledger)
    assert.strictEqual(refused.status, 75)
    assert.include(refused.stderr, `is in use by process ${first.child.pid} on `)
    first.child.kill("SIGKILL")
    await first.ended
    const second = await run(args("killed"), ledger)
    assert.strictEqual(second.status, 0, second.stderr)
    assert.deepStrictEqual(datasetHashes(`${scratch}/killed/dataset`), dataset)
  })
})

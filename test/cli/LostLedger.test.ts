/** A used job folder whose ledger is gone: nothing is sent, or billed, again unless it is asked for. */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, ends, folderWithItems, quick, to } from "../support/cli.ts"
import { test } from "../support/job.ts"
import { describePostgres } from "../support/describePostgres.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const finished = Effect.gen(function* () {
  const job = yield* folderWithItems(3)
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const run = (env: Record<string, string> = {}, ...flags: ReadonlyArray<string>) =>
    cli(["run", `${job}/items.jsonl`, "--dir", job, ...quick, ...flags], { ...to(service), ...env })
  const requests = () => service.received.filter(ScriptedService.isPost).length
  return { job, service, run, requests }
})

const emptied = (ledger: string) => {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${ledger}${suffix}`, { force: true })
  writeFileSync(ledger, "")
}

const rows = ["run", "task", "task_request", "task_result", "item", "campaign", "setting"]
const without = (tables: ReadonlyArray<string>) => (ledger: string) =>
  new DatabaseSync(ledger).exec(tables.map((table) => `DELETE FROM ${table};`).join(" "))

const lost: ReadonlyArray<readonly [string, (ledger: string) => void]> = [
  ["emptied", emptied],
  ["deleted", (ledger) => rmSync(ledger)],
  ["without its rows", without(rows)],
  ["without its job", without(["job", ...rows])],
  ["replaced by that of another job", (ledger) => new DatabaseSync(ledger).exec("UPDATE job SET name = 'other'")],
]

describe("the ledger of a finished job", () => {
  for (const [what, lose] of lost) {
    test(`${what}: every command that writes refuses it and says what is there, and --new-ledger goes on`, function* () {
      const { job, requests, run, service } = yield* finished
      assert.strictEqual((yield* run()).status, 0)
      const sent = requests()
      const dataset = readFileSync(`${job}/dataset/manifest.json`, "utf8")
      lose(`${job}/ledger.db`)
      writeFileSync(`${job}/votes.jsonl`, '{"prompt":"p","completions":["a","b"],"choice":0}\n')
      const votes = ["import", `${job}/votes.jsonl`, "--choice-as", "index", "--dir", job]
      for (const said of [yield* run(), yield* cli(votes)]) {
        assert.strictEqual(said.status, 1)
        assert.match(
          said.stderr,
          /prefstream: the ledger .*ledger\.db has no record of this job, .*settings\.yaml and .*manifest\.json.*--new-ledger/,
        )
      }
      assert.oneOf((yield* cli(["collect", "--dir", job, ...quick], to(service))).status, [1, 2])
      assert.strictEqual(requests(), sent)
      assert.strictEqual(readFileSync(`${job}/dataset/manifest.json`, "utf8"), dataset)
      assert.strictEqual((yield* run({}, "--new-ledger")).status, 0)
      assert.isAbove(requests(), sent)
      assert.strictEqual((yield* run()).status, 0)
    })
  }

  test("elsewhere: another ledger is refused as long as no other job is named", function* () {
    const { job, requests, run } = yield* finished
    assert.strictEqual((yield* run()).status, 0)
    const sent = requests()
    const elsewhere = yield* run({ PREFSTREAM_LEDGER: `${job}/other.db` })
    assert.match(elsewhere.stderr, /other\.db has no record of this job/)
    assert.strictEqual(requests(), sent)
    // The dataset that is there would be replaced by that of the other job.
    rmSync(`${job}/dataset`, { recursive: true })
    assert.strictEqual((yield* run({}, "--job", "b")).status, 0)
    assert.isAbove(requests(), sent)
  })
})

describe("a first run that was killed while it created the ledger", () => {
  const killed: ReadonlyArray<readonly [string, (job: string) => void, RegExp]> = [
    [
      "before it wrote",
      (job) => writeFileSync(`${job}/ledger.db`, ""),
      /is an empty file: .*run the same command again/,
    ],
    [
      "before its tables",
      (job) =>
        new DatabaseSync(`${job}/ledger.db`).exec(
          "CREATE TABLE prefstream_migration (migration_id INTEGER PRIMARY KEY NOT NULL, created_at TEXT NOT NULL DEFAULT '', name TEXT NOT NULL)",
        ),
      /is missing some of its tables: .*run the same command again/,
    ],
  ]
  for (const [when, kill, message] of killed) {
    test(`${when}: status and export say so, and the same command begins`, function* () {
      const { job, run } = yield* finished
      kill(job)
      for (const command of ["status", "export", "resolve"]) {
        yield* cli([command, "--dir", job]).pipe(ends(2, message))
      }
      assert.strictEqual((yield* run()).status, 0)
    })
  }

  test("before its first run, with or without settings: status says so, and the same command begins", function* () {
    for (const hasSettings of [false, true]) {
      const { job, run } = yield* finished
      assert.strictEqual((yield* run()).status, 0)
      without(rows)(`${job}/ledger.db`)
      rmSync(`${job}/dataset`, { recursive: true })
      if (!hasSettings) rmSync(`${job}/settings.yaml`)
      const said = yield* cli(["status", "--dir", job]).pipe(ends(1))
      assert.match(said.stdout, /^No run has read any input yet: .*Run the same command again/)
      assert.strictEqual((yield* run()).status, 0)
    }
  })
})

describePostgres("a ledger in PostgreSQL", (server) => {
  test("that was emptied is refused by run and worker, too", function* () {
    const { job, requests, run, service } = yield* finished
    const schema = server.newSchema()
    const env = { PREFSTREAM_LEDGER: server.url(schema) }
    assert.strictEqual((yield* run(env)).status, 0)
    const sent = requests()
    server.psql(`DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}`)
    const worker = yield* cli(["worker", `${job}/items.jsonl`, "--dir", job, ...quick], { ...to(service), ...env })
    for (const said of [yield* run(env), worker]) {
      assert.strictEqual(said.status, 1)
      assert.match(said.stderr, /has no record of this job/)
    }
    assert.strictEqual(requests(), sent)
    assert.strictEqual((yield* run(env, "--new-ledger")).status, 0)
  })
})

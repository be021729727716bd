import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, execute } from "../support/cli.ts"
import { copiesOf, temporaryDirectory, test } from "../support/job.ts"
import * as SmallDisk from "../support/smallDisk.ts"

const sample = "data/sample.jsonl"

const argsOf = (dir: string) => ["run", sample, "--dir", dir, "--expert", `gold:${sample}`, "--batch-size", "5"]

const finished = copiesOf(
  Effect.fnUntraced(function* (directory) {
    yield* cli(argsOf(`${directory}/job`)).pipe(ends(0))
  }),
)

/** A job that is done: 72 items in 15 tasks, in the folder `job`. */
const job = Effect.gen(function* () {
  const directory = yield* finished
  const dir = `${directory}/job`
  const args = argsOf(dir)
  const ledger = (...args: ReadonlyArray<string>) => cli(["ledger", ...args, "--dir", dir])
  return { args, dir, directory, file: `${dir}/ledger.db`, ledger }
})

/** One line on standard error, and nothing else. */
const said = ({ status, stderr, stdout }: { status: number; stderr: string; stdout: string }, expected: RegExp) => {
  assert.match(stderr, expected)
  assert.match(stderr, /^prefstream: [^\n]+\n(See prefstream [^\n]+\n)?$/)
  assert.strictEqual(stdout, "")
  return status
}

describe("prefstream ledger", () => {
  test("check says that a ledger is whole, or what is wrong", function* () {
    const { file, ledger } = yield* job
    const whole = yield* ledger("check").pipe(ends(0))
    assert.match(whole.stdout, /ledger\.db has no integrity errors: 72 items in 15 tasks, 15 results \([\d.]+ s\)\.\n$/)
    execute(file, "DELETE FROM task_result WHERE seq = 5")
    const spoilt = yield* ledger("check", "--quick").pipe(ends(1))
    assert.match(
      spoilt.stdout,
      /has integrity errors:\n  result_missing: the result of task 6 \(task_\w+\) is missing\n/,
    )
    assert.strictEqual(spoilt.stderr, "")
    const json = yield* ledger("check", "--json").pipe(ends(1))
    assert.deepInclude(JSON.parse(json.stdout).findings[0], { code: "result_missing" })
  })

  test("backup copies once, to where there is nothing", function* () {
    const { dir, directory, ledger } = yield* job
    const copy = `${directory}/copy.db`
    const made = yield* ledger("backup", copy).pipe(ends(0))
    assert.match(made.stdout, /copy\.db: 72 items in 15 tasks, 15 results \([\d.]+ [kM]B\), checked\.\n$/)
    assert.strictEqual(said(yield* ledger("backup", copy), /copy\.db already exists/), 1)
    assert.strictEqual(said(yield* ledger("backup", `${directory}/no/copy.db`), /no\/copy\.db/), 1)
    // The copy is a ledger: what it says is what the other one says.
    const look = (ledger: string) => cli(["status", "--dir", dir, "--ledger", ledger, "--json"])
    const [one, other] = [yield* look(`${dir}/ledger.db`), yield* look(copy)].map(({ stdout }) => JSON.parse(stdout))
    assert.deepStrictEqual(other.tasks, one.tasks)
  })

  test("backup of a damaged ledger names the ledger, and leaves no copy", function* () {
    const { directory, file, ledger } = yield* job
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFile(file, (yield* fs.readFile(file)).fill(0x41, 40_960, 81_920))
    const told = yield* ledger("backup", `${directory}/copy.db`)
    assert.strictEqual(said(told, /^prefstream: \S+\/job\/ledger\.db: the file is damaged: run /), 1)
    assert.deepStrictEqual(
      (yield* fs.readDirectory(directory)).filter((name) => name.startsWith("copy")),
      [],
    )
  })

  test("prune says what it would remove, removes it, and the job goes on without submitting anything again", function* () {
    const { args, dir, ledger } = yield* job
    const would = yield* ledger("prune", "--before", "2999-01-01", "--results")
    assert.strictEqual(said(would, /--before: expected a time in the past/), 2)
    assert.strictEqual(said(yield* ledger("prune", "--results"), /--results requires --before/), 2)
    assert.strictEqual(said(yield* ledger("prune", "--before", "yesterday"), /a date such as 2026-01-31/), 2)
    const old = ["prune", "--before", "1ms", "--results"]
    const dry = yield* ledger(...old, "--dry-run")
    assert.match(dry.stdout, /^Would remove .*the requests and results of 15 tasks \(72 items\)\.\n$/)
    const pruned = yield* ledger(...old)
    assert.match(pruned.stdout, /^Removed .*15 tasks \(72 items\)\.\nThe file keeps its size/)
    assert.match(
      (yield* ledger("check")).stdout,
      /has no integrity errors: .* 0 results; 15 results of 72 items pruned/,
    )
    assert.match((yield* ledger("compact")).stdout, /before, [\d.]+ [kM]B now\.\n$/)
    const again = yield* cli(args).pipe(ends(0))
    assert.match(again.stdout, /72 submitted .*72 known from an earlier run/)
    assert.match(again.stdout, /pruned +results of 72 items, removed from the ledger/)
    assert.match(again.stdout, /tasks +15 completed \(72 items\)/)
    const { stdout } = yield* cli(["export", "--dir", dir, "--json"])
    assert.deepInclude(JSON.parse(stdout), { pruned: 72 })
  })

  test("a misspelt place is told, and nothing is made there", function* () {
    const directory = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    for (const verb of ["check", "compact", "prune"]) {
      const told = yield* cli(["ledger", verb, "--dir", directory])
      assert.strictEqual(said(told, /there is no ledger at .*name the job folder with --dir/), 2)
    }
    assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    const password = ["check", "--ledger", "postgres://me:secret@host/db"]
    const told = yield* cli(["ledger", ...password])
    assert.strictEqual(said(told, /a password on the command line/), 2)
    assert.notInclude(told.stderr, "secret")
    for (const [end, expected] of [
      ["db?sslmode=bogus", /sslmode=bogus: expected disable, allow, prefer, require, verify-ca, verify-full/],
      ["db?connect_timeout=soon", /connect_timeout=soon: expected a whole number of seconds/],
      ["db?port=0", /port=0: expected a port/],
      ["d%b", /each % must be followed by two hexadecimal digits/],
    ] as const) {
      const ledger = ["--ledger", `postgres://me@127.0.0.1:1/${end}`]
      assert.strictEqual(said(yield* cli(["ledger", "check", ...ledger]), expected), 2)
      const scheduled = ["export", "--dir", directory, ...ledger]
      assert.strictEqual(said(yield* cli(["schedule", "--cron", "0 2 * * *", "--", ...scheduled]), expected), 2)
    }
    for (const [ledger, expected] of [
      [
        "postgres://me@127.0.0.1:1/db",
        /^prefstream: postgres:\/\/me@127\.0\.0\.1:1\/db: .*check that the database server can be reached/,
      ],
      [directory, /is a folder/],
    ] as const) {
      assert.strictEqual(said(yield* cli(["ledger", "check", "--ledger", ledger]), expected), 1)
    }
  })
})

describe("trouble with the ledger's file", () => {
  /** What three commands say: one that works the ledger, one that reads it, and one that looks for damage. */
  const tell = Effect.fnUntraced(function* (args: ReadonlyArray<string>, dir: string) {
    const told = yield* Effect.forEach([args, ["status", "--dir", dir], ["export", "--dir", dir]], (args) => cli(args))
    return told.map(({ status, stderr, stdout }) => {
      const line = stderr.split("\n").filter((line) => line !== "" && !/^(Reading|Found in) /.test(line))
      assert.strictEqual(line.length, 1, stderr)
      assert.notMatch(stderr, /^ +at /m, "a stack")
      return { status, stdout, line: line[0]! }
    })
  })

  for (const [what, change, expected] of [
    [
      "is something else",
      (file: Uint8Array) => file.fill(0x41, 0, 100),
      /not a ledger, or a ledger with a damaged first page/,
    ],
    ["is cut off", (file: Uint8Array) => file.slice(0, 20_000), /the file is damaged: run `prefstream ledger check`/],
  ] as const) {
    test(`where it ${what}: one line with what to do, and nothing is changed`, function* () {
      const fs = yield* FileSystem.FileSystem
      const { args, dir, file } = yield* job
      const spoilt = change(yield* fs.readFile(file))
      yield* fs.writeFile(file, spoilt)
      for (const { line, status } of yield* tell(args, dir)) {
        assert.strictEqual(status, 1)
        assert.match(line, expected)
        assert.include(line, file)
      }
      assert.strictEqual(Buffer.compare(yield* fs.readFile(file), spoilt), 0)
    })
  }

  for (const [whose, statement, expected] of [
    [
      "a newer version",
      "INSERT INTO prefstream_migration (migration_id, name) VALUES (9, 'of_the_future')",
      /version 9.* install a newer prefstream/,
    ],
    [
      "an unreleased version, with other tables or another form of the votes' kinds,",
      "UPDATE prefstream_migration SET name = 'spending' WHERE migration_id = 2",
      /the ledger has the tables of another, unreleased version of prefstream/,
    ],
  ] as const) {
    test(`where ${whose} wrote it`, function* () {
      const { args, dir, file } = yield* job
      execute(file, statement)
      for (const { line, status } of yield* tell(args, dir)) {
        assert.strictEqual(status, 1)
        assert.match(line, expected)
      }
    })
  }

  test("where it is another program's database", function* () {
    const fs = yield* FileSystem.FileSystem
    const { args, dir } = yield* job
    yield* fs.copyFile(`${dir}/service.db`, `${dir}/other.db`)
    const other = ["--ledger", `${dir}/other.db`]
    for (const command of [args, ["status", "--dir", dir], ["ledger", "check"], ["ledger", "prune"]]) {
      yield* cli([...command, ...other]).pipe(
        ends(1, /^prefstream: this database is not the ledger, but has other tables/m),
      )
    }
  })

  test("where another program has locked it: the same command goes on when that is done", function* () {
    const { args, file } = yield* job
    const other = new DatabaseSync(file)
    other.exec("BEGIN IMMEDIATE")
    yield* cli(args).pipe(ends(1, /ledger\.db: another program has locked the file/))
    other.close()
    assert.strictEqual((yield* cli(args)).status, 0)
  })

  test("where its folder is gone, or a file", function* () {
    const fs = yield* FileSystem.FileSystem
    const { args, directory } = yield* job
    yield* cli([...args, "--new-ledger", "--ledger", `${directory}/gone/ledger.db`]).pipe(
      ends(1, /gone\/ledger\.db: cannot open the file: .*in an existing folder/),
    )
    yield* fs.writeFileString(`${directory}/file`, "")
    yield* cli(["run", sample, "--dir", `${directory}/file`]).pipe(
      ends(2, /--dir: expected a folder, found the file .*\/file/),
    )
  })
})

describe.skipIf(SmallDisk.unavailable)("a read-only file system", () => {
  test("may be looked at, and is not worked", function* () {
    const fs = yield* FileSystem.FileSystem
    const { args, dir, directory } = yield* job
    const disk = yield* Effect.acquireRelease(
      Effect.sync(() => SmallDisk.make("8m")),
      (disk) => Effect.sync(disk.remove),
    )
    const place = `${disk.path}/job`
    yield* fs.copy(dir, place)
    disk.grow("8m,ro")
    const there = args.map((arg) => (arg === dir ? place : arg))
    yield* cli([...there, "--ledger", `${place}/ledger.db`]).pipe(ends(1, /: the file system is read-only$/m))
    yield* cli(["status", "--dir", place]).pipe(ends(0))
    assert.match((yield* cli(["ledger", "check", "--dir", place])).stdout, /has no integrity errors: 72 items/)
    yield* cli(["ledger", "backup", `${directory}/copy.db`, "--dir", place]).pipe(ends(0))
    for (const verb of ["prune", "compact"]) {
      assert.strictEqual(said(yield* cli(["ledger", verb, "--dir", place]), /the file system is read-only/), 1)
    }
  })
})

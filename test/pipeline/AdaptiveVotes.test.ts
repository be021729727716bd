/** `--votes 2..5 --confidence …`: further votes where the votes so far leave doubt, through the real ledger. */
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { Preview } from "../../src/pipeline/Preview.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { drawn } from "../support/cases.ts"
import { cli, ends, jsonIn, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { describePostgres } from "../support/describePostgres.ts"
import { started } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const items = 60
/** The price of a vote is 0.1, and the budget is half a vote more than that of so many. */
const affordable = 2 * items + 17
const budget = (affordable / 10 + 0.05).toFixed(2)
const columns = "seq, vote, item_count, batch, state, idempotency_key"
const accuracies = [0.6, 0.7, 0.8, 0.9, 0.95]

/** From 0 to below 1, by the text alone. */
const chance = (text: string) => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32

/** The first expert by chance who has not judged the item; it is right by chance, too. */
const judging = () => {
  const judged = new Map<string, Array<string>>()
  const bodies = new Map<string, unknown>()
  const ids = new Map<unknown, string>()
  const answer = (request: ScriptedService.Received, before: ReadonlyArray<ScriptedService.Received>) => {
    if (request.method === "GET") {
      const id = request.path.split("/").at(-1)!
      return { status: 200, body: { task_id: id, status: "completed", results: bodies.get(id) } }
    }
    const key = request.headers["idempotency-key"]
    const known = ids.get(key)
    if (known !== undefined) return { status: 200, body: { task_id: known, status: "pending" } }
    const id = `task_${before.filter(({ method }) => method === "POST").length}`
    ids.set(key, id)
    const { prompts } = JSON.parse(request.body) as TaskRequest
    bodies.set(
      id,
      prompts.map(({ completions, prompt }) => {
        const had = judged.get(prompt) ?? []
        const order = accuracies.toSorted((a, b) => chance(`${prompt}:${a}`) - chance(`${prompt}:${b}`))
        const accuracy = order[had.length]!
        judged.set(prompt, [...had, `expert ${accuracy}`])
        const isRight = chance(`vote ${prompt}:${accuracy}`) < accuracy
        const choice = completions.findIndex((text) => text.startsWith("right") === isRight)
        return {
          prompt,
          best_completion_index: choice,
          annotations: { votes: [{ expert: `expert ${accuracy}`, choice }] },
        }
      }),
    )
    return { status: 201, body: { task_id: id, status: "pending" } }
  }
  return { answer, judged }
}

const prepared = Effect.gen(function* () {
  const dir = yield* temporaryDirectory
  const { answer, judged } = judging()
  const service = yield* ScriptedService.make(answer)
  yield* write(
    `${dir}/items.jsonl`,
    Array.from({ length: items }, (_, i) => ({
      id: `item-${i}`,
      prompt: `prompt ${i}`,
      completions: [`right ${i}`, `wrong ${i}`],
    })),
  )
  const say = (command: string, ...flags: ReadonlyArray<string>) =>
    cli(
      [command, `${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "7", ...quick, "--json", ...flags],
      to(service),
    )
  const rows = () => {
    const db = new DatabaseSync(`${dir}/job/ledger.db`, { readOnly: true })
    try {
      return db.prepare(`SELECT ${columns} FROM task ORDER BY seq`).all()
    } finally {
      db.close()
    }
  }
  const check = cli(["ledger", "check", "--dir", `${dir}/job`])
  const votes = () => [...judged.values()].reduce((sum, { length }) => sum + length, 0)
  return { dir, say, rows, check, votes, judged, service }
})

const range = ["--votes", "2..5", "--confidence", "0.9"]
const flags = [...range, "--aggregate", "dawid-skene"]

describe("--votes N..M", () => {
  test("each item gets the least, and more where its votes leave doubt; the dataset has all of them", function* () {
    const { check, dir, judged, rows, say, votes } = yield* prepared
    const said = yield* say("run", ...flags).pipe(ends(0))
    const report = reportOf(said)
    const given = [...judged.values()].map(({ length }) => length)
    assert.strictEqual(given.length, items)
    assert.isAtLeast(Math.min(...given), 2)
    assert.isAtMost(Math.max(...given), 5)
    assert.isAbove(new Set(given).size, 2, "all items had alike votes")
    assert.isBelow(votes(), 5 * items)
    assert.strictEqual(report.tasks.completed.items, votes())
    assert.strictEqual(report.dataset?.rows, items)
    const table = yield* cli(["export-votes", "--dir", `${dir}/job`, "--pseudonyms"])
    yield* write(`${dir}/votes.jsonl`, [table.stdout.trimEnd()])
    yield* cli(["verify", `${dir}/job/dataset`, "--from-votes", `${dir}/votes.jsonl`]).pipe(ends(0))
    // No expert judged an item twice, so that every vote counts.
    for (const experts of judged.values()) assert.strictEqual(new Set(experts).size, experts.length)
    yield* check.pipe(ends(0))
    // Settled: another run plans nothing.
    const settled = votes()
    const runAgain = say("run", ...flags).pipe(ends(0))
    yield* runAgain
    assert.strictEqual(votes(), settled)
    // The same ledger comes to the same votes, whether one run waits or many collect once.
    const nightly = yield* prepared
    for (let night = 0; night < 40; night++) {
      const { status } = yield* nightly.say("run", ...flags, "--once")
      assert.include([0, 3], status)
      if (status === 0) break
    }
    assert.deepStrictEqual(nightly.rows(), rows())
    // Items may want another vote until that is known, also where a process was killed before it was.
    const database = new DatabaseSync(`${dir}/job/ledger.db`)
    database.exec("DELETE FROM setting WHERE name LIKE 'votes_%'")
    database.close()
    const status = cli(["status", "--dir", `${dir}/job`])
    const unknown = yield* status.pipe(ends(3))
    assert.include(unknown.stdout, "Items may need further votes. Next: to request these votes, run prefstream submit")
    yield* say("submit").pipe(ends(0))
    assert.strictEqual(votes(), settled)
    yield* status.pipe(ends(0))
  })

  test("the budget holds for further votes, exactly; raised, they go on", function* () {
    const { dir, say, votes } = yield* prepared
    const least = yield* say("run", ...flags, "--price", "0.1", "--budget", budget).pipe(ends(8))
    assert.strictEqual(votes(), affordable)
    const { spending } = reportOf(least)
    assert.deepStrictEqual(spending?.left, { votes: 0, cost: "0.05" })
    assert.isAbove(spending?.over_budget.votes ?? 0, 0)
    assert.include(least.stderr, "another vote")
    const told = yield* cli(["status", "--dir", `${dir}/job`])
    assert.include(told.stdout, "more votes are needed, but the budget does not cover them: ")
    // Without a range, no item wants further votes, whatever a run before noted.
    yield* say("run", "--votes", "3", "--aggregate", "dawid-skene", "--budget", `${(affordable + 1) / 10}`).pipe(
      ends(0),
    )
    yield* say("run", ...flags, "--budget", "none").pipe(ends(0))
    assert.isAbove(votes(), affordable)
  })

  test("submit plans further votes on what was collected since", function* () {
    const { dir, say, service, votes } = yield* prepared
    yield* say("submit", ...range)
    assert.strictEqual(votes(), 2 * items)
    yield* say("submit", ...range)
    assert.strictEqual(votes(), 2 * items)
    const collect = () => cli(["collect", "--dir", `${dir}/job`, ...quick], to(service))
    const status = Effect.map(cli(["status", "--dir", `${dir}/job`]), ({ status }) => status)
    const collected = yield* collect().pipe(ends(3))
    assert.match(
      collected.stdout,
      /^Items need further votes\. Next: to request these votes, run prefstream submit --dir \S+ with the same input\.$/m,
    )
    assert.match(collected.stdout, /^ +\d+ items need another vote$/m)
    assert.strictEqual(yield* status, 3)
    // The job keeps the confidence.
    assert.strictEqual((yield* say("submit")).status, 0)
    const further = votes()
    assert.isAbove(further, 2 * items)
    // Until these are in, no more than a quarter wait.
    yield* say("submit")
    assert.strictEqual(votes(), further)
    for (let times = 0; (yield* collect()).status === 3 && times < 40; times++) yield* say("submit")
    assert.strictEqual((yield* collect()).status, 0)
    assert.strictEqual(yield* status, 0)
    assert.isAbove(votes(), further)
  })

  test("a dry run tells votes, requests and costs as at least and at most", function* () {
    const { dir, say, service, votes } = yield* prepared
    yield* write(`${dir}/gold.jsonl`, [
      { prompt: "known", completions: ["right", "wrong"], gold: { best_completion_index: 0 } },
    ])
    const preview = Effect.fnUntraced(function* (...more: ReadonlyArray<string>) {
      const preview: Preview = jsonIn(yield* say("submit", "--dry-run", ...more))
      return preview.in_all
    })
    const tasks = 2 * Math.ceil(items / 7)
    assert.deepStrictEqual(yield* preview(...range, "--price", "0.5"), {
      votes: { min: 2 * items, max: 5 * items },
      requests: { min: tasks, max: tasks + 3 * items },
      cost: { min: "60.0", max: "150.0" },
      people: null,
    })
    const inWords = yield* cli(
      ["submit", `${dir}/items.jsonl`, "--dir", `${dir}/job`, "--dry-run", ...range, "--price", "0.5"],
      to(service),
    )
    assert.match(
      inWords.stdout,
      /^ *in all +at least 120, at most 300 votes, depending on the results\n.*requests\n +cost at least 60\.0, at most 150\.0$/m,
    )
    // A gold item has the least; and the budget ends all.
    const gold = yield* preview(...range, "--gold", `${dir}/gold.jsonl`)
    assert.deepStrictEqual(gold?.votes.max, 3 * items + gold!.votes.min)
    assert.isAbove(gold!.votes.min, 2 * items)
    const within = yield* preview(...range, "--price", "0.5", "--budget", "100")
    assert.deepStrictEqual([within?.votes.max, within?.cost?.max], [200, "100.0"])
    // Those that a cheaper kind of expert gives leave room for others.
    const byKind = yield* preview(...range, "--price", "0.5", "--price", "judge=0.1", "--budget", "100")
    assert.deepStrictEqual(byKind?.votes, { min: 2 * items, max: 5 * items })
    assert.deepStrictEqual(byKind?.cost, { min: "12.0", max: "100" })
    const cheap = yield* preview(...range, "--price", "0.25", "--price", "judge=0.2", "--budget", "50")
    assert.deepStrictEqual([cheap?.votes.max, cheap?.cost?.max], [250, "50"])
    assert.isNull(yield* preview("--votes", "3"))

    yield* say("submit", ...range)
    assert.deepStrictEqual((yield* preview())?.votes, { min: 0, max: 3 * items })
    yield* say("run", ...range, "--once")
    const wanting = yield* preview()
    assert.isBelow(wanting!.votes.max, 3 * items)
    const given = votes()
    yield* say("run", ...range)
    // What it had wanted, and what it might want of items that waited.
    assert.isAbove(votes(), given)
    assert.deepStrictEqual((yield* preview())?.votes, { min: 0, max: 0 })
    assert.isNull(yield* preview("--votes", "3"))
  })
})

describePostgres("--votes N..M of workers", (server) => {
  const ofWorkers = ["--batch-size", "7", "--parts", "8", "--lease", "5s", "--idempotency-key", "honored"]

  /** Two workers over a new ledger, and what it says. */
  const crew = Effect.fnUntraced(function* (...more: ReadonlyArray<string>) {
    const { dir, service, votes } = yield* prepared
    const schema = server.newSchema()
    const env = { ...to(service), PREFSTREAM_LEDGER: server.url(schema) }
    const begin = Effect.fnUntraced(function* (folder: string) {
      const settings = [...quick, ...range, ...ofWorkers, ...more]
      const args = ["worker", `${dir}/items.jsonl`, "--dir", `${dir}/${folder}`, ...settings]
      const { child, ended, talks } = yield* started(args, env)
      const said = yield* Effect.promise(() => talks(/^Worker \S+/m))
      return { child, ended, talks, name: /^Worker (\S+)/m.exec(said)![1]! }
    })
    const workers = [yield* begin("one"), yield* begin("two")] as const
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => server.connect(schema)),
      ({ close }) => Effect.promise(close),
    )
    const ask = (statement: string) => Effect.promise(() => database.value(statement))
    const until = <E, R>(isSo: Effect.Effect<boolean, E, R>) =>
      Effect.delay(isSo, Duration.millis(500)).pipe(Effect.repeat({ until: Boolean }))
    return {
      votes,
      workers,
      reader: Effect.map(ask("SELECT owner FROM part_owner WHERE part = -1"), (owner) =>
        workers.find(({ name }) => name === owner),
      ),
      /** One row per line, as `ofRun` gives them. */
      rows: Effect.map(
        Effect.promise(() => database.rows(`SELECT ${columns} FROM task ORDER BY seq`)),
        (rows) => rows.map((values) => values.join("|")).join("\n"),
      ),
      collected: (votes: number) =>
        until(
          Effect.map(
            ask("SELECT SUM(item_count) FROM task WHERE state = 'completed'"),
            (sum) => String(sum) === String(votes),
          ),
        ),
      /** Waits until `status` says that the job has ended so. */
      ends: (expected: number) => until(Effect.map(cli(["status"], env), ({ status }) => status === expected)),
      check: cli(["ledger", "check"], env),
    }
  })

  const ofRun = Effect.fnUntraced(function* (...more: ReadonlyArray<string>) {
    const { rows, say, votes } = yield* prepared
    const { status } = yield* say("run", ...flags, "--idempotency-key", "honored", ...more)
    return {
      status,
      votes: votes(),
      rows: rows()
        .map((row) => Object.values(row).join("|"))
        .join("\n"),
    }
  })

  test("the votes of one run within the budget, exactly, whichever worker reads", function* () {
    const limit = ["--price", "0.1", "--budget", budget]
    const alone = yield* ofRun(...limit)
    assert.deepStrictEqual([alone.status, alone.votes], [8, affordable])
    const it = yield* crew(...limit)
    yield* it.collected(alone.votes)
    yield* it.ends(8)
    assert.strictEqual(it.votes(), alone.votes)
    assert.strictEqual(yield* it.rows, alone.rows)
    assert.strictEqual((yield* it.check).status, 0)
  })

  const moments: ReadonlyArray<
    readonly [name: string, wait: (it: Effect.Success<ReturnType<typeof crew>>) => Effect.Effect<unknown>]
  > = [
    ["is about to plan", ({ collected }) => collected(2 * items)],
    [
      "has planned",
      ({ workers }) =>
        Effect.promise(() => Promise.race(workers.map(({ talks }) => talks(/planned \d+ further votes/)))),
    ],
  ]
  for (const [name, wait] of drawn(moments)) {
    test(`another worker takes over from one that is killed when it ${name}: the same votes`, function* () {
      const alone = yield* ofRun()
      const it = yield* crew()
      yield* wait(it)
      const reader = yield* it.reader
      assert.isDefined(reader)
      reader.child.kill("SIGKILL")
      yield* Effect.promise(() => reader.ended)
      yield* it.ends(0)
      assert.notStrictEqual(yield* it.reader, reader)
      assert.strictEqual(yield* it.rows, alone.rows)
      assert.strictEqual(it.votes(), alone.votes)
    })
  }
})

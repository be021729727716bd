/**
 * `run --people-when 'jury<0.9'` against the service, with judges behind a model's protocol and people at the pages: who is
 * asked what, for how much, and what the reports say. The numbers are counted again from the table of votes.
 */
import { DatabaseSync } from "node:sqlite"
import { createHash } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Audit } from "../../src/domain/Audit.ts"
import type { VoteRow } from "../../src/domain/VoteRow.ts"
import type { Preview } from "../../src/pipeline/Preview.ts"
import { build, platform, token } from "../service/support.ts"
import { cheap, joined, signedIn } from "../service/web/support.ts"
import { cli, ends, folderWithItems, jsonIn, printed, quick, reportOf, to, votesOf, write } from "../support/cli.ts"
import { liveOver } from "../support/effectTest.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const test = liveOver(platform)

/** From 0 to below 1, by the text alone. */
const chance = (text: string) => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32

/** On a hard item, judges say what comes to them; on the others, they are right. */
const refusals: { readonly [prompt: string]: ReadonlyArray<string> } = {
  "hopeless 0": ["judge:a", "judge:b", "judge:c"],
  "hopeless 1": ["judge:a", "judge:b", "judge:c"],
  "awkward 2": ["judge:a"],
}

const isHard = (prompt: string) => chance(`hard ${prompt}`) < 0.3

const prefersRight = (who: string, prompt: string, accuracy: number) => chance(`${who}: ${prompt}`) < accuracy

const items = 200
const lines = Array.from({ length: items }, (_, i) => {
  const completions = [`right ${i}`, `wrong ${i}`]
  return { id: `item-${i}`, prompt: `prompt ${i}`, completions: i % 2 === 0 ? completions : completions.toReversed() }
})

const models = ScriptedService.make((request) => {
  const question = JudgeStub.questionOf(request)
  const { model } = JSON.parse(request.body) as { readonly model: string }
  if (refusals[question.prompt]?.includes(`judge:${model}`) === true) return JudgeStub.says("I would rather not.")
  const isRight = prefersRight(model, question.prompt, isHard(question.prompt) ? 0.5 : 0.995)
  return JudgeStub.verdict(question.completions[0].startsWith("right") === isRight ? "A" : "B")
})

const judges = ["judge:a", "judge:b", "judge:c"]
const names = ["Ann", "Bob", "Cem", "Dov"]

/** The service with three judges and four people, who vote on whatever they are shown until the test ends. */
const service = Effect.fnUntraced(function* (experts: ReadonlyArray<string> = judges, people = names) {
  const { baseUrl } = yield* models
  const { base, services } = yield* build({ experts, judge: { baseUrl }, undoGrace: 0 })
  const operator = yield* cheap(signedIn({ base, services }))
  for (const name of people) {
    const person = yield* joined(base, operator, name)
    const work = Effect.gen(function* () {
      let { json } = yield* person.ask("POST", "/annotate/api/next", {})
      while (json?.item) {
        const { completions, item_id, prompt } = json.item as {
          readonly completions: ReadonlyArray<string>
          readonly item_id: number
          readonly prompt: string
        }
        const isRight = prefersRight(name, prompt, 0.95)
        const best = completions.findIndex((text) => text.startsWith("right") === isRight)
        const ranking = chance(`rank ${prompt}`) < 0.8 ? [[best], [1 - best]] : null
        const vote = { best, ranking, rationale: "", seconds: 1 }
        json = (yield* person.ask("POST", `/annotate/api/items/${item_id}/vote`, vote)).json
      }
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(work, "20 millis")))
  }
  const env = { PREFSTREAM_BASE_URL: `${base}/v1`, PREFSTREAM_TOKEN: Redacted.value(token) }
  const dir = yield* folderWithItems(lines)
  const say = (command: string, ...flags: ReadonlyArray<string>) =>
    cli([command, `${dir}/items.jsonl`, "--dir", `${dir}/job`, "--batch-size", "10", ...quick, ...flags], env)
  return { base, dir, env, say, votes: votesOf(`${dir}/job`) }
})

const prices = ["--price", "0.30", "--price", "judge=0.005"]
const rule = ["--votes", "3..6", "--people-when", "jury<0.9"]

const kindsOf = (votes: ReadonlyArray<VoteRow>) => ({
  judges: votes.filter(({ kind }) => kind === "judge"),
  people: votes.filter(({ kind }) => kind === "person"),
})

/** Cohen's kappa of each judge with a person, each item of the same weight: written from the definition alone. */
const kappaOf = (votes: ReadonlyArray<VoteRow>, judge: string) => {
  const cells = new Map<string, number>()
  const add = (cell: string, weight: number) => cells.set(cell, (cells.get(cell) ?? 0) + weight)
  let total = 0
  for (const [, of] of Map.groupBy(votes, ({ item_id }) => item_id)) {
    const own = of.find(({ expert }) => expert === judge)
    const { people } = kindsOf(of)
    if (own === undefined || people.length === 0) continue
    total++
    for (const { chosen_index } of people) {
      add(`judge ${own.chosen_index}`, 1 / people.length)
      add(`person ${chosen_index}`, 1 / people.length)
      if (chosen_index === own.chosen_index) add("same", 1 / people.length)
    }
  }
  const share = (cell: string) => (cells.get(cell) ?? 0) / total
  const byChance = [0, 1].reduce((sum, index) => sum + share(`judge ${index}`) * share(`person ${index}`), 0)
  return (share("same") - byChance) / (1 - byChance)
}

describe("--people-when", () => {
  test("judges vote on all items, people on a sample and where the jury is uncertain; reports and audit say so", function* () {
    const { dir, env, say, votes } = yield* service()
    const preview: Preview = jsonIn(yield* say("run", ...rule, ...prices, "--dry-run", "--json"))
    assert.deepStrictEqual(preview.in_all, {
      votes: { min: 600, max: 1200 },
      requests: { min: 20, max: 620 },
      cost: { min: "3.000", max: "183.000" },
      people: { votes: 600, cost: "180.00" },
    })
    const report = reportOf(yield* say("run", ...rule, ...prices, "--json").pipe(ends(0)))
    const { judges: ofJudges, people } = kindsOf(yield* votes)
    assert.strictEqual(ofJudges.length + people.length, (yield* votes).length)
    const byJudges = Map.groupBy(ofJudges, ({ item_id }) => String(item_id))
    assert.strictEqual(byJudges.size, items)
    for (const [id, of] of byJudges)
      assert.sameMembers(
        of.map(({ expert }) => expert),
        judges,
        id,
      )
    const byPeople = Map.groupBy(people, ({ item_id }) => String(item_id))
    for (const [id, of] of byPeople) {
      assert.isAtMost(of.length, 3, id)
      assert.strictEqual(new Set(of.map(({ expert }) => expert)).size, of.length, id)
    }
    // Each item on which judges differ, and a part of the others.
    const isSplit = (of: ReadonlyArray<VoteRow>) => new Set(of.map(({ chosen_index }) => chosen_index)).size > 1
    const split = [...byJudges].filter(([, of]) => isSplit(of)).map(([id]) => id)
    assert.isAbove(split.length, 20)
    for (const id of split) assert.isTrue(byPeople.has(id), id)
    assert.isBelow(byPeople.size, items - 20)

    const cost = (people.length * 0.3).toFixed(2)
    assert.deepStrictEqual(report.routing, {
      people_when: "jury<0.9",
      items,
      known_answers: 0,
      to_people: byPeople.size,
      people_votes: people.length,
      people_cost: cost,
    })
    assert.deepStrictEqual(report.spending?.kinds.map(({ cost, kind, votes }) => [kind, votes, cost]).toSorted(), [
      ["judge", 3 * items, "3.000"],
      ["person", people.length, cost],
    ])
    const status = yield* cli(["status", "--dir", `${dir}/job`]).pipe(ends(0))
    assert.include(status.stdout, `${byPeople.size} of 200 items to people by jury<0.9: ${people.length} votes`)

    // The dataset has each item; where a person and the jury's pattern differ, not just the number of votes counts.
    assert.strictEqual(report.dataset?.rows, items)
    // Settled: another run asks nobody.
    yield* say("run", ...rule).pipe(ends(0))
    assert.strictEqual((yield* votes).length, 3 * items + people.length)

    const audit = yield* printed<Audit>(["audit", "--dir", `${dir}/job`])
    for (const judge of judges) {
      const kappa = audit.raters.find(({ rater }) => rater === judge)?.agreement?.kappa?.value
      assert.closeTo(kappa!, kappaOf(yield* votes, judge), 1e-9)
    }
    yield* cli(["ledger", "check", "--dir", `${dir}/job`], env).pipe(ends(0))
  }, 120_000)

  test("items that no judge answers go to people, and hold up no other item", function* () {
    const { dir, votes, ...run } = yield* service()
    const prompts = [...Object.keys(refusals), ...Array.from({ length: 9 }, (_, i) => `prompt ${i}`)]
    const file = prompts.map((prompt, i) => ({ id: prompt, prompt, completions: [`right ${i}`, `wrong ${i}`] }))
    yield* write(`${dir}/items.jsonl`, file)
    const report = reportOf(yield* run.say("run", ...rule, ...prices, "--json").pipe(ends(0)))
    const byItem = Map.groupBy(yield* votes, ({ item_id }) => String(item_id))
    assert.sameMembers([...byItem.keys()], prompts)
    for (const [prompt, refusing] of Object.entries(refusals)) {
      const { judges: ofJudges, people } = kindsOf(byItem.get(prompt)!)
      assert.sameMembers(
        ofJudges.map(({ expert }) => expert),
        judges.filter((judge) => !refusing.includes(judge)),
      )
      if (ofJudges.length === 0) assert.isAtLeast(people.length, 1)
    }
    assert.strictEqual(report.dataset?.rows, prompts.length)
    // Votes that judges did not give cost a judge's price, and are known to be theirs.
    assert.deepStrictEqual(
      report.spending?.kinds.map(({ kind }) => kind).toSorted(),
      ["judge", "person"],
      JSON.stringify(report.spending),
    )
    const charge = report.spending?.kinds.find(({ kind }) => kind === "judge")
    assert.deepInclude(charge, { votes: 3 * prompts.length, cost: (0.015 * prompts.length).toFixed(3) })
    assert.strictEqual(
      report.routing?.to_people,
      [...byItem.values()].filter((of) => kindsOf(of).people.length > 0).length,
    )
  }, 60_000)

  test("items with a known answer stay with the judges, and the summary counts them", function* () {
    const { dir, votes, ...run } = yield* service()
    const known = lines.slice(0, 40).map((line, i) => {
      const gold = i % 3 === 0 ? { gold: { best_completion_index: i % 2 } } : {}
      return { ...line, ...gold }
    })
    yield* write(`${dir}/items.jsonl`, known)
    const { stdout } = yield* run.say("run", ...rule).pipe(ends(0))
    assert.match(stdout, /^ +14 items have a known answer: used to measure the judges, and not sent to people$/m)
    const ofPeople = new Set(kindsOf(yield* votes).people.map(({ item_id }) => Number(item_id?.replace("item-", ""))))
    assert.isAbove(ofPeople.size, 5)
    assert.deepStrictEqual(
      [...ofPeople].filter((i) => i % 3 === 0),
      [],
    )
    assert.match((yield* cli(["status", "--dir", `${dir}/job`])).stdout, /14 items have a known answer/)
  }, 60_000)

  test("the dataset's bytes come back from its votes, also where judges have no answer and rankings tie", function* () {
    const { dir, ...run } = yield* service()
    const prompts = [...Object.keys(refusals), ...Array.from({ length: 37 }, (_, i) => `prompt ${i}`)]
    const file = prompts.map((prompt, i) => {
      const gold = i % 5 === 1 ? { gold: { best_completion_index: 0 } } : {}
      return { id: `i${i}`, prompt, completions: [`right ${i}`, `wrong ${i}`], ...gold }
    })
    yield* write(`${dir}/items.jsonl`, file)
    const { stdout } = yield* run.say("run", ...rule, "--format", "trl").pipe(ends(0))
    // A known answer needs no people, so nobody votes on this item.
    assert.match(stdout, /left out +1 item: 1 unanswered$/m)
    const job = ["--dir", `${dir}/job`]
    for (const [flags, format] of [
      [[], "jsonl"],
      [["--ties", "keep", "--pairs", "full-ranking"], "csv"],
    ] as const) {
      yield* cli(["export", ...job, ...flags]).pipe(ends(0))
      const { stdout } = yield* cli(["export-votes", ...job, "--as", format, "--pseudonyms"]).pipe(ends(0))
      yield* write(`${dir}/votes`, [stdout.trimEnd()])
      const verified = yield* cli(["verify", `${dir}/job/dataset`, "--from-votes", `${dir}/votes`]).pipe(ends(0))
      assert.notInclude(verified.stdout, "warning")
      assert.match(verified.stdout, /Rebuilt \d+ files from \d+ votes: same rows as in the dataset\.\n$/)
    }
  }, 60_000)

  test("the budget holds exactly: judges at their price, people at theirs", function* () {
    const { dir, say, votes } = yield* service()
    // 3 for judges; 20 votes of people, and half of one.
    const said = yield* say("run", ...rule, ...prices, "--budget", "9.15", "--json").pipe(ends(8))
    const { judges: ofJudges, people } = kindsOf(yield* votes)
    assert.deepStrictEqual([ofJudges.length, people.length], [600, 20])
    const { spending } = reportOf(said)
    assert.deepStrictEqual([spending?.spent.cost, spending?.left], ["9.000", { votes: 0, cost: "0.150" }])
    const database = new DatabaseSync(`${dir}/job/ledger.db`, { readOnly: true })
    const rows = database
      .prepare("SELECT voters, SUM(item_count * asks) AS votes FROM task GROUP BY 1 ORDER BY 1")
      .all()
    database.close()
    assert.deepStrictEqual(
      rows.map(({ voters, votes }) => [voters, votes]),
      [
        ["judges", 600],
        ["people", 20],
      ],
    )
  }, 120_000)

  test("a budget below the judges' price leaves out items", function* () {
    const { say } = yield* service(judges, [])
    const said = yield* say("submit", ...rule, ...prices, "--budget", "1.52", "--json").pipe(ends(8))
    const { spending } = reportOf(said)
    assert.deepStrictEqual(spending?.committed, { votes: 303, cost: "1.515" })
    assert.deepStrictEqual(spending?.over_budget, { items: 99, votes: 297, cost: "1.485" })
  }, 60_000)

  test("refuses what it cannot do before anything is sent", function* () {
    const { dir, say } = yield* service([], [])
    yield* say("run", "--votes", "3", "--people-when", "jury<0.9").pipe(
      ends(2, /--people-when requires --votes N\.\.M with M above N, such as --votes 3\.\.6/),
    )
    yield* say("run", "--votes", "3..3", "--people-when", "jury<0.9").pipe(ends(2, /M above N/))
    for (const wrong of ["0.9", "jury<0", "jury<1.5", "people<0.9", "jury>0.9"]) {
      yield* say("run", "--votes", "3..6", "--people-when", wrong).pipe(ends(2, /jury<SHARE/))
    }
    const other = yield* ScriptedService.make(ScriptedService.obliging)
    const args = ["run", `${dir}/items.jsonl`, "--dir", `${dir}/other`, ...rule, ...quick]
    yield* cli(args, to(other)).pipe(
      ends(
        2,
        /--people-when requires a service that declares `?voters`? for a task in its openapi\.json, but http\S+ does not/,
      ),
    )
    assert.lengthOf(other.received, 0)

    const properties = { voters: { type: "string" }, votes: { type: "integer", maximum: 2 } }
    const content = { "application/json": { schema: { properties } } }
    const document = { paths: { "/tasks": { post: { requestBody: { content } } } } }
    const small = yield* ScriptedService.make(ScriptedService.obliging, {}, document)
    const ofTwo = ["run", `${dir}/items.jsonl`, "--dir", `${dir}/small`, ...quick]
    yield* cli([...ofTwo, ...rule], to(small)).pipe(
      ends(
        2,
        /--people-when requires a service that accepts 3 votes in one task, .* allows at most 2 votes for a task/,
      ),
    )
    assert.lengthOf(small.received, 0)
  })
})

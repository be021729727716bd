/** The flags that say how items are put to the experts. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, ends, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const gold = (n: number) =>
  Array.from({ length: n }, (_, i) => ({
    prompt: `gold ${i}`,
    completions: ["right", "wrong"],
    gold: { best_completion_index: 0 },
  }))

describe("submit", () => {
  test("--votes, --gold, --no-shuffle: so many tasks of each item, gold items among them, as in the input; and says so", function* () {
    const job = yield* folderWithItems(20)
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    yield* write(`${job}/gold.jsonl`, gold(30))
    const asking = ["--votes", "3", "--gold", `${job}/gold.jsonl`, "--gold-rate", "0.5", "--no-shuffle"]
    const flags = [`${job}/items.jsonl`, "--dir", job, "--batch-size", "10", "--requests-per-second", "1000", ...asking]
    const report = reportOf(yield* cli(["submit", ...flags, "--json"], to(service)))
    assert.deepInclude(report, { read: 20, submitted: 20, votes: 3, gold: 20 })
    assert.deepStrictEqual(report.tasks.submitted, { tasks: 12, items: 120 })
    const prompts = ScriptedService.promptsIn(service)
    assert.strictEqual(prompts.filter(({ prompt }) => prompt.startsWith("gold")).length, 60)
    for (const { completions, prompt } of prompts) {
      assert.strictEqual(completions[0], prompt.startsWith("gold") ? "right" : prompt.replace("prompt", "a"))
    }
    const { stdout } = yield* cli(["status", "--dir", job])
    assert.match(
      stdout,
      /tasks +12 submitted \(120 votes\)\n +votes +up to 3 per item.*\n +gold +20 gold items mixed in/,
    )
  })

  test("shuffles by default; another seed shuffles otherwise", function* () {
    const lines = itemLines(50)
    const sent = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
      const job = yield* folderWithItems(lines)
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const args = [`${job}/items.jsonl`, "--dir", job, ...quick.slice(4), ...flags, "--json"]
      assert.deepInclude(reportOf(yield* cli(["submit", ...args], to(service))), { submitted: 50, votes: 1, gold: 0 })
      return ScriptedService.promptsIn(service).filter(({ completions }) => completions[1] === "b").length
    })
    const [byDefault, other, unshuffled] = [
      yield* sent(),
      yield* sent("--shuffle-seed", "1"),
      yield* sent("--no-shuffle"),
    ]
    assert.strictEqual(unshuffled, 50)
    // Each of 50 tossed coins: between 10 and 40 heads but once in 100,000 times; these seeds are always the same.
    for (const n of [byDefault, other]) assert.isTrue(n > 10 && n < 40, String(n))
  })

  const wrong: ReadonlyArray<readonly [flags: string, says: RegExp, goldLines?: ReadonlyArray<unknown>]> = [
    ["--gold-rate 0.1", /--gold-rate requires --gold/],
    ["--gold GOLD --gold-rate 0.6", /gold-rate/, gold(1)],
    ["--gold GOLD --gold-rate 0", /gold-rate/, gold(1)],
    ["--votes 0", /votes/],
    ["--no-shuffle --shuffle-seed 1", /--shuffle-seed cannot be combined with --no-shuffle/],
    ["--gold GOLD", /gold\.jsonl:2: gold: expected the right answer, found nothing; set "gold" to/, [...gold(1), ...itemLines(1)]],
    ["--gold GOLD", /gold\.jsonl:1: gold\.best_completion_index: expected an index below 2, found 2/, ['{"prompt":"p","completions":["a","b"],"gold":{"best_completion_index":2}}']],
    ["--gold GOLD", /gold\.jsonl:1: .*expected a name/, ["{x}"]],
    ["--gold GOLD", /gold\.jsonl: expected items, found none/, [""]],
  ] // prettier-ignore
  for (const [flags, says, goldLines = []] of wrong) {
    test(`refuses ${flags}: ${says}`, function* () {
      const job = yield* folderWithItems(1)
      yield* write(`${job}/gold.jsonl`, goldLines)
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const words = flags.replace("GOLD", `${job}/gold.jsonl`).split(" ")
      yield* cli(["submit", `${job}/items.jsonl`, "--dir", `${job}/job`, ...words], to(service)).pipe(ends(2, says))
      assert.deepStrictEqual(service.received, [])
    })
  }
})

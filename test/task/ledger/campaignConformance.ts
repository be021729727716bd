/** What every ledger must do with campaigns: terms under which items are judged, each once. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import { type CampaignTerms, type Run, TaskState } from "../../../src/task/ledger/schema/Model.ts"
import { column } from "../../support/columns.ts"
import {
  batchItem,
  batchItems,
  bring,
  itemsByState,
  newTasks,
  nothing,
  plan,
  recordStep,
  reject,
  split,
  type LedgerTest,
} from "../support.ts"

const kind: CampaignTerms = { guidelines: "Be kind.\nBe brief." }
const strict: CampaignTerms = { guidelines: "Be kind.\nBe strict." }

const states = Ledger.use((ledger) =>
  Effect.map(
    ledger.progress,
    ({ countsOf }) =>
      (campaign: number) =>
        itemsByState(countsOf(campaign)),
  ),
)

export const campaignConformance = (test: LedgerTest) =>
  describe("campaigns", () => {
    test("begin with the first run, and go on with each under the same terms", function* (ledger) {
      assert.deepStrictEqual(yield* ledger.campaigns, [])
      assert.deepStrictEqual(yield* ledger.lastCampaign, Option.none())
      yield* TestClock.setTime(5)
      assert.deepStrictEqual(yield* plan(newTasks([2]), kind), { run: 1, campaign: 1 })
      yield* TestClock.setTime(9)
      assert.deepStrictEqual(yield* ledger.startRun({ ...kind, taskType: "rlhf_ranking" }), { run: 2, campaign: 1 })
      assert.deepStrictEqual(
        (yield* ledger.campaigns).map(({ campaign, guidelines, startedAt, taskType }) => ({
          campaign,
          taskType,
          guidelines,
          startedAt,
        })),
        [{ campaign: 1, taskType: "rlhf_ranking", guidelines: kind.guidelines, startedAt: 5 }],
      )
    })

    const changes: ReadonlyArray<readonly [string, CampaignTerms, CampaignTerms, RegExp]> = [
      ["other guidelines", kind, strict, /line 2 of the guidelines was "Be brief\." and is now "Be strict\."/],
      ["guidelines at last", {}, kind, /guidelines were added: "Be kind\./],
      ["no guidelines any more", kind, {}, /the guidelines were removed: "Be kind\./],
      [
        "a line more",
        kind,
        { guidelines: `${kind.guidelines}\nBe fair.` },
        /line 3 of the guidelines was added: "Be fair\."/,
      ],
      ["a line less", kind, { guidelines: "Be kind." }, /line 2 of the guidelines was removed: "Be brief\."/],
      ["another task type", {}, { taskType: "other" }, /the task type was "rlhf_ranking" and is now "other"/],
      ["a blank", { guidelines: "a b" }, { guidelines: "a  b" }, /the guidelines were "a b" and are now "a  b"/],
      [
        "a letter far in",
        { guidelines: `${"same ".repeat(100)}old` },
        { guidelines: `${"same ".repeat(100)}new` },
        /the guidelines were "….*same old" and are now "….*same new"/,
      ],
    ]
    for (const [what, before, now, message] of changes) {
      test(`${what} is refused, and told, unless a new campaign was asked for`, function* (ledger) {
        const first = yield* plan(newTasks([2]), before)
        const failure = yield* Effect.flip(ledger.startRun(now))
        assert(failure._tag === "TermsChanged")
        assert.match(failure.message, message)
        assert.match(failure.message, /campaign 1\).*`newCampaign: true`/)
        assert.strictEqual((yield* ledger.campaigns).length, 1)
        assert.deepStrictEqual(yield* ledger.startRun({ ...now, newCampaign: true }), { run: 2, campaign: 2 })
        // Asked for once more, it goes on: the same command, every night, begins no third.
        assert.deepStrictEqual(yield* ledger.startRun({ ...now, newCampaign: true }), { run: 3, campaign: 2 })
        // Nothing was read under them: the terms are the first ones still.
        assert.deepStrictEqual(yield* ledger.startRun(before), { ...first, run: 4 })
      })
    }

    test("an earlier campaign is gone back to only where that was asked for", function* (ledger) {
      yield* plan(newTasks([2]), kind)
      yield* plan(newTasks([2], 2), { ...strict, newCampaign: true })
      const failure = yield* Effect.flip(ledger.startRun(kind))
      assert(failure._tag === "TermsChanged")
      assert.deepStrictEqual([failure.campaign, failure.earlier], [2, 1])
      assert.match(
        failure.message,
        /^the settings differ from those of the last run \(campaign 2\).*Campaign 1 already has the new settings\. To continue campaign 1, add `newCampaign: true`/,
      )
      assert.deepStrictEqual(yield* ledger.startRun(strict), { run: 3, campaign: 2 })
      assert.deepStrictEqual(yield* plan(newTasks([1], 4), { ...kind, newCampaign: true }), {
        run: 4,
        campaign: 1,
      })
      // Now it is the other way round.
      assert.strictEqual((yield* Effect.flip(ledger.startRun(strict)))._tag, "TermsChanged")
      assert.deepStrictEqual(yield* ledger.startRun(kind), { run: 5, campaign: 1 })
    })

    test("are the same however their lines end", function* (ledger) {
      yield* plan(newTasks([1]), { guidelines: "Be kind.\nBe brief." })
      for (const guidelines of ["Be kind.\r\nBe brief.\r\n", "Be kind.\nBe brief.\n\n"]) {
        assert.strictEqual((yield* ledger.startRun({ guidelines })).campaign, 1)
      }
      yield* plan(newTasks([1]), { newCampaign: true })
      assert.strictEqual((yield* ledger.startRun({ guidelines: " \n" })).campaign, 2)
    })

    test("under which nothing was planned bind nobody", function* (ledger) {
      const run = yield* ledger.startRun(kind)
      yield* recordStep(run, { read: 1, rejected: 1 }, { rejects: [reject(1)] })
      assert.deepStrictEqual(yield* plan(newTasks([2]), strict), { run: 2, campaign: 1 })
      assert.deepStrictEqual(column(yield* ledger.campaigns, "guidelines"), [strict.guidelines])
      yield* ledger.startRun({ ...kind, newCampaign: true })
      assert.deepStrictEqual(yield* ledger.startRun({ newCampaign: true }), { run: 4, campaign: 2 })
    })

    test("judge each item once each, also one that has other content under its id", function* (ledger) {
      const [a, b] = batchItems(0, 2)
      const changed = batchItem({ ...a!, item: { ...a!.item, prompt: "another prompt" } })
      yield* plan(newTasks([2]), kind)
      const run: Run = yield* ledger.startRun({ ...strict, newCampaign: true })
      assert.deepStrictEqual(yield* ledger.classify(run, [a!, changed, b!]), ["new", "new", "new"])
      yield* ledger.record(run, {
        tasks: newTasks([2]),
        known: [],
        rejects: [],
        counts: { ...nothing, read: 2, new: 2 },
        finished: true,
      })
      assert.deepStrictEqual(yield* ledger.classify(run, [a!, changed]), ["duplicate", "conflict"])
      assert.deepStrictEqual(yield* ledger.classify({ run: 9, campaign: 1 }, [a!]), ["known"])
      assert.strictEqual(yield* ledger.itemsIn(1, TaskState.literals), 2)
      assert.strictEqual(yield* ledger.itemsIn(2, TaskState.literals), 2)
    })

    test("keep what they brought; what was never sent is not sent while another goes on, and what may have been is", function* (ledger) {
      yield* plan(newTasks([1, 1, 1, 1, 1]), kind)
      yield* bring(0, "completed")
      const [second, third] = yield* ledger.plannedAfter(-1)
      yield* ledger.claim(second!)
      yield* ledger.markSubmitted(second!.seq, "task_x", 0)
      yield* ledger.claim(third!)
      yield* ledger.settleInterrupted("planned")
      yield* plan(newTasks([2]), { ...strict, newCampaign: true })
      assert.deepStrictEqual((yield* states)(1), { completed: 1, submitted: 1, planned: 1, superseded: 2 })
      assert.deepStrictEqual((yield* states)(2), { planned: 2 })
      assert.deepStrictEqual(column(yield* ledger.plannedAfter(-1), "seq"), [2, 5])
      yield* ledger.startRun({ ...kind, newCampaign: true })
      assert.deepStrictEqual((yield* states)(1), { completed: 1, submitted: 1, planned: 3 })
      assert.deepStrictEqual((yield* states)(2), { superseded: 2 })
    })

    test("what a person said is to be sent again is sent, in whatever campaign, and split, too", function* (ledger) {
      yield* plan(newTasks([2, 1, 1, 1]), kind)
      const tasks = yield* ledger.plannedAfter(-1)
      yield* Effect.forEach(tasks, ledger.claim)
      yield* ledger.markInDoubt(0, "hm")
      yield* ledger.markRefused(2, "no")
      yield* ledger.markInDoubt(3, "hm")
      yield* ledger.release(4)
      yield* plan(newTasks([1]), { ...strict, newCampaign: true })
      assert.deepStrictEqual((yield* states)(1), { in_doubt: 3, refused: 1, superseded: 1 })
      yield* ledger.giveUp([4])
      yield* ledger.sendAgain([1, 3, 4])
      const wanted = Effect.map(ledger.plannedAfter(-1), (tasks) => tasks.map(({ seq }) => seq))
      assert.deepStrictEqual(yield* wanted, [0, 2, 3, 5])
      yield* ledger.startRun(strict)
      yield* ledger.claim((yield* ledger.plannedAfter(-1))[0]!)
      yield* split(0)
      yield* ledger.startRun(strict)
      assert.deepStrictEqual(yield* wanted, [0, 1, 2, 3, 5])
      // A rule's decision is not a person's.
      yield* ledger.claim((yield* ledger.plannedAfter(1))[0]!)
      yield* ledger.markRefused(2, "no")
      assert.strictEqual(yield* ledger.replan(1, ["refused"], 9), 1)
      yield* ledger.startRun(strict)
      assert.deepStrictEqual(yield* wanted, [0, 1, 3, 5])
    })

    test("are exported one by one, or all, in the order of the items", function* (ledger) {
      yield* plan(newTasks([1, 1]), kind)
      yield* bring(1, "completed")
      yield* plan(newTasks([1, 1]), { ...strict, newCampaign: true })
      yield* bring(3, "completed")
      yield* bring(2, "completed")
      yield* plan([], { ...kind, newCampaign: true })
      const seqsOf = (campaign: Option.Option<number>) =>
        Effect.map(Stream.runCollect(ledger.completedOf(campaign)), (tasks) => tasks.map(({ seq }) => seq))
      assert.deepStrictEqual(yield* seqsOf(Option.some(1)), [1])
      assert.deepStrictEqual(yield* seqsOf(Option.some(2)), [2, 3])
      assert.deepStrictEqual(yield* seqsOf(Option.none()), [1, 2, 3])
      // The last run read nothing: the campaign is that of the last that did.
      assert.deepStrictEqual(yield* ledger.campaignOf(Option.none()), Option.some(2))
      assert.deepStrictEqual(yield* ledger.campaignOf(Option.some(1)), Option.some(1))
      const failure = yield* Effect.flip(ledger.campaignOf(Option.some(3)))
      assert.strictEqual(failure.message, "the ledger has no campaign 3: its campaigns are 1, 2")
    })

    test("a run has an end, unless it was killed", function* (ledger) {
      assert.deepStrictEqual(yield* ledger.newestRun, Option.none())
      yield* TestClock.setTime(5)
      const run = yield* ledger.startRun()
      const begun = { ...run, startedAt: 5, readFinished: false, failure: Option.none() }
      assert.deepStrictEqual(yield* ledger.newestRun, Option.some({ ...begun, endedAt: Option.none() }))
      yield* TestClock.setTime(7)
      yield* ledger.endRun(run)
      assert.deepStrictEqual(yield* ledger.newestRun, Option.some({ ...begun, endedAt: Option.some(7) }))
      yield* ledger.endRun(run, { failure: "why\0" })
      assert.deepStrictEqual(
        yield* ledger.newestRun,
        Option.some({ ...begun, endedAt: Option.some(7), failure: Option.some("why\uFFFD") }),
      )
    })
  })

/**
 * A process is killed (SIGKILL) at each commit point of planning and sending under a budget: no vote is ever beyond it, in
 * the ledger or at the service, and run again, the job comes to what the undisturbed job comes to; also where results cost
 * less than was planned for, and others are planned of what is left.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { drawn } from "../support/cases.ts"
import * as Input from "./support/input.ts"
import type { Moment } from "./fixtures/killAt.ts"
import { finish, type Job, killedAt, killedInTurn, rows, type Trace, watched } from "./support/Job.ts"
import { type Event, momentsOf, points, unexpected } from "./support/points.ts"
import * as Recorded from "./support/Recorded.ts"
import * as RecordingService from "./support/RecordingService.ts"
import * as Room from "./support/Room.ts"

const room = Room.make()
afterAll(room.remove)

const service = await RecordingService.start("honored")
afterAll(service.close)

const pace = ["--concurrency", "2", "--requests-per-second", "1000", "--poll-min", "20ms", "--poll-max", "50ms"]
const maxVotes = 61

/** 30 of 72 items in two votes, and half an item's price left. */
const costs = ["--votes", "2", "--price", "0.40", "--budget", String(maxVotes * 0.4 + 0.2)]

/** Votes of all tasks, counted apart from the code that keeps to the budget. */
const votesIn = ({ book, job }: Recorded.Recorded) => ({
  ledger: rows(job, "SELECT COALESCE(SUM(item_count), 0) AS votes FROM task")[0]!["votes"] as number,
  service: [...book.tasks.values()].reduce((sum, { prompts }) => sum + prompts.length, 0),
})

type Report = Awaited<ReturnType<typeof watched>>

interface Group {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly isWithin: (it: Recorded.Recorded) => void
  /** What else holds of the undisturbed job. */
  readonly check: (it: Recorded.Recorded, report: Report) => void
  /** Whether the service has a document. */
  readonly hasDocument?: boolean
}

/** The jobs of a group: the first one is undisturbed, and the others come to the same. */
const jobsOf = ({ args, check, hasDocument = false, isWithin, name }: Group) => {
  let undisturbed: { readonly trace: Trace; readonly seen: unknown }
  const recorded = (job: string) => {
    const it = Recorded.make({ room, service }, `${name} ${job}`)
    it.book.hasDocument = hasDocument
    return it
  }
  beforeAll(async () => {
    const it = recorded("undisturbed")
    const report = await watched(it.job, args)
    undisturbed = { trace: report.trace, seen: Recorded.seen(it, report) }
    assert.strictEqual(report.exitStatus, 8)
    check(it, report)
    assert.deepStrictEqual(unexpected(report.trace), [])
  })

  /** Tests in which the job is killed at some moments of an event. */
  const killed = (
    outcome: string,
    events: ReadonlyArray<Event>,
    momentsAt: (event: Event, trace: Trace) => ReadonlyArray<Moment>,
    kill: (job: Job, args: ReadonlyArray<string>, moment: Moment) => Promise<unknown> = killedAt,
  ) => {
    for (const event of drawn(events)) {
      it(`${points[event].name}: the budget is kept, ${outcome}`, () =>
        room.inTurn(async () => {
          const it = recorded(event)
          for (const moment of momentsAt(event, undisturbed.trace)) {
            await kill(it.job, args, moment)
            isWithin(it)
          }
          assert.deepStrictEqual(Recorded.seen(it, await finish(it.job, args)), undisturbed.seen)
          isWithin(it)
        }))
    }
  }

  return { killed, recorded, undisturbed: () => undisturbed.seen }
}

const after = (event: Event, ...times: ReadonlyArray<number>) =>
  times.map((nth): Moment => ({ event, when: "after", nth }))

/** The first time and the last time, each if it comes. */
const killedFirstAndLast = ({ killed }: ReturnType<typeof jobsOf>, outcome: string) =>
  killed(
    outcome,
    [
      "task: added planned",
      "task: planned → submitting",
      "http: POST /tasks answered 201",
      "task: submitting → submitted",
      "task: submitted → completed",
    ],
    (event, { totals }) => after(event, 1, totals.get(event)!),
    (job, args, moment) => killedInTurn(job, args, [moment]),
  )

describe("run, with a budget that ends in the middle of a batch", { concurrent: true, timeout: 600_000 }, () => {
  const file = Input.write(`${room.folder}/input.jsonl`, { misfits: false })
  const args = ["run", file, "--batch-size", "4", ...pace, ...costs, "--idempotency-key", "honored"]
  const { killed, recorded } = jobsOf({
    name: "budget",
    args,
    isWithin: (it) => {
      const { ledger, service } = votesIn(it)
      assert.isAtMost(ledger, maxVotes)
      assert.isAtMost(service, ledger)
    },
    check: (it, report) => {
      assert.deepStrictEqual(votesIn(it), { ledger: 60, service: 60 })
      assert.deepStrictEqual(report.spending?.left, { votes: 1, cost: "0.60" })
    },
  })

  killed(
    "and the job then ends as if nothing had happened",
    [
      "run: added",
      "task: added planned",
      "task: planned → submitting",
      "http: POST /tasks",
      "http: POST /tasks answered 201",
      "task: submitting → submitted",
      "run: read_finished",
    ],
    momentsOf,
  )

  it("raised and killed while the rest is planned, it is kept again", () =>
    room.inTurn(async () => {
      const it = recorded("raised")
      assert.strictEqual((await finish(it.job, args)).exitStatus, 8)
      const more = [...args, "--budget", "40"].toSpliced(args.indexOf("--budget"), 2)
      for (const when of ["before", "after"] as const) {
        await killedAt(it.job, more, { event: "task: added planned", when, nth: 1 })
        assert.isAtMost(votesIn(it).ledger, 100)
      }
      assert.strictEqual((await finish(it.job, more)).exitStatus, 8)
      assert.deepStrictEqual(votesIn(it), { ledger: 100, service: 100 })
    }))
})

describe("run, with further votes under a budget", { concurrent: true, timeout: 600_000 }, () => {
  const file = Input.questions(`${room.folder}/further.jsonl`, 72, (i) => `Which, ${i}?`)
  const further = ["--votes", "1..3", "--confidence", "0.999", "--price", "1", "--budget", "100"]
  const args = ["run", file, "--batch-size", "6", ...pace, ...further, "--idempotency-key", "honored"]

  const isWithin = (it: Recorded.Recorded) => {
    const { ledger, service } = votesIn(it)
    assert.isAtMost(ledger, 100)
    assert.isAtMost(service, ledger)
    const each = Map.groupBy(
      [...it.book.tasks.values()].flatMap(({ prompts }) => prompts),
      (prompt) => prompt,
    )
    for (const [prompt, { length }] of each) assert.isAtMost(length, 3, prompt)
  }

  const check = (it: Recorded.Recorded) => assert.deepStrictEqual(votesIn(it), { ledger: 100, service: 100 })

  // The last time is one of a further vote.
  killedFirstAndLast(jobsOf({ name: "further", args, isWithin, check }), "and the same votes are planned")
})

describe("run, with prices by kind of expert", { concurrent: true, timeout: 600_000 }, () => {
  const kindOf = (i: number) => (i % 3 === 0 ? "specialist" : i % 7 === 0 ? "crowd" : "judge")
  const file = Input.questions(`${room.folder}/kinds.jsonl`, 50, (i) => `By ${kindOf(i)}: which, ${i}?`)
  /** In tenths. */
  const priceOf = (prompt: string) => {
    const kind = RecordingService.kindOf(prompt)
    return kind === "specialist" ? 20 : kind === "judge" ? 1 : 7
  }
  const prices = ["--price", "0.7", "--price", "judge=0.1", "--price", "specialist=2"]
  const further = ["--votes", "1..3", "--confidence", "0.999", ...prices, "--budget", "100.5"]
  const args = ["run", file, "--batch-size", "6", ...pace, ...further, "--idempotency-key", "honored"]

  /** In tenths, by the service's book: what is back at the price of its kind, all else of the ledger at the highest. */
  const reckoned = ({ book, job }: Recorded.Recorded): number =>
    rows(job, "SELECT state, task_id, item_count FROM task").reduce((sum, { item_count, state, task_id }) => {
      if (state !== "completed") return sum + 20 * (item_count as number)
      const { prompts } = book.tasks.get(task_id as string)!
      return sum + prompts.reduce((sum, prompt) => sum + priceOf(prompt), 0)
    }, 0)

  const isWithin = (it: Recorded.Recorded) => {
    assert.isAtMost(reckoned(it), 1005)
    const { ledger, service } = votesIn(it)
    assert.isAtMost(service, ledger)
  }

  const check = (it: Recorded.Recorded, report: Report) => {
    // More votes than the budget has at the highest price, and no room for another one.
    assert.isAbove(votesIn(it).service, 50)
    assert.isAbove(reckoned(it), 1005 - 20)
    assert.strictEqual(Number(report.spending?.spent.cost), reckoned(it) / 10)
    isWithin(it)
  }

  const { killed, recorded, undisturbed } = jobsOf({ name: "kinds", args, isWithin, check })

  killed(
    "and the same votes are planned",
    [
      "task: added planned",
      "task: planned → submitting",
      "http: POST /tasks answered 201",
      "task: submitted → completed",
    ],
    (event, { totals }) => after(event, 1, Math.ceil(totals.get(event)! / 4)),
  )

  it("killed between the last result and the next planning, it plans what the results leave, and no more", () =>
    room.inTurn(async () => {
      const it = recorded("between")
      // The first votes are nine tasks; the next one is of further votes, which follow once all of the first are in.
      await killedAt(it.job, args, { event: "task: added planned", when: "before", nth: 10 })
      const states = rows(it.job, "SELECT state, SUM(item_count) AS votes FROM task GROUP BY state")
      assert.deepStrictEqual(
        states.map(({ state, votes }) => [state, votes]),
        [["completed", 50]],
      )
      const left = 1005 - reckoned(it)
      assert.isAbove(left, 20)
      await killedAt(it.job, args, { event: "task: added planned", when: "after", nth: 1 })
      assert.isAtMost(votesIn(it).ledger - 50, Math.floor(left / 20))
      assert.isAbove(votesIn(it).ledger, 50)
      isWithin(it)
      assert.deepStrictEqual(Recorded.seen(it, await finish(it.job, args)), undisturbed())
      isWithin(it)
    }))
})

describe("run, with judges first and people where they are uncertain", { concurrent: true, timeout: 600_000 }, () => {
  const file = Input.questions(`${room.folder}/routed.jsonl`, 60, (i) => `Whom, ${i}?`, "other")
  const rule = ["--votes", "3..6", "--people-when", "jury<0.9"]
  // 180 votes of judges, 40 of people, and half a vote.
  const prices = ["--price", "0.30", "--price", "judge=0.005", "--budget", "13.05"]
  const args = ["run", file, "--batch-size", "6", ...pace, ...rule, ...prices]

  /** Votes by judges and by people, as the service's book has them, and their cost in thousandths. */
  const reckoned = ({ book }: Recorded.Recorded) => {
    const votesBy = (voters: string) =>
      [...book.tasks.values()].reduce(
        (sum, { body }) => sum + (body.voters === voters ? body.prompts.length * (body.votes ?? 1) : 0),
        0,
      )
    const [judges, people] = [votesBy("judges"), votesBy("people")]
    return { judges, people, cost: 5 * judges + 300 * people }
  }

  const isWithin = (it: Recorded.Recorded) => {
    assert.isAtMost(reckoned(it).cost, 13_050)
    const asked = [...it.book.tasks.values()].flatMap(({ body }) =>
      body.prompts.map(({ prompt }) => [`${prompt} ${body.voters}`, body.votes ?? 1] as const),
    )
    for (const [of, votes] of Map.groupBy(asked, ([of]) => of)) {
      assert.isAtMost(
        votes.reduce((sum, [, each]) => sum + each, 0),
        3,
        of,
      )
    }
    const [planned] = rows(
      it.job,
      "SELECT COALESCE(SUM(item_count * asks * CASE voters WHEN 'judges' THEN 5 ELSE 300 END), 0) AS cost FROM task",
    )
    assert.isAtMost(planned!["cost"] as number, 13_050)
  }

  const check = (it: Recorded.Recorded, report: Report) => {
    assert.deepStrictEqual(reckoned(it), { judges: 180, people: 40, cost: 12_900 })
    assert.deepStrictEqual(report.spending?.left, { votes: 0, cost: "0.150" })
  }

  // The first time is one of a judges' task, the last time one of a person's.
  killedFirstAndLast(
    jobsOf({ name: "routed", args, hasDocument: true, isWithin, check }),
    "nobody is asked twice, and the same people are asked",
  )
})

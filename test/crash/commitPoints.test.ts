/**
 * A process is killed (SIGKILL) at each commit point of submit, collect and export, and the same
 * command is run again: the job comes to what the undisturbed job comes to. The points are named
 * in `support/points.ts`, each with the stories in which a process is killed at it.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { allCases, drawn, leftOut, manyCases, threads } from "../support/cases.ts"
import { until } from "../support/process.ts"
import * as Doubts from "./support/Doubts.ts"
import * as Embedded from "./support/EmbeddedService.ts"
import * as Input from "./support/input.ts"
import {
  accounts,
  command,
  finish,
  finishHere,
  type Job,
  killedAt,
  killedInTurn,
  outcome,
  reportOf,
  rows,
  start,
  type Trace,
  traced,
  watched,
} from "./support/Job.ts"
import { firstMoments, momentsOf, points, pointsIn, share, type Story, unexpected } from "./support/points.ts"
import * as Recorded from "./support/Recorded.ts"
import * as RecordingService from "./support/RecordingService.ts"
import * as Room from "./support/Room.ts"

const room = Room.make()
afterAll(room.remove)

const input = Input.write(`${room.folder}/input.jsonl`, { misfits: true })
const honored = ["--idempotency-key", "honored"]
const ignored = ["--idempotency-key", "ignored"]
const pace = ["--concurrency", "2", "--requests-per-second", "1000", "--poll-min", "20ms", "--poll-max", "50ms"]
/** By default, the group names the folder, and is part of the tasks' ids. */
const sameGroup = ["--group", "crash"]
const submit = [input, "--batch-size", "6", ...pace]

type Finished = Awaited<ReturnType<typeof finish>>

interface Scene {
  readonly story: Story
  readonly args: ReadonlyArray<string>
  /** Gives a job, and all that is to be seen of it at its end, to `use`, with the service at work. */
  readonly staged: <A>(
    name: string,
    use: (job: Job, seen: (report: Finished) => Promise<unknown>) => Promise<A>,
  ) => Promise<A>
}

/** The tests of one story: the undisturbed job, and one that is killed, for each point. */
const play = ({ args, staged, story }: Scene) => {
  let trace: Trace
  let undisturbed: unknown
  beforeAll(() =>
    staged(`${story} undisturbed`, async (job, seen) => {
      const report = await watched(job, args)
      trace = report.trace
      undisturbed = await seen(report)
    }),
  )

  it("makes no write without a name", () => assert.deepStrictEqual(unexpected(trace), []))

  const events = pointsIn(story)
  const each = events.map((event) => ({
    name: points[event].name,
    disturbed: async (job: Job) => {
      for (const moment of momentsOf(event, trace)) await killedAt(job, args, moment)
      return finish(job, args)
    },
  }))
  const inTurn = {
    name: `killed at ${events.length} points, one after the other (CRASH_SHARE=${share}, THREADS=${threads})`,
    disturbed: async (job: Job) => {
      const { left, report } = await killedInTurn(job, args, events.flatMap(firstMoments))
      assert.deepStrictEqual(left, [], "moments that never came")
      return report
    },
  }
  // A point by itself takes some three processes, and one after the other takes one.
  for (const { disturbed, name } of allCases ? each : events.length > 0 ? [inTurn] : []) {
    it(`${name}: the job then ends as if nothing had happened`, () =>
      room.inTurn(() =>
        staged(`${story} ${name}`, async (job, seen) => {
          assert.deepStrictEqual(await seen(await disturbed(job)), undisturbed)
        }),
      ))
  }
}

const options = { concurrent: true, timeout: 600_000 }

/** A story in which no point is drawn is not told. */
const isUntold = (story: Story) => !manyCases && pointsIn(story).length === 0
const isLeftOut = leftOut(3)

describe.skipIf(isUntold("run"))("run, with the embedded service, two votes and gold items", options, () => {
  const asking = Input.asking(`${room.folder}/gold.jsonl`, 2)
  play({
    story: "run",
    args: ["run", ...submit, ...asking, ...honored, ...sameGroup],
    staged: (name, use) => {
      const database = `${room.folder}/${Room.plain(name)}.service.db`
      return Embedded.serving(database, "data/sample.jsonl", (baseUrl) => {
        const job = room.job(name, { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: Embedded.token })
        return use(job, (report) => {
          const tasks = Embedded.tasksOf(database)
          const prompts = [...tasks.values()].flat().filter((prompt) => !Input.goldPrompts.has(prompt))
          for (const [prompt, often] of Map.groupBy(prompts, (prompt) => prompt)) {
            assert.isAtMost(often.length, 2, `an item is in too many tasks of the service: ${prompt}`)
          }
          return Promise.resolve({ ...outcome(job), ...accounts(report), service: Recorded.byName(tasks) })
        })
      })
    },
  })
})

describe.skipIf(isUntold("alone"))("run, with a service that is killed along with it", options, () => {
  play({
    story: "alone",
    args: ["run", ...submit, "--expert", "gold:data/sample.jsonl", "--turnaround", "60ms", ...sameGroup],
    staged: (name, use) => {
      const job = room.job(name, {})
      return use(job, (report) => {
        const tasks = Embedded.tasksOf(`${job.folder}/service.db`)
        noItemTwice([...tasks.values()].flat())
        return Promise.resolve({ ...outcome(job), ...accounts(report), service: Recorded.byName(tasks) })
      })
    },
  })
})

const services = { honors: await RecordingService.start("honored"), ignores: await RecordingService.start("ignored") }
afterAll(() => Promise.all([services.honors.close(), services.ignores.close()]))

const recorded = (service: RecordingService.RecordingService, name: string, like?: Job) =>
  Recorded.make({ room, service }, name, like && { like })

const noItemTwice = (prompts: ReadonlyArray<string>) =>
  assert.strictEqual(new Set(prompts).size, prompts.length, "an item is in two tasks of the service")

/** A story that begins where others have ended. */
const continued = (story: Story, args: ReadonlyArray<string>, before: (job: Job) => Promise<unknown>) => {
  let first: Job
  beforeAll(async () => {
    first = recorded(services.honors, `${story} before`).job
    await before(first)
  })
  play({
    story,
    args,
    staged: (name, use) => {
      const it = recorded(services.honors, name, first)
      return use(it.job, (report) => Promise.resolve(Recorded.seen(it, report)))
    },
  })
}

describe.skipIf(isUntold("again"))("run again, over a growing file", options, () => {
  const growing = Input.write(`${room.folder}/growing.jsonl`, { misfits: true, missing: 20 })
  const run = (file: string) => ["run", file, ...submit.slice(1), ...honored]
  continued("again", run(input), (job) => finishHere(job, run(growing)))
})

describe.skipIf(isUntold("resume"))("submit after it was killed, to a service that honors keys", options, () => {
  const args = ["submit", ...submit, ...honored]
  continued("resume", args, (job) =>
    killedAt(job, args, { event: "http: POST /tasks answered 201", when: "after", nth: 3 }),
  )
})

describe.skipIf(isUntold("collect"))("collect", options, () => {
  continued("collect", ["collect", ...pace], (job) => finishHere(job, ["submit", ...submit, ...honored]))
})

describe.skipIf(isUntold("export"))("export, in the place of an older dataset", options, () => {
  const run = ["run", ...submit, ...honored]
  continued("export", ["export", "--force"], (job) => finishHere(job, run))
})

describe.skipIf(isLeftOut(0) && isUntold("submit"))("submit, to a service that ignores keys", options, () => {
  const args = ["submit", ...submit, ...ignored]

  /** What may have arrived is in doubt, and said to be; settled, the job goes on to its end, and nothing was posted twice. */
  const settled = async (it: Recorded.Recorded) => {
    while ((await Doubts.settle(it)) > 0) await command(it.job, args)
    const collected = await command(it.job, ["collect", ...pace])
    await command(it.job, ["export"])
    assert.strictEqual(it.book.posts.length, it.book.tasks.size)
    noItemTwice(it.book.posts.flatMap(({ prompts }) => prompts))
    return Recorded.seen(it, { ...reportOf(collected), exitStatus: collected.status })
  }
  let undisturbed: unknown
  const afterwards = (name: string, disturb: (it: Recorded.Recorded) => Promise<unknown>) =>
    room.inTurn(async () => {
      const it = recorded(services.ignores, `submit ${name}`)
      await disturb(it)
      await finishHere(it.job, args)
      return settled(it)
    })

  play({
    story: "submit",
    args,
    staged: (name, use) => {
      const it = recorded(services.ignores, name)
      return use(it.job, async () => {
        const seen = await settled(it)
        undisturbed ??= seen
        return seen
      })
    },
  })

  for (const [when, hook] of drawn([
    ["has a request that it has not taken yet", "beforeTaking"],
    ["has taken a task and not answered yet", "afterTaking"],
  ] as const)) {
    it(`the service ${when}, and the process dies: the task is in doubt, and is found again`, async () => {
      const outcome = await afterwards(hook, async ({ book, job }) => {
        const { child, ended } = start(job, args)
        book[hook] = async () => {
          if (book.tasks.size < 4) return
          child.kill("SIGKILL")
          await ended
        }
        assert.strictEqual((await ended).signal, "SIGKILL")
      })
      assert.deepStrictEqual(outcome, undisturbed)
    })
  }

  it("what was interrupted is held in doubt, and the process dies while it notes that", async () => {
    const outcome = await afterwards("doubt", async ({ job }) => {
      await killedAt(job, args, { event: "http: POST /tasks answered 201", when: "after", nth: 3 })
      for (const when of ["before", "after"] as const) {
        await killedAt(job, args, { event: "task: submitting → in_doubt", when, nth: 1 })
      }
    })
    assert.deepStrictEqual(outcome, undisturbed)
  })
})

describe.skipIf(isUntold("replan"))("submit --resubmit", options, () => {
  const args = ["submit", ...submit, ...honored, "--resubmit", "failed", "--resubmit", "invalid"]
  continued("replan", args, (job) => finishHere(job, ["run", ...submit, ...honored]))
})

describe.skipIf(isLeftOut(1))("resolve", options, () => {
  let before: Job
  let taken: Doubts.Doubt
  let lost: Doubts.Doubt

  /** Killed while two requests were under way, of which the service then takes one. */
  beforeAll(async () => {
    const { book, job } = recorded(services.ignores, "resolve before")
    before = job
    const { child, ended } = start(job, ["submit", input, "--batch-size", "3", ...pace, ...ignored])
    let arrived = 0
    book.beforeTaking = async () => {
      arrived++
      if (arrived === 2) child.kill("SIGKILL")
      const second = arrived === 2
      await ended
      if (second) throw new Error("it never arrives")
    }
    await until("a task that was taken", () => book.tasks.size > 0)
    const doubtful = Doubts.of({ book, job }, "submitting")
    taken = doubtful.find(({ id }) => id !== undefined)!
    lost = doubtful.find(({ id }) => id === undefined)!
  })

  const decided = (job: Job) => [
    rows(job, "SELECT seq, state, attempt, task_id, reason FROM task ORDER BY seq"),
    rows(job, "SELECT seq, state, attempt, task_id, reason FROM task_attempt ORDER BY seq"),
  ]

  const decisions = drawn([
    ["task: in_doubt → submitted", () => [String(taken.number), "--adopt", taken.id!]],
    ["task: in_doubt → planned", () => [String(lost.number), "--send-again"]],
    ["task: in_doubt → given_up", () => [String(lost.number), "--give-up"]],
  ] as const)

  for (const [event, argsOf] of decisions) {
    it(`${points[event].name}: the decision is recorded or not, and can be repeated`, () =>
      room.inTurn(async () => {
        const args = ["resolve", ...argsOf()]
        const { job: undisturbed } = recorded(services.ignores, `resolved ${event}`, before)
        assert.deepStrictEqual(unexpected((await traced(undisturbed, args)).trace), [])
        const { job } = recorded(services.ignores, `resolve ${event}`, before)
        for (const when of ["before", "after"] as const) {
          await killedAt(job, args, { event: "task: submitting → in_doubt", when, nth: 1 })
        }
        for (const when of ["before", "after"] as const) await killedAt(job, args, { event, when, nth: 1 })
        assert.deepStrictEqual(decided(job), decided(undisturbed))
        // Said once more, it is refused, or the same.
        assert.include([0, 2], (await command(job, args)).status)
        assert.deepStrictEqual(decided(job), decided(undisturbed))
      }))
  }
})

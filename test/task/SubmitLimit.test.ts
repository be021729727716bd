/** A limit of rejects that is a share of what is read: when a run stops, and what the ledger says of it. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Result, Stream } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit, type SubmitOptions } from "../../src/task/Submit.ts"
import { items } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { reject } from "./support.ts"

const batch = { maxPrompts: 20, maxBytes: 1e6 }

/** `n` records, of which those that `isBad` tells are rejects, in pieces of so many. */
const input = (n: number, isBad: (i: number) => boolean, piece = 100) => {
  const all = items(n).map((item, i) => (isBad(i) ? Result.fail(reject(i + 1)) : Result.succeed(item)))
  return Stream.fromArrays(
    ...Array.from({ length: Math.ceil(n / piece) }, (_, i) => all.slice(piece * i, piece * (i + 1))),
  )
}

/** How a run over the input ends at a service that refuses some tasks, and what is known of it afterwards. */
const runOver = Effect.fnUntraced(function* (
  records: ReturnType<typeof input>,
  options: SubmitOptions,
  isRefused: (request: TaskRequest) => boolean = () => false,
) {
  const service = yield* ScriptedService.except(
    (request) =>
      ScriptedService.isPost(request) &&
      isRefused(JSON.parse(request.body) as TaskRequest) && { status: 422, body: { detail: "no" } },
  )
  const directory = yield* temporaryDirectory
  const ended = yield* submit(records, { batch, ...options }).pipe(
    Effect.as("through"),
    Effect.catchTag("TooManyRejects", ({ message }) => Effect.succeed(message)),
    inProcess(directory, service.profile),
  )
  const { report, run } = yield* Effect.all({
    report: RunReport.make({}),
    run: Ledger.use((ledger) => ledger.newestRun),
  }).pipe(inProcess(directory, service.profile))
  const { failure } = Option.getOrThrow(run)
  assert.deepStrictEqual(failure, ended === "through" ? Option.none() : Option.some(ended))
  return { ended, report }
})

describe("submit with a share of rejects", () => {
  test("goes through where just as much is rejected, and sends all", function* () {
    const { ended, report } = yield* runOver(
      input(500, (i) => i >= 100 && i < 105),
      { maxRejects: "1%" },
    )
    assert.strictEqual(ended, "through")
    assert.deepInclude(report, { read: 500, submitted: 495, rejected: 5, max_rejects: null })
  })

  test("ends with the reading where one more is, also of few records, and says so later", function* () {
    const { ended, report } = yield* runOver(
      input(500, (i) => i < 6),
      { maxRejects: "1%" },
    )
    assert.strictEqual(ended, "6 of 500 records were rejected, but `maxRejects` allows 1%")
    assert.deepInclude(report, { rejected: 6, max_rejects: "1%" })
    const few = yield* runOver(
      input(15, (i) => i < 6),
      { maxRejects: "39.9%" },
    )
    assert.strictEqual(few.ended, "6 of 15 records were rejected, but `maxRejects` allows 39.9%")
    // No task was planned: nothing is waited for, and the input is not done with.
    assert.deepInclude(few.report, { status: "unfinished", rejected: 6, max_rejects: "39.9%" })
  })

  test("does not read on where too many of thousands are", function* () {
    const { ended, report } = yield* runOver(
      input(20_000, (i) => i % 50 === 0),
      { maxRejects: "1.5%" },
    )
    const [, rejected, read] =
      /^(\d+) of ([\d,]+) records were rejected, but `maxRejects` allows 1\.5%$/.exec(ended) ?? []
    const records = Number(read!.replace(",", ""))
    assert.isTrue(records >= 1000 && records < 20_000, ended)
    assert.strictEqual(Number(rejected), records / 50)
    assert.strictEqual(report.max_rejects, "1.5%")
  })

  test("reads on where the first are bad, and enough good ones follow", function* () {
    const { ended } = yield* runOver(
      input(900, (i) => i < 9),
      { maxRejects: "1%" },
    )
    assert.strictEqual(ended, "through")
  })

  test("counts what the service refuses", function* () {
    const isRefused = ({ prompts }: TaskRequest) => prompts.some(({ prompt }) => /^prompt 1[45]\d$/.test(prompt))
    const good = input(400, () => false)
    assert.strictEqual((yield* runOver(good, { maxRejects: "5%" }, isRefused)).ended, "through")
    assert.strictEqual(
      (yield* runOver(good, { maxRejects: "4.9%" }, isRefused)).ended,
      "20 of 400 records were rejected, but `maxRejects` allows 4.9%",
    )
  })

  test("is refused where it is none", function* () {
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const directory = yield* temporaryDirectory
    for (const maxRejects of ["101%", "-1%", -1, 0.5] as const) {
      const failure = yield* submit(
        input(1, () => false),
        { maxRejects },
      ).pipe(Effect.flip, inProcess(directory, service.profile))
      assert.strictEqual(
        failure.message,
        `maxRejects: expected a whole number, or a percentage up to 100%, found ${maxRejects}`,
      )
    }
  })
})

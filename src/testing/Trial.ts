/**
 * One run of a case, with a new fake of the service, a proxy in front of the fake, and a new ledger. `settle` ends the
 * run, and checks the results, the number of tasks in the state `in_doubt`, and the paid tasks. The service may be paid
 * once for each prompt, and once more each time `resolve` sends the prompt again.
 */
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { type CollectOptions, collect } from "../task/Collect.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { ofCampaign } from "../task/Results.ts"
import { parseTaskRequest } from "../domain/Task.ts"
import { plural } from "../io/Values.ts"
import * as Job from "./Job.ts"
import * as Proxy from "./Proxy.ts"
import type { JudgingOptions, Subject } from "./Subject.ts"

export const expect = (condition: boolean, text: string): Effect.Effect<void, string> =>
  condition ? Effect.void : Effect.fail(text)

export const make = Effect.fnUntraced(function* (subject: Subject) {
  const fake = yield* Effect.acquireRelease(Effect.promise(subject.fake), (it) => Effect.promise(() => it.close()))
  const proxy = yield* Proxy.make(fake.baseUrl)
  const fs = yield* FileSystem.FileSystem
  const ledger = `${yield* fs.makeTempDirectoryScoped({ prefix: "prefstream-conformance-" })}/ledger.db`
  const path = new URL(fake.baseUrl).pathname.replace(/\/$/, "")
  const job: Job.TrialJob = { ...subject, ledger, baseUrl: `${proxy.origin}${path}`, token: fake.token }
  const prompts = Job.itemsOf(subject).map(({ prompt }) => prompt)
  const sentAgain: Array<string> = []

  const submit = Job.submit(job)
  const judge = (options?: JudgingOptions) =>
    Effect.sync(() => fake.judge((_, completions) => completions.indexOf(Job.best), options))

  const resolve = Effect.gen(function* () {
    const ledger = yield* Ledger
    const issues = yield* ledger.issues(100)
    for (const { number, seq, state } of issues) {
      const { body } = yield* ledger.request(seq)
      const texts = parseTaskRequest(new TextDecoder().decode(body)).prompts.map(({ prompt }) => prompt)
      const isPaid = state === "in_doubt" && fake.created().includes(texts[0]!)
      if (isPaid && fake.taskIdOf !== undefined) yield* ledger.adopt([number], [fake.taskIdOf(texts[0]!)])
      else sentAgain.push(...(yield* Effect.as(ledger.sendAgain([number]), texts)))
    }
    if (issues.length > 0) yield* submit
    return issues.map(({ state }) => state)
  })

  const settle = Effect.fnUntraced(function* (maxDoubts: number) {
    const counts = yield* Ledger.use((ledger) => ledger.counts)
    yield* expect(
      counts.in_doubt.tasks <= maxDoubts,
      `expected at most ${maxDoubts} tasks in doubt, found ${counts.in_doubt.tasks}`,
    )
    const items = counts.completed.items + counts.in_doubt.items + counts.submitted.items
    yield* expect(items === prompts.length, `expected ${prompts.length} items at the service, found ${items}`)
    const doubts = yield* resolve
    yield* expect(
      doubts.length === counts.in_doubt.tasks,
      `expected ${counts.in_doubt.tasks} tasks in the list, found ${doubts.length} (${doubts.join(", ")})`,
    )
    yield* judge()
    yield* collect()
    const judgments = yield* Stream.runCollect(ofCampaign())
    const right = judgments.filter((one) => one.completions[one.bestCompletionIndex] === Job.best)
    yield* expect(
      judgments.length === prompts.length && right.length === prompts.length,
      `expected ${prompts.length} judgments, all of them correct, found ${judgments.length} judgments, ${right.length} of them correct`,
    )
    for (const prompt of new Set([...prompts, ...fake.created()])) {
      const paid = fake.created().filter((one) => one === prompt).length
      const max = prompts.includes(prompt) ? 1 + sentAgain.filter((one) => one === prompt).length : 0
      yield* expect(
        paid <= max && paid > 0,
        `expected ${max < 2 ? max : `1 to ${max}`} ${plural(max, "paid task")} with the prompt ${JSON.stringify(prompt)}, found ${paid}`,
      )
    }
    return { paid: fake.created().length, doubts: doubts.length, sentAgain: sentAgain.length }
  })

  return {
    submitAndKill: Effect.fnUntraced(function* (arrival: Effect.Effect<void>) {
      const child = yield* ChildProcess.make(process.execPath, Job.command(job), { stdin: "ignore", stdout: "ignore" })
      const failure = Effect.flatMap(Stream.mkString(Stream.decodeText(child.stderr)), (text) =>
        Effect.fail(`the process ended before the request: ${text}`),
      )
      yield* Effect.raceFirst(arrival, failure)
      yield* child.kill({ killSignal: "SIGKILL" })
    }, Effect.scoped),
    /** Runs an effect with its own ledger connection and its own client. */
    inProcess: Effect.provide(Job.layer(job)),
    collect: (options?: CollectOptions) => collect(options),
    fake,
    judge,
    proxy,
    resolve,
    settle,
    submit,
  }
})

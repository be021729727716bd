/** `prefstream/promises`, from code that does not use Effect, over real files and sockets. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as Prefstream from "../src/promises.ts"
import { AnnotationClient } from "../src/task/Tasks.ts"
import { itemLines } from "./support/cli.ts"
import * as ScriptedService from "./support/ScriptedService.ts"

let directory = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "prefstream-test-"))
})
afterEach(() => rmSync(directory, { recursive: true }))

const log = () => {}

const all = async <A>(values: AsyncIterable<A>) => {
  const array: Array<A> = []
  for await (const value of values) array.push(value)
  return array
}

const items = [1, 2, 3].map((id) => ({ id, prompt: `Question ${id}?`, completions: ["long answer", "short"] }))

const rejection = (promise: Promise<unknown>): Promise<Error & Partial<Prefstream.RunFailure>> =>
  promise.then(
    () => assert.fail("expected a rejection"),
    (failure) => failure,
  )

describe("prefstream/promises", () => {
  it("runs over an async iterable with an expert that is a function, and reads the dataset", async () => {
    async function* records() {
      yield* items
    }
    const expert: Prefstream.PlainExpert = {
      name: "last",
      judge: ({ completions }, guidelines) =>
        Promise.resolve({ best_completion_index: completions.indexOf("short"), rationale: guidelines ?? "none" }),
    }
    const settings = { directory, source: records(), service: { experts: [expert] }, guidelines: "Be brief." }
    const report = await Prefstream.run(settings, { log })
    assert.deepStrictEqual([report.status, report.dataset?.rows], ["done", 3])
    const pairs = await all(Prefstream.read(`${directory}/dataset`))
    assert.deepStrictEqual(
      pairs.map(({ chosen, rationale, rejected }) => [chosen, rejected, rationale]),
      items.map(() => ["short", "long answer", "Be brief."]),
    )
    const exported = await Prefstream.exportDataset(settings, { log })
    assert.strictEqual(exported?.manifestSha256, report.dataset?.manifestSha256)
  })

  it("takes votes without a rationale, and names an answer that is not a vote", async () => {
    const answers: { readonly [prompt: string]: unknown } = {
      "Question 1?": { best_completion_index: 1, rationale: null },
      "Question 2?": { best_completion_index: 1 },
      "Question 3?": 1,
    }
    const expert = { name: "plain", judge: ({ prompt }: { readonly prompt: string }) => answers[prompt] as null }
    const messages: Array<string> = []
    const settings = { directory, source: items, service: { experts: [expert] }, batch: { maxPrompts: 1 } }
    const report = await Prefstream.run(settings, { log: (message) => messages.push(message) })
    assert.deepStrictEqual([report.tasks.completed.tasks, report.dataset?.rows], [2, 2])
    const problem = "plain: expected null or an object with `best_completion_index`, found 1"
    assert.include(messages.join("\n"), problem)
  })

  it("submits files to a service at an address, and collects on another day", async () => {
    const scope = Effect.runSync(Scope.make())
    const service = await Effect.runPromise(Scope.provide(ScriptedService.make(ScriptedService.obliging), scope))
    const { baseUrl, token } = service
    writeFileSync(`${directory}/items.jsonl`, itemLines(3).join("\n"))
    const settings = { directory, source: `${directory}/items.jsonl`, service: { baseUrl, token } }
    assert.strictEqual((await Prefstream.submit(settings, { log })).submitted, 3)
    assert.strictEqual((await Prefstream.collect(settings, { log })).tasks.completed.items, 3)
    assert.strictEqual(service.received[0]?.headers.authorization, `Bearer ${token}`)
    const client = AnnotationClient.layerProtocol({
      create: () => Effect.succeed("task"),
      poll: (_, { task }) =>
        Effect.map(task, ({ prompts }) => ({ _tag: "Completed", results: prompts.map(() => ({ best: 0 })) })),
    })
    const other = await Prefstream.run({ ...settings, directory: `${directory}/other`, client }, { log })
    assert.strictEqual(other.dataset?.rows, 3)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("rejects with the failure: of the settings, of the source, of a read, of the program's own code", async () => {
    const service = { experts: ["longest"] }
    const run = (settings: object) =>
      rejection(Prefstream.run({ directory, source: items, service, ...settings }, { log }))
    assert.strictEqual((await run({ source: `${directory}/none.jsonl` }))._tag, "SourceError")
    const unknown = await run({ guideline: "x" })
    assert.deepStrictEqual([unknown._tag, unknown instanceof Error], ["SettingInvalid", true])
    assert.match(
      (await run({ service: undefined })).message,
      /^service: expected \{ baseUrl, token \} for a remote service, or \{ experts \}/,
    )
    assert.match((await run({ service: { baseUrl: "x", token: "t" } })).message, /baseUrl: expected http/)
    const address = { baseUrl: "http://127.0.0.1:9/v1", token: "t" }
    assert.match(
      (await run({ service: { ...address, requestPerSecond: 2 } })).message,
      /requestPerSecond: .*\(did you mean requestsPerSecond\?\)/,
    )
    assert.match((await run({ service: { ...service, vote: 2 } })).message, /^service\.vote: .*did you mean votes\?/)
    assert.strictEqual((await run({ thresholds: { "longer-chosen": 0 } }))._tag, "ThresholdsExceeded")
    const own = new Error("the table is gone")
    async function* broken() {
      yield items[0]
      throw own
    }
    assert.strictEqual(await run({ source: broken() }), own)
    const reading = await rejection(all(Prefstream.read(`${directory}/nowhere`)))
    assert.strictEqual<string | undefined>(reading._tag, "DatasetUnreadable")
  })

  it("stops when the signal says so, closes the source, and goes on at the next start", async () => {
    const stop = new AbortController()
    let isClosed = false
    let next = 0
    const iterator: AsyncIterator<unknown, undefined> = {
      next: () => {
        const value = items[next++]
        if (value !== undefined) return Promise.resolve({ done: false, value })
        stop.abort(new Error("enough"))
        return new Promise(() => {})
      },
      return: () => {
        isClosed = true
        return Promise.resolve({ done: true, value: undefined })
      },
    }
    const settings = { directory, service: { experts: ["shortest"] } }
    const failure = await rejection(
      Prefstream.run({ ...settings, source: { [Symbol.asyncIterator]: () => iterator } }, { signal: stop.signal, log }),
    )
    assert.strictEqual(failure.message, "enough")
    assert.deepStrictEqual([isClosed, existsSync(`${directory}/dataset`)], [true, false])
    const messages: Array<string> = []
    const report = await Prefstream.run(
      { ...settings, source: items },
      { log: (message, level) => messages.push(`${level}: ${message}`) },
    )
    assert.deepStrictEqual([report.status, report.dataset?.rows], ["done", 3])
    await Prefstream.exportDataset({ ...settings, source: items }, { log: (message) => messages.push(message) })
    assert.match(messages.join("\n"), /is up to date/)
  })
})

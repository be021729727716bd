/** What the fault suites share: the input, a service with a webhook, and what is looked at in the end. */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { Console, Effect } from "effect"
import * as Zstd from "../../src/node/Zstd.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import * as FaultProxy from "../support/FaultProxy.ts"
import { bin, startSources } from "../support/process.ts"
import { scoped, serve } from "../support/program.ts"
import { urlOf } from "../support/webhooks.ts"
import type * as WebhookFaults from "../support/WebhookFaults.ts"

/** Printed, so that what failed can be had again: `FAULT_SEED=… npx vitest run test/faults`. */
export const seed = process.env["FAULT_SEED"] ?? String(Math.floor(Math.random() * 1e9))

export const sayChosen = Console.error(`FAULT_SEED=${seed}`)

/** `n` items, and among them every 40th once more, and every 50th a record that can't be used. */
export const mixedLines = (n: number): ReadonlyArray<string> =>
  Array.from({ length: n }, (_, i) => {
    const item = JSON.stringify({
      id: `item-${i}`,
      prompt: `Which of these is the better answer to question ${i}?`,
      completions: [`It depends on ${i}.`, `A longer answer to ${"it ".repeat(i % 7)}${i}.`, `No. ${i}`],
      metadata: { n: i },
    })
    const copy = i % 40 === 7 ? [item] : []
    const broken = i % 50 === 11 ? [`{"prompt": "cut off ${i}`] : []
    return [item, ...copy, ...broken]
  }).flat()

/** Rows of an SQLite file that another process may be writing. */
export const rowsOf = (file: string, sql: string): ReadonlyArray<Record<string, SQLOutputValue>> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(sql).all()
  database.close()
  return rows
}

/** The prompts of all tasks that a service has stored, in any order. */
export const promptsAt = (store: string): ReadonlyArray<string> =>
  rowsOf(store, "SELECT body FROM task_request").flatMap(({ body }) =>
    (JSON.parse(Zstd.decompressText(body as Uint8Array)) as TaskRequest).prompts.map(({ prompt }) => prompt),
  )

const fixture = fileURLToPath(new URL("fixtures/job.ts", import.meta.url))

/** A service with an expert, behind a network that fails in both ways, and commands of a pipeline that goes through it. */
export const disturbed = Effect.fnUntraced(function* (
  { folder, input, turnaround }: { readonly folder: string; readonly input: string; readonly turnaround: string },
  hooks: WebhookFaults.WebhookFaults,
  faults: Omit<FaultProxy.FaultOptions, "seed"> = {},
  env: Record<string, string> = {},
) {
  const job = `${folder}/job`
  const store = `${folder}/service.db`
  const flags = ["--database", store, "--rate-limit", "0", "--expert", "longest", "--turnaround", turnaround]
  const { origin, setWebhook, token } = yield* Effect.acquireRelease(
    Effect.promise(() => serve(flags)),
    ({ kill }) => Effect.promise(kill),
  )
  const secret = yield* Effect.promise(() => setWebhook(hooks.url))
  const proxy = yield* FaultProxy.make(origin, { seed, ...faults })
  const settings = {
    FAULTS_BASE_URL: `${proxy.origin}/v1`,
    FAULTS_TOKEN: token,
    FAULTS_INPUT: input,
    FAULTS_JOB: job,
    PREFSTREAM_WEBHOOK_SECRET: secret,
    ...env,
  }
  const start = (command: string, ...args: ReadonlyArray<string>) =>
    scoped(() => startSources([bin, command, fixture, ...args], { env: settings }))
  /** Starts a command that receives webhooks, and lets them go there. */
  const listen = Effect.fnUntraced(function* (command: string, ...args: ReadonlyArray<string>) {
    const listening = yield* start(command, "--listen", "0", ...args)
    hooks.receiver = { url: yield* urlOf(listening), secret }
    return listening
  })
  return { job, listen, proxy, start, store }
})

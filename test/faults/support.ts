/** What the fault suites share: the input, a service with a webhook, and what is looked at in the end. */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite"
import { assert } from "@effect/vitest"
import { Console, Effect } from "effect"
import * as Zstd from "../../src/node/Zstd.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { started } from "../support/program.ts"

/** Printed, so that what failed can be had again: `FAULT_SEED=… npx vitest run test/faults`. */
export const seed = process.env["FAULT_SEED"] ?? String(Math.floor(Math.random() * 1e9))

export const sayChosen = Console.error(`FAULT_SEED=${seed}`)

export const token = "token-of-a-test"

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

/** `prefstream serve` with an expert, whose webhooks go to `hook`; where it is, and the webhook's secret. */
export const serveWithWebhook = Effect.fnUntraced(function* (
  store: string,
  hook: string,
  flags: ReadonlyArray<string> = [],
) {
  const service = yield* started(
    ["serve", "--port", "0", "--database", store, "--rate-limit", "0", "--expert", "longest", ...flags],
    { PREFSTREAM_TOKEN: token },
  )
  return yield* Effect.promise(async () => {
    const said = await service.says(/PREFSTREAM_BASE_URL=\S+\n/)
    const origin = /PREFSTREAM_BASE_URL=(\S+)\/v1/.exec(said)![1]!
    const code = /#set-up=(\S+)/.exec(await service.talks(/#set-up=\S+\n/))![1]!
    const ask = async (method: string, path: string, body: unknown, cookie = "") => {
      const answer = await fetch(`${origin}/dashboard/api${path}`, {
        method,
        headers: { "content-type": "application/json", origin, cookie },
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      assert.strictEqual(answer.status, 200, text)
      return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0], body: JSON.parse(text) as { secret: string } }
    }
    const { cookie } = await ask("POST", "/set-up", { code, name: "Ada", password: "correct horse battery" })
    const { body } = await ask("PUT", "/webhook", { url: hook }, cookie)
    return { origin, secret: body.secret, service }
  })
})

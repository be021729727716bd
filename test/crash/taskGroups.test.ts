/**
 * From tasks to deliveries over kill -9: the whole service, whose receiver fails at first. Each
 * group of tasks that is complete is announced, under one id, with all its tasks and no other.
 */
import type { ChildProcess } from "node:child_process"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { receiver, temporaryFile, verifiedBy } from "../service/webhook/support.ts"
import { drawn } from "../support/cases.ts"
import { until } from "../support/process.ts"
import * as Program from "../support/program.ts"

const started = new Set<ChildProcess>()
afterAll(() => started.forEach((child) => child.kill("SIGKILL")))

const token = "token-of-a-test"
const groupSize = 4
const singles = 6

/** Starts the service on a port of its own. */
const start = async (database: string, port: number, flags: ReadonlyArray<string>) => {
  const args = ["serve", "--database", database, "--port", String(port), ...flags]
  const service = Program.start(args, { PREFSTREAM_TOKEN: token })
  started.add(service.child)
  const said = await service.says(/PREFSTREAM_BASE_URL=\S+\n/)
  return {
    origin: /PREFSTREAM_BASE_URL=(\S+)\/v1/.exec(said)![1]!,
    link: async () => /#set-up=(\S+)/.exec(await service.talks(/#set-up=\S+\n/))![1]!,
    kill: () => (service.child.kill("SIGKILL"), service.ended),
  }
}

/** How many events the service has stored. */
const messagesIn = (database: string) => {
  const file = new DatabaseSync(database, { readOnly: true })
  const rows = file.prepare("SELECT COUNT(*) AS n FROM webhook_message").get()
  file.close()
  return Number(rows?.["n"])
}

const json = { "content-type": "application/json" }

/** Signs in, and sets the webhook; its secret. */
const setWebhook = async (origin: string, code: string, url: string) => {
  const ask = async (method: string, path: string, body: unknown, cookie = "") => {
    const answer = await fetch(`${origin}/dashboard/api${path}`, {
      method,
      headers: { ...json, origin, cookie },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    assert.strictEqual(answer.status, 200, text)
    return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0], body: JSON.parse(text) as { secret: string } }
  }
  const { cookie } = await ask("POST", "/set-up", { code, name: "Ada", password: "correct horse battery" })
  const { body } = await ask("PUT", "/webhook", { url }, cookie)
  return body.secret
}

const create = async (origin: string, i: number) => {
  const answer = await fetch(`${origin}/v1/tasks`, {
    method: "POST",
    headers: { ...json, authorization: `Bearer ${token}`, "idempotency-key": `task ${i}` },
    body: JSON.stringify({
      task_type: "rlhf_ranking",
      prompts: [{ prompt: `Question ${i}?`, completions: ["short", "not so short"] }],
      ...(i < groupSize && { group: "nightly", group_size: groupSize }),
    }),
  })
  assert.strictEqual(answer.status, 201)
  return ((await answer.json()) as { task_id: string }).task_id
}

const statusOf = async (origin: string, task: string) => {
  const answer = await fetch(`${origin}/v1/tasks/${task}`, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as { status: string }).status
}

interface Event {
  readonly type: string
  readonly data: { readonly group_id: string; readonly task_ids: ReadonlyArray<string> }
}

describe("kill -9 of a service whose tasks complete while the receiver fails", () => {
  for (const failures of drawn([1, groupSize, singles + 1])) {
    it.live(`when ${failures} deliveries have failed: each group is announced`, () =>
      Effect.gen(function* () {
        const database = yield* temporaryFile
        const accepted = new Map<string, Event>()
        const refused = new Set<string>()
        const target = yield* receiver(({ headers }) => {
          refused.add(String(headers["webhook-id"]))
          return { status: 500 }
        })

        yield* Effect.promise(async () => {
          const first = await start(database, 0, [])
          const secret = await setWebhook(first.origin, await first.link(), target.url)
          const tasks: Array<string> = []
          for (let i = 0; i < groupSize + singles; i++) tasks.push(await create(first.origin, i))
          await first.kill()

          const second = await start(database, 0, ["--expert", "longest"])
          await until("deliveries that fail", () => refused.size >= failures)
          await second.kill()

          target.react = ({ body, headers }) => {
            accepted.set(String(headers["webhook-id"]), JSON.parse(body) as Event)
            return { status: 200 }
          }
          const third = await start(database, 0, ["--expert", "longest"])
          await until("all deliveries", () => accepted.size >= singles + 1)
          for (const task of tasks) {
            assert.strictEqual(await statusOf(third.origin, task), "completed")
          }
          await third.kill()
          assert.strictEqual(messagesIn(database), singles + 1)

          for (const request of target.received) verifiedBy(secret, request)
          // An id that was refused came again.
          for (const id of refused) assert.isTrue(accepted.has(id), id)
          const announced = [...accepted.values()]
            .map(({ data }) => data)
            .toSorted((a, b) => b.task_ids.length - a.task_ids.length)
          assert.deepStrictEqual(announced[0], { group_id: "nightly", task_ids: tasks.slice(0, groupSize) })
          assert.sameDeepMembers(
            announced.slice(1),
            tasks.slice(groupSize).map((id) => ({ group_id: id, task_ids: [id] })),
          )
        })
      }),
    )
  }
})

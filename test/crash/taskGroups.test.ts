/**
 * From tasks to deliveries over kill -9: the whole service, whose receiver fails at first. Each
 * group of tasks that is complete is announced, under one id, with all its tasks and no other.
 */
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { receiver, temporaryFile, verifiedBy } from "../service/webhook/support.ts"
import { drawn } from "../support/cases.ts"
import { until } from "../support/process.ts"
import * as Program from "../support/program.ts"

type Service = Awaited<ReturnType<typeof Program.serve>>

const started = new Set<Service>()
afterAll(() => started.forEach(({ kill }) => void kill()))

const groupSize = 4
const singles = 6

const start = async (database: string, ...flags: ReadonlyArray<string>) => {
  const service = await Program.serve(["--database", database, ...flags])
  started.add(service)
  return service
}

/** How many events the service has stored. */
const messagesIn = (database: string) => {
  const file = new DatabaseSync(database, { readOnly: true })
  const rows = file.prepare("SELECT COUNT(*) AS n FROM webhook_message").get()
  file.close()
  return Number(rows?.["n"])
}

const create = async ({ origin, token }: Service, i: number) => {
  const answer = await fetch(`${origin}/v1/tasks`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      "idempotency-key": `task ${i}`,
    },
    body: JSON.stringify({
      task_type: "rlhf_ranking",
      prompts: [{ prompt: `Question ${i}?`, completions: ["short", "not so short"] }],
      ...(i < groupSize && { group: "nightly", group_size: groupSize }),
    }),
  })
  assert.strictEqual(answer.status, 201)
  return ((await answer.json()) as { task_id: string }).task_id
}

const statusOf = async ({ origin, token }: Service, task: string) => {
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
          const first = await start(database)
          const secret = await first.setWebhook(target.url)
          const tasks: Array<string> = []
          for (let i = 0; i < groupSize + singles; i++) tasks.push(await create(first, i))
          await first.kill()

          const second = await start(database, "--expert", "longest")
          await until("deliveries that fail", () => refused.size >= failures)
          await second.kill()

          target.react = ({ body, headers }) => {
            accepted.set(String(headers["webhook-id"]), JSON.parse(body) as Event)
            return { status: 200 }
          }
          const third = await start(database, "--expert", "longest")
          await until("all deliveries", () => accepted.size >= singles + 1)
          for (const task of tasks) {
            assert.strictEqual(await statusOf(third, task), "completed")
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

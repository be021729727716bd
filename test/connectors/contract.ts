/**
 * A fake of a service that keeps the contract (`src/api/AnnotationApi.ts`): `POST /tasks`, `GET /tasks/{task_id}`, and
 * signed webhooks. It answers a repeated key with the first task, or ignores keys and creates another one. It knows no
 * groups, and never cancels a task.
 */
import { Effect } from "effect"
import type { FakeService, MakeFake } from "prefstream/testing"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { completed, deliver } from "../support/webhooks.ts"
import { serve } from "./server.ts"

interface Task {
  readonly request: TaskRequest
  /** The id in answers about the task: of the task whose results it has. */
  shownId?: string
  results?: ReadonlyArray<unknown>
}

const token = "contract-token"

/** @param keys whether the fake knows a repeated `Idempotency-Key` */
export const make =
  (keys: "honored" | "ignored"): MakeFake =>
  async () => {
    const tasks: Array<Task> = []
    const idOfKey = new Map<string, string>()
    const server = await serve(({ body, headers, method, url }) => {
      if (headers.authorization !== `Bearer ${token}`) return { status: 401, body: { title: "Unauthorized" } }
      if (method === "POST" && url.pathname === "/v1/tasks") {
        const key = String(headers["idempotency-key"])
        const known = keys === "honored" ? idOfKey.get(key) : undefined
        const id = known ?? `task_${tasks.push({ request: body as TaskRequest }) - 1}`
        idOfKey.set(key, id)
        return { status: 201, body: { task_id: id, status: "pending" } }
      }
      const [, number = "none"] = /^\/v1\/tasks\/task_(\d+)$/.exec(url.pathname) ?? []
      const task = method === "GET" ? tasks[Number(number)] : undefined
      if (task === undefined) return { status: 404, body: { title: "Not Found" } }
      const { results, shownId: id = `task_${number}` } = task
      return {
        status: 200,
        body:
          results === undefined ? { task_id: id, status: "pending" } : { task_id: id, status: "completed", results },
      }
    })
    const judge: FakeService["judge"] = (
      best,
      { foreign = false, repeated = false, reversed = false, wrong = false } = {},
    ) => {
      const open = tasks.filter(({ results }) => results === undefined)
      for (const [i, task] of open.entries()) {
        const judged = foreign ? open[(i + 1) % open.length]! : task
        if (judged !== task) task.shownId = `task_${tasks.indexOf(judged)}`
        const results = judged.request.prompts.map(({ completions, prompt }) => ({
          prompt,
          best_completion_index: wrong ? completions.length : best(prompt, completions),
          annotations: { rationale: "It is correct." },
        }))
        const all = repeated ? [...results, ...results] : results
        task.results = reversed ? all.toReversed() : all
      }
    }
    return {
      baseUrl: `${server.origin}/v1`,
      token,
      created: () => tasks.flatMap(({ request }) => request.prompts.map(({ prompt }) => prompt)),
      judge,
      notify: async (url) => {
        const ids = tasks.flatMap(({ results }, i) => (results === undefined ? [] : [`task_${i}`]))
        await Effect.runPromise(deliver(url, completed(ids), { id: "msg_conformance" }))
      },
      taskIdOf: (prompt) =>
        `task_${tasks.findIndex(({ request }) => request.prompts.some((one) => one.prompt === prompt))}`,
      close: server.close,
    }
  }

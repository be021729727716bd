/**
 * A fake of Label Studio (Community: imports are synchronous; with `isCloud`, they run in the background, as at the cloud):
 * tokens and their exchange, import, the list of tasks with filters and pages, imports, error bodies, webhooks.
 *
 * Sources: label-studio-sdk 2.1.3 (97fcff19), `reference.md`, `types/`, `tokens/client_ext.py`; label-studio
 * `core/utils/common.py`, `tasks/serializers.py`, `tasks/openapi_schema.py`, `data_import/functions.py`,
 * `jwt_auth/auth.py`, `webhooks/utils.py`. Not confirmed with a real server: the order of tasks in a list, the text of
 * a 401 for a wrong token, and whether `is_labeled` counts skipped annotations (here it does not).
 */
import type { FakeService } from "prefstream/testing"
import { type ApiAnswer, deliver, serve } from "./server.ts"

interface Data {
  readonly prompt: string
  readonly a?: string
  readonly b?: string
  readonly completions?: ReadonlyArray<{ readonly id: string; readonly body: string }>
  readonly [member: string]: unknown
}

interface Annotation {
  readonly id: number
  readonly completed_by: number
  readonly was_cancelled: boolean
  readonly result: ReadonlyArray<unknown>
  readonly lead_time: number
}

interface Task {
  readonly id: number
  readonly data: Data
  readonly annotations: Array<Annotation>
}

export const project = 7
export const secret = "label-studio-webhook-secret"
export const secretHeader = "x-prefstream-secret"
export const token = "0123456789abcdef0123456789abcdef01234567"
export const personalToken = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjR9.c2lnbmF0dXJl"

export interface Options {
  /** Whether imports run in the background. */
  readonly isCloud?: boolean
  /** A prompt that the service refuses. */
  readonly refused?: string
}

const wrapped = (status: number, detail: string, more: object = {}): ApiAnswer => ({
  status,
  body: { id: "5e3c", status_code: status, version: "1.23.2", detail, exc_info: null, ...more },
})

export const make =
  ({ isCloud = false, refused }: Options = {}) =>
  async (): Promise<FakeService & { readonly exchanges: () => number; readonly skip: (prompt: string) => void }> => {
    const tasks: Array<Task> = []
    const imports: Array<{
      readonly body: ReadonlyArray<{ readonly data: Data }>
      asked: number
      ids: ReadonlyArray<number>
    }> = []
    let exchanges = 0
    let annotations = 0
    const isLabeled = ({ annotations }: Task) => annotations.some(({ was_cancelled }) => !was_cancelled)
    const add = (body: ReadonlyArray<{ readonly data: Data }>) =>
      body.map(({ data }) => {
        const id = 100 + tasks.length
        tasks.push({ id, data, annotations: [] })
        return id
      })
    const problemOf = (body: ReadonlyArray<{ readonly data: Data }>) => {
      const errors = body.map(({ data: { prompt } }, i) =>
        prompt === refused ? `Error at item ${i}: "prompt" key is expected in task data` : {},
      )
      return errors.some((error) => typeof error === "string") ? errors : undefined
    }
    const server = await serve(({ body, headers, method, url }) => {
      const { pathname, searchParams } = url
      if (method === "POST" && pathname === "/api/token/refresh/") {
        if ((body as { refresh?: string }).refresh !== personalToken) return wrapped(401, "Token is invalid")
        return { status: 200, body: { access: `access-${++exchanges}` } }
      }
      const authorization = [`Token ${token}`, ...Array.from({ length: exchanges }, (_, i) => `Bearer access-${i + 1}`)]
      if (!authorization.includes(headers.authorization ?? ""))
        return wrapped(401, "Authentication credentials were not provided.")
      if (method === "POST" && pathname === `/api/projects/${project}/import`) {
        const items = body as ReadonlyArray<{ readonly data: Data }>
        if (isCloud) return { status: 201, body: { import: imports.push({ body: items, asked: 0, ids: [] }) } }
        const errors = problemOf(items)
        if (errors !== undefined)
          return wrapped(400, "Validation error", { validation_errors: { non_field_errors: errors } })
        const ids = add(items)
        return {
          status: 201,
          body: { task_count: ids.length, annotation_count: 0, prediction_count: 0, duration: 0.1, file_upload_ids: [],
            ...(searchParams.get("return_task_ids") === "true" && { task_ids: ids }) }, // prettier-ignore
        }
      }
      const [, number] = new RegExp(`^/api/projects/${project}/imports/(\\d+)/$`).exec(pathname) ?? []
      const running = imports[Number(number) - 1]
      if (method === "GET" && running !== undefined) {
        const errors = problemOf(running.body)
        if (running.asked++ === 1 && errors === undefined) running.ids = add(running.body)
        const status = running.asked < 2 ? "in_progress" : errors === undefined ? "completed" : "failed"
        const error = status === "failed" ? JSON.stringify(errors) : null
        return { status: 200, body: { id: Number(number), project, status, error, task_ids: running.ids } }
      }
      if (method === "GET" && pathname === "/api/tasks/") {
        if (searchParams.get("project") !== String(project))
          return { status: 404, body: { detail: "Neither project nor view id specified" } }
        const { filters } = JSON.parse(searchParams.get("query") ?? "{}") as {
          filters?: { items: ReadonlyArray<{ filter: string; operator: string; type: string; value: string }> }
        }
        const matching = tasks.filter(({ data }) =>
          (filters?.items ?? []).every(
            ({ filter, operator, value }) =>
              operator === "equal" && data[filter.replace("filter:tasks:data.", "")] === value,
          ),
        )
        const [page, size] = [Number(searchParams.get("page") ?? 1), Number(searchParams.get("page_size") ?? 100)]
        if (page > 1 && (page - 1) * size >= matching.length) return wrapped(404, "Invalid page.")
        const all = searchParams.get("fields") === "all"
        return {
          status: 200,
          body: {
            tasks: matching.slice((page - 1) * size, page * size).map((task) => ({
              id: task.id, data: task.data, project, overlap: 1, is_labeled: isLabeled(task),
              total_annotations: task.annotations.length, ...(all && { annotations: task.annotations, predictions: [] }),
            })), // prettier-ignore
            total: matching.length,
            total_annotations: 0,
            total_predictions: 0,
          },
        }
      }
      return wrapped(404, "Not found.")
    })

    const annotate = (task: Task, completed_by: number, value: unknown, was_cancelled = false) => {
      const choice = { id: "x", from_name: "choice", to_name: "choice", type: "pairwise", value }
      const reason = {
        id: "y",
        from_name: "rationale",
        to_name: "prompt",
        type: "textarea",
        value: { text: ["correct"] },
      }
      task.annotations.push({
        id: ++annotations,
        completed_by,
        was_cancelled,
        result: was_cancelled ? [] : [choice, reason],
        lead_time: 3.5,
      })
    }
    return {
      baseUrl: server.origin,
      token,
      exchanges: () => exchanges,
      created: () => tasks.map(({ data }) => data.prompt),
      judge: (best, { repeated = false, reversed = false, wrong = false } = {}) => {
        const open = tasks.filter((task) => !isLabeled(task))
        for (const task of open) {
          const { a = "", b = "", completions, prompt } = task.data
          const texts = completions?.map(({ body }) => body) ?? [a, b]
          const index = best(prompt, texts)
          const order = texts
            .map((_, i) => String(i))
            .toSorted((x, y) => Number(y === String(index)) - Number(x === String(index)))
          const ranker = { ranker: { choice: wrong ? order.map((id) => `unknown ${id}`) : order } }
          const pair = { selected: wrong ? "middle" : index === 0 ? "left" : "right" }
          for (const by of repeated ? [3, 4] : [3]) annotate(task, by, completions === undefined ? pair : ranker)
        }
        if (reversed) tasks.reverse()
      },
      skip: (prompt) =>
        annotate(
          tasks.find(({ data }) => data.prompt === prompt)!,
          5,
          {},
          true,
        ),
      notify: async (url) => {
        for (const task of tasks.filter(isLabeled)) {
          const { annotations, ...rest } = task
          const body = {
            action: "ANNOTATION_UPDATED",
            annotation: annotations.at(-1),
            task: rest,
            project: { id: project },
          }
          await deliver(url, { [secretHeader]: secret }, JSON.stringify(body))
        }
      },
      taskIdOf: (prompt) => String(tasks.find(({ data }) => data.prompt === prompt)?.data["prefstream_task"]),
      close: server.close,
    }
  }

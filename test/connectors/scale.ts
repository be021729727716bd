/**
 * A fake of Scale's generative AI API, as far as `pipelines/connectors/scale.ts` uses it: Basic and Bearer
 * authorization, chat tasks with a `unique_id`, 409 for a repeated one, threads with annotations, and callbacks.
 *
 * From scaleapi-python-client 2.18.4 (commit b4111b2): scaleapi/api.py (409, statuses), scaleapi/__init__.py
 * (`unique_id` of `GET /v1/tasks`), scaleapi/api_client/v2/models (tasks, threads, annotations); and from the pages
 * docs.genai.scale.com/v2, /v2/task-chat-create, /api-reference/idempotency, and scale.com/docs/api-reference/callbacks,
 * /authentication. Not confirmed at the service: that v2 takes a `unique_id` and that `GET /v1/tasks` lists tasks of v2;
 * the texts of errors, and that they have a `status_code` in v1; the body of a callback of v2, for which this one sends
 * v1's; that a template variable is required; and how a template makes messages of its variables.
 */
import type { FakeService } from "prefstream/testing"
import { deliver, isAccepted, serve } from "./server.ts"

export const apiKey = "live_0123456789abcdef"
export const callbackKey = "live-callback-auth-key"
export const project = "preferences"

/** What an expert says about a task: indices refer to the responses as they were sent. */
export interface Opinion {
  /** Null if no model is selected. */
  readonly best: number | null
  /** Groups of equal rank, best first. */
  readonly ranking?: ReadonlyArray<ReadonlyArray<number>>
  /** 1 to 7. */
  readonly likert?: number
  readonly justification?: string
  readonly contributor?: string
  /** Whether the response that is selected is one that nobody sent. */
  readonly isWrong?: boolean
  /** Whether responses are shown in the opposite order. */
  readonly isReversed?: boolean
}

type End = "canceled" | "error" | "reported"

interface Task {
  readonly task_id: string
  readonly unique_id: string | undefined
  readonly project: string
  readonly prompt: string
  readonly responses: ReadonlyArray<string>
  readonly guidelines: string | undefined
  readonly callback_url: string | undefined
  result?: Opinion | End
  isNotified?: boolean
}

const failure = (status: number, error: string) => ({ status, body: { status_code: status, error } })

const sourceOf = (index: number) => `model_${index}`

/** The threads of a completed task. Without `opts=annotation_details`, annotations have only key and value. */
const threadsOf = ({ prompt, responses }: Task, opinion: Opinion, opts: ReadonlyArray<string>) => {
  const detail = (members: object) => (opts.includes("annotation_details") ? members : {})
  const { best, contributor, isReversed, isWrong, justification, likert, ranking } = opinion
  const messages = responses.map((text, index) => ({
    role: "assistant",
    source_id: sourceOf(index),
    content: { text: isWrong === true && index === best ? `${text}, rewritten` : text },
    annotations: [{ key: "overall", value: 4 }],
  }))
  const annotations = [
    { key: "selected_model_id", value: best === null ? undefined : sourceOf(best) },
    { key: "likert_value", value: likert, ...detail({ possible_values: [1, 2, 3, 4, 5, 6, 7] }) },
    { key: "justification", value: justification },
    { key: "ranking", value: ranking?.map((group) => group.map(sourceOf)) },
  ].filter(({ value }) => value !== undefined)
  const user = { role: "user", source_id: "user", content: { text: prompt }, annotations: [] }
  return [
    {
      id: "thread_0",
      turns: [
        { id: "turn_0", messages: [user, ...(isReversed === true ? messages.toReversed() : messages)], annotations },
        { id: "turn_1", messages: [], annotations: [] },
      ],
      annotations: [],
      ...(opts.includes("submissions") && {
        submissions: [{ submitted_at: "2025-01-02T04:00:00.000Z", contributor_id: contributor ?? "contributor_1" }],
      }),
    },
  ]
}

const viewOf = (task: Task, opts: ReadonlyArray<string> = []) => {
  const { project, result, task_id } = task
  const base = { task_id, project, created_at: "2025-01-01T08:31:03.169Z" }
  if (result === undefined) return { ...base, status: "pending", threads: [] }
  if (result === "canceled") return { ...base, status: result, threads: [] }
  if (result === "error") {
    const errors = [{ type: "PROMPT_INFEASIBLE", message: "The prompt cannot be answered." }]
    return { ...base, status: result, threads: [], errors }
  }
  const ended = { ...base, status: "completed", completed_at: "2025-01-02T04:00:39.923Z" }
  return result === "reported"
    ? { ...ended, sensitive_content_reports: [{ type: "other" }] }
    : { ...ended, threads: threadsOf(task, result, opts) }
}

/** `refuses`: prompts that the project's template does not take. */
export const make = async ({ refuses = () => false }: { readonly refuses?: (prompt: string) => boolean } = {}) => {
  const tasks: Array<Task> = []

  const create = (body: Record<string, unknown>) => {
    const { callback_url, project_name, template_variables, unique_id } = body as {
      readonly project_name?: string
      readonly unique_id?: string
      readonly callback_url?: string
      readonly template_variables?: Pick<Task, "prompt" | "responses" | "guidelines">
    }
    if (project_name !== project) return failure(404, `Project ${project_name} not found`)
    if (unique_id !== undefined && tasks.some((task) => task.unique_id === unique_id)) {
      return failure(409, "The provided idempotency key or unique_id is already in use for a different request")
    }
    const { guidelines, prompt = "", responses = [] } = template_variables ?? {}
    if (prompt === "" || responses.length < 2 || refuses(prompt)) {
      return failure(400, "template_variables do not fit the project")
    }
    const task_id = `6d6${tasks.length.toString(16).padStart(21, "0")}`
    const task: Task = { task_id, unique_id, project: project_name, prompt, responses, guidelines, callback_url }
    tasks.push(task)
    return { status: 200, body: viewOf(task) }
  }

  const list = (query: URLSearchParams) => {
    if (query.get("project") === null && query.get("batch") === null)
      return failure(400, "project or batch is required")
    const limit = Number(query.get("limit") ?? 100)
    const offset = Number(query.get("next_token") ?? 0)
    const wanted = query.getAll("unique_id")
    const matches = tasks.filter(({ unique_id = "" }) => wanted.length === 0 || wanted.includes(unique_id))
    const docs = matches
      .slice(offset, offset + limit)
      .map(({ result, task_id, unique_id }) => ({ task_id, unique_id, type: "chat", status: result ?? "pending" }))
    const more = offset + limit < matches.length
    const page = { docs, total: matches.length, limit, offset, has_more: more }
    return { status: 200, body: more ? { ...page, next_token: String(offset + limit) } : page }
  }

  const server = await serve(({ body, headers, method, url: { pathname: path, searchParams: query } }) => {
    const basic = `Basic ${Buffer.from(`${apiKey}:`).toString("base64")}`
    if (headers.authorization !== basic && headers.authorization !== `Bearer ${apiKey}`) {
      return failure(401, "No valid API key provided.")
    }
    if (method === "POST" && path === "/v2/task/chat") return create(body as Record<string, unknown>)
    if (method === "GET" && path === "/v1/tasks") return list(query)
    if (method !== "GET" || path !== "/v2/task") return failure(404, "Not found")
    const task = tasks.find(({ task_id }) => task_id === query.get("task_id"))
    return task === undefined
      ? failure(404, "Task not found")
      : { status: 200, body: viewOf(task, query.getAll("opts")) }
  })

  /** Ends each open task. */
  const decide = (opinionOf: (task: Task) => Opinion | End | undefined) => {
    for (const task of tasks) {
      const result = task.result ?? opinionOf(task)
      if (result !== undefined) task.result = result
    }
  }

  return {
    baseUrl: server.origin,
    token: apiKey,
    tasks: (): ReadonlyArray<Task> => tasks,
    requests: server.requests,
    disturb: server.disturb,
    created: () => tasks.map(({ prompt }) => prompt),
    taskIdOf: (wanted: string) => tasks.find(({ prompt }) => prompt === wanted)?.task_id ?? "",
    decide,
    judge: (best, { reversed = false, wrong = false } = {}) =>
      decide(({ prompt, responses }) => ({ best: best(prompt, responses), isReversed: reversed, isWrong: wrong })),
    notify: async (url: string) => {
      for (const task of tasks) {
        if (task.result === undefined || task.isNotified === true) continue
        const response = {}
        const told = { ...viewOf(task), callback_url: url, type: "chat", response, metadata: {} }
        const body = JSON.stringify({ task_id: task.task_id, response, task: told })
        const status = await deliver(url, { "scale-callback-auth": callbackKey }, body)
        task.isNotified = isAccepted(status)
      }
    },
    close: server.close,
  } satisfies FakeService & Record<string, unknown>
}

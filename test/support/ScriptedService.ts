/**
 * A real HTTP server on loopback whose answers a test writes itself: for what the
 * embedded service never does (failing, lying, breaking off).
 */
import type { IncomingHttpHeaders } from "node:http"
import { pipeline } from "node:stream/promises"
import { Effect, Layer, Redacted } from "effect"
import { ServiceProfile, type ServiceSettings } from "../../src/api/ServiceProfile.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { listening, withBody } from "./listening.ts"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Milliseconds, from a monotonic clock. */
  readonly at: number
}

export const isPost = ({ method }: Received) => method === "POST"

/** The requests that created tasks, or tried to. */
export const posts = ({ received }: Pick<ScriptedService, "received">) => received.filter(isPost)

/** All prompts that it was asked to judge, once for each request. */
export const promptsIn = (service: Pick<ScriptedService, "received">) =>
  posts(service).flatMap(({ body }) => (JSON.parse(body) as TaskRequest).prompts)

/** The id of the task that is polled. */
export const taskOf = ({ path }: Received): string => path.split("/").at(-1)!

/** An answer; `reset` breaks the connection off instead, `breaksOff` in the middle of the body. */
export type Answer =
  | {
      readonly status: number
      readonly headers?: Record<string, string>
      /** Text, what is JSON, or pieces that are sent one after another for as long as the client takes them. */
      readonly body?: unknown
      readonly breaksOff?: boolean
    }
  | "reset"

export interface ScriptedService {
  readonly received: Array<Received>
  readonly baseUrl: string
  readonly token: string
  readonly profile: Layer.Layer<ServiceProfile>
}

const token = "secret-token"

const isPieces = (body: unknown): body is AsyncIterable<string | Uint8Array> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body

export const make = (
  answer: (request: Received, before: ReadonlyArray<Received>) => Answer | Promise<Answer>,
  settings: Partial<ServiceSettings> = {},
  /** What `openapi.json` is, or an answer for each request. These requests are not among those that are received. */
  document?: unknown,
) =>
  Effect.suspend(() => {
    const received: Array<Received> = []
    const serving = listening(
      withBody((request, response, body) => {
        const { headers, method = "", url: path = "" } = request
        const got: Received = { method, path, headers, body: body.toString(), at: performance.now() }
        if (got.path === "/v1/openapi.json") {
          const reply: Answer =
            typeof document === "function"
              ? document(got)
              : { status: document === undefined ? 404 : 200, body: document }
          if (reply === "reset") return void request.socket.destroy()
          response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
          return void response.end(JSON.stringify(reply.body))
        }
        const before = [...received]
        received.push(got)
        const send = async () => {
          const reply = await answer(got, before)
          if (reply === "reset") return request.socket.destroy()
          const { body = "", breaksOff = false, headers, status } = reply
          if (isPieces(body)) {
            response.writeHead(status, { "content-type": "application/json", ...headers })
            return pipeline(body, response).catch(() => {})
          }
          const text = typeof body === "string" ? body : JSON.stringify(body)
          response.writeHead(status, { "content-type": "application/json", ...headers })
          return breaksOff ? response.write(text, () => request.socket.destroy()) : response.end(text)
        }
        void send()
      }),
    )
    return Effect.map(serving, ({ close, origin }) => {
      const baseUrl = `${origin}/v1`
      return {
        received,
        baseUrl,
        token,
        profile: ServiceProfile.layer({
          baseUrl,
          token: Redacted.make(token),
          identity: "the scripted service",
          requestsPerSecond: 1000,
          retries: 2,
          pollInterval: { min: "5 millis", max: "20 millis" },
          ...settings,
        }).pipe(Layer.orDie),
        close: Effect.promise(close),
      }
    })
  })

/** A document that declares these members of a task, and `more` of its creation. */
export const declaring = (properties: object, more: object = {}) => ({
  paths: {
    "/v1/tasks": { post: { ...more, requestBody: { content: { "application/json": { schema: { properties } } } } } },
  },
})

/** The result of a task, by the order of creation that its id names: always the given completion. */
export const resultOf = (requests: ReadonlyArray<Received>, taskId: string, bestIndex = 0) => {
  const creation = requests.filter(({ method }) => method === "POST")[Number(taskId.replace("task_", ""))]
  if (creation === undefined) throw new Error(`${taskId} was not created`)
  const { prompts } = JSON.parse(creation.body) as TaskRequest
  return {
    task_id: taskId,
    status: "completed",
    results: prompts.map(({ prompt }) => ({
      prompt,
      best_completion_index: bestIndex,
      annotations: { rationale: "because" },
    })),
  }
}

/** Answers like a service that judges at once. It knows the tasks that were created, and no other ones. */
export const completedBy = (requests: ReadonlyArray<Received>, taskId: string, bestIndex = 0): Answer =>
  /^task_\d+$/.test(taskId)
    ? { status: 200, body: resultOf(requests, taskId, bestIndex) }
    : { status: 404, body: { detail: "no such task" } }

/** A service that takes every task, names it by the order of creation, and completes it at once. */
export const obliging = (request: Received, before: ReadonlyArray<Received>): Answer => {
  if (request.method === "GET") return completedBy(before, request.path.split("/").at(-1)!)
  const ordinal = before.filter(({ method }) => method === "POST").length
  return { status: 201, body: { task_id: `task_${ordinal}`, status: "pending" } }
}

/** The answer to a poll of a task that has no results yet. */
export const pending = (request: Received): Answer => ({
  status: 200,
  body: { task_id: taskOf(request), status: "pending" },
})

/** Takes every task, and answers each of its prompts with these members of a result; the first completion is the default. */
export const judging =
  (judge: (asked: TaskRequest["prompts"][number], taskId: string) => object) =>
  (request: Received, before: ReadonlyArray<Received>): Answer => {
    if (isPost(request)) return obliging(request, before)
    const id = taskOf(request)
    const { prompts } = JSON.parse(before.filter(isPost)[Number(id.replace("task_", ""))]!.body) as TaskRequest
    const results = prompts.map((asked) => ({ prompt: asked.prompt, best_completion_index: 0, ...judge(asked, id) }))
    return { status: 200, body: { task_id: id, status: "completed", results } }
  }

/** A service that completes every task at once, except where `odd` has another answer. */
export const except = (
  odd: (request: Received, before: ReadonlyArray<Received>) => Answer | false,
  ...rest: Parameters<typeof make> extends readonly [unknown, ...infer Rest] ? Rest : never
) => make((request, before) => odd(request, before) || obliging(request, before), ...rest)

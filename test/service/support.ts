/** A client of raw requests, and services on files of their own. */
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpServer } from "effect/http"
import { ChildProcess } from "effect/process"
import { Vote } from "../../src/domain/Vote.ts"
import * as ServiceLayers from "../../src/service/ServiceLayers.ts"
import { temporaryPath } from "../node/support.ts"

export const token = Redacted.make("a-token-for-tests")

export const platform = Layer.merge(NodeServices.layer, FetchHttpClient.layer)

export const temporaryFile = temporaryPath

/** A service on loopback, with `token` and a file of its own unless the options say otherwise, until the scope closes. */
export const build = Effect.fnUntraced(function* (
  options: Partial<ServiceLayers.ServiceOptions> & { readonly database?: string } = {},
) {
  const database = options.database ?? (yield* Effect.provide(temporaryFile("service.sqlite"), NodeServices.layer))
  const defaults = { rateLimit: "none", experts: [], token } as const
  const services = yield* Layer.build(Layer.fresh(ServiceLayers.layerServer({ ...defaults, ...options, database })))
  return { services, base: HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address) }
})

/** A service in a process of its own, from a file of fixtures/, and its address. */
export const spawned = Effect.fnUntraced(function* (fixture: string, ...args: ReadonlyArray<string>) {
  const file = `${import.meta.dirname}/fixtures/${fixture}`
  const child = yield* ChildProcess.make(process.execPath, [file, ...args], { stderr: "inherit" })
  const lines = child.stdout.pipe(Stream.decodeText, Stream.splitLines)
  return { child, base: yield* Effect.flatMap(Stream.runHead(lines), Effect.fromOption) }
})

/** Its address. */
export const start = (options: Parameters<typeof build>[0]) => Effect.map(build(options), ({ base }) => base)

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface Request {
  readonly headers?: Record<string, string>
  /** Sent as JSON; text is sent as it is. */
  readonly body?: unknown
}

/** One request with `token`, unless the headers say otherwise. */
export const call = Effect.fnUntraced(function* (
  method: "GET" | "POST" | "PUT" | "HEAD",
  url: string,
  { headers, body }: Request = {},
) {
  const request = HttpClientRequest.make(method)(url).pipe(
    HttpClientRequest.setHeaders({ authorization: `Bearer ${Redacted.value(token)}`, ...headers }),
    body === undefined
      ? (request) => request
      : HttpClientRequest.bodyText(
          typeof body === "string" ? body : JSON.stringify(body),
          headers?.["content-type"] ?? "application/json",
        ),
  )
  const response = yield* HttpClient.execute(request)
  const text = yield* response.text
  const isJson = /[/+]json/.test(response.headers["content-type"] ?? "")
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== "" ? JSON.parse(text) : undefined,
  } satisfies Answer
})

/** Asks for a task until it is completed. */
export const completed = (base: string, taskId: string) =>
  call("GET", `${base}/v1/tasks/${taskId}`).pipe(
    Effect.repeat({ until: (answer) => answer.json?.status === "completed" }),
  )

const decodeVotes = Schema.decodeUnknownSync(Schema.Array(Vote))

/** Posts a task, waits until it is completed, and returns its votes. */
export const votesOn = Effect.fnUntraced(function* (base: string, body: object) {
  const { json } = yield* call("POST", `${base}/v1/tasks`, { body })
  const answer = yield* completed(base, json.task_id)
  const results = answer.json.results as ReadonlyArray<{ readonly annotations: { readonly votes: unknown } }>
  return results.flatMap(({ annotations }) => decodeVotes(annotations.votes))
})

export const task = (prompts: ReadonlyArray<readonly [prompt: string, ...completions: ReadonlyArray<string>]>) => ({
  task_type: "rlhf_ranking",
  prompts: prompts.map(([prompt, ...completions]) => ({ prompt, completions })),
})

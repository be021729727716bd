/** A client of raw requests, and services on files of their own. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpServer } from "effect/http"
import * as AnnotationService from "../../src/service/AnnotationService.ts"

export const token = Redacted.make("a-token-for-tests")

export const platform = Layer.merge(NodeServices.layer, FetchHttpClient.layer)

/** A path in a directory that is removed at the end of the test. */
export const temporaryFile = Effect.fnUntraced(function* (name: string) {
  const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  return (yield* Path.Path).join(directory, name)
})

type Options = AnnotationService.ServiceOptions & { readonly database: string }

/** A service on loopback, with `token`; its address. It stops when the scope closes. */
export const start = Effect.fnUntraced(function* (options: Options) {
  const context = yield* Layer.build(
    Layer.fresh(AnnotationService.layerServer({ rateLimit: "none", ...options, token })),
  )
  return yield* HttpServer.HttpServer.pipe(
    Effect.map(({ address }) => HttpServer.formatAddress(address)),
    Effect.provide(context),
  )
})

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

export const task = (prompts: ReadonlyArray<readonly [prompt: string, ...completions: ReadonlyArray<string>]>) => ({
  task_type: "rlhf_ranking",
  prompts: prompts.map(([prompt, ...completions]) => ({ prompt, completions })),
})

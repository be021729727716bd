/**
 * Uses an annotation service with another API. Two requests create a job: an upsert of the job with its questions, and
 * an order, which is billed. Answers come in pages. Each answer has the numbers of its question and of the chosen
 * option, but no text. The API key has its own header.
 *
 * `protocol` says which requests to send and what the responses mean. Everything else works as in any pipeline: rate
 * limit, retries, ledger, report, thresholds, `prefstream status`. No task is billed twice, even if the process is
 * killed.
 *
 *     LABELING_URL=http://127.0.0.1:8080 LABELING_KEY=... npx prefstream run pipelines/own-service.ts
 */
import { Config, Effect, Option, Redacted, Schema, Stream } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { Pipeline, Source, Tasks } from "prefstream"

const { key, url } = Effect.runSync(
  Config.all({
    key: Config.Redacted("LABELING_KEY").pipe(Config.withDefault(Redacted.make("none"))),
    url: Config.String("LABELING_URL").pipe(Config.withDefault("http://127.0.0.1:8080")),
  }),
)

/** `POST /jobs/NAME/orders` */
const Order = Schema.Struct({ order: Schema.Struct({ number: Schema.Int }) })

const isOrder = Schema.is(Order)

/** `GET /orders/NUMBER` */
const State = Schema.Struct({ phase: Schema.Literals(["QUEUED", "WORKING", "FINISHED", "ABORTED"]) })

/** `GET /orders/NUMBER/answers?page=0` */
const Page = Schema.Struct({
  answers: Schema.Array(Schema.Struct({ question: Schema.Int, option: Schema.Int, comment: Schema.String })),
  more: Schema.Boolean,
})

const json = HttpClientRequest.bodyJsonUnsafe

const protocol: Tasks.Protocol = {
  authorize: (request, token) => HttpClientRequest.setHeader(request, "x-api-key", Redacted.value(token)),

  // The upsert is idempotent. The order is not: if its answer is lost, the task is in doubt until a person decides with
  // `prefstream resolve`.
  create: Effect.fnUntraced(function* ({ guidelines, prompts }, { http, idempotencyKey, repeatable }) {
    const questions = prompts.map(({ completions, prompt }) => ({ text: prompt, options: completions }))
    const job = `/jobs/${idempotencyKey}`
    yield* repeatable.execute(HttpClientRequest.put(job).pipe(json({ instructions: guidelines, questions })))
    const ordered = yield* http.post(`${job}/orders`)
    const { order } = yield* HttpClientResponse.schemaBodyJson(Order)(ordered)
    return String(order.number)
  }),

  poll: Effect.fnUntraced(function* (taskId, { http }) {
    const order = `/orders/${taskId}`
    const { phase } = yield* Effect.flatMap(http.get(order), HttpClientResponse.schemaBodyJson(State))
    if (phase === "ABORTED") return { _tag: "Failed", status: phase }
    if (phase !== "FINISHED") return { _tag: "Open", status: phase }
    const pages = Stream.paginate(0, (page: number) =>
      http.get(`${order}/answers?page=${page}`).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Page)),
        Effect.map(({ answers, more }) => [answers, more ? Option.some(page + 1) : Option.none()] as const),
      ),
    )
    const results = Stream.map(pages, ({ comment, option, question }) => ({
      prompt: question,
      best: option,
      annotations: { rationale: comment },
    }))
    return { _tag: "Completed", results: yield* Stream.runCollect(results) }
  }),

  // The payload of a webhook: `{"order":{"number":12},"phase":"FINISHED"}`.
  taskIdsOf: (payload) => (isOrder(payload) ? [String(payload.order.number)] : undefined),
}

export default Pipeline.make({
  directory: "own-service",
  source: Source.files("data/sample.jsonl"),
  client: Tasks.AnnotationClient.layerProtocol(protocol),
  // The ledger stores the base URL. The limits apply to all requests.
  service: Tasks.ServiceProfile.layer({
    baseUrl: url,
    token: key,
    concurrency: 4,
    requestsPerSecond: 10,
    openStatuses: ["QUEUED", "WORKING"],
  }),
})

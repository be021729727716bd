/**
 * Uses an annotation service with another API: it has jobs with questions, and answers each with the number of an
 * option. `protocol` says which requests to send and what the responses mean. All else works as in any pipeline: rate
 * limit, retries, ledger, report, thresholds, `prefstream status`. No task is paid for twice, whenever the process is
 * killed.
 *
 *     LABELING_URL=http://127.0.0.1:8080 npx prefstream run pipelines/own-service.ts
 */
import { Config, Effect, Redacted, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { Pipeline, Source, Tasks } from "prefstream"

const url = Effect.runSync(Config.String("LABELING_URL").pipe(Config.withDefault("http://127.0.0.1:8080")))

/** `POST /jobs` and `GET /jobs/UUID` answer with a job. */
const Job = Schema.Struct({
  uuid: Schema.String,
  state: Schema.Literals(["open", "done", "canceled"]),
  questions: Schema.Array(
    Schema.Struct({
      text: Schema.String,
      answer: Schema.optionalKey(Schema.Struct({ option: Schema.Int, comment: Schema.String })),
    }),
  ),
})

const readJob = HttpClientResponse.schemaBodyJson(Job)

/** Each function makes one attempt over `http`. The library decides when to call it, and whether a retry is safe. */
const protocol: Tasks.Protocol = {
  create: ({ guidelines, prompts }, { http, idempotencyKey }) => {
    const questions = prompts.map(({ completions, prompt }) => ({ text: prompt, options: completions }))
    const body = { external_id: idempotencyKey, instructions: guidelines, questions }
    return http.execute(HttpClientRequest.post("/jobs").pipe(HttpClientRequest.bodyJsonUnsafe(body))).pipe(
      Effect.flatMap(readJob),
      Effect.map(({ uuid }) => uuid),
    )
  },
  poll: Effect.fnUntraced(function* (taskId, { http }) {
    const { questions, state } = yield* Effect.flatMap(http.get(`/jobs/${taskId}`), readJob)
    if (state === "open") return { _tag: "Open", status: state } as const
    if (state === "canceled") return { _tag: "Failed", status: state } as const
    const results = questions.map(({ answer, text }) => ({
      prompt: text,
      best_completion_index: answer?.option,
      annotations: { rationale: answer?.comment },
    }))
    return { _tag: "Completed", body: JSON.stringify({ task_id: taskId, status: "completed", results }) } as const
  }),
}

export default Pipeline.make({
  directory: "own-service",
  source: Source.files("data/sample.jsonl"),
  client: Tasks.AnnotationClient.layerProtocol(protocol),
  // The ledger keeps the base URL; the limits hold for all requests.
  service: Tasks.ServiceProfile.layer({
    baseUrl: url,
    token: Redacted.make("none"),
    concurrency: 4,
    requestsPerSecond: 10,
  }),
})

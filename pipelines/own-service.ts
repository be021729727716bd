/**
 * An annotation service of another shape: it has jobs with questions, and answers them by the number of an option. The client
 * here speaks its protocol. All else is that of any pipeline: ledger, report, thresholds, `prefstream status`.
 *
 *     LABELING_URL=http://127.0.0.1:8080 npx prefstream run pipelines/own-service.ts
 */
import { Config, Effect, Layer, Redacted, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse, type HttpClientError } from "effect/http"
import { Pipeline, Source, TaskRequest, Tasks } from "prefstream"

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

/** What may be done about a failure is told by its reason. */
const failure = (reason: Tasks.AnnotationClientError["reason"]) =>
  new Tasks.AnnotationClientError({ baseUrl: url, reason })

const ofHttp = (error: HttpClientError.HttpClientError) => {
  const status = error.response?.status
  const detail = error.message
  if (status === undefined) return failure(new Tasks.Unavailable({ detail, maybeDone: true }))
  if (status === 401 || status === 403) return failure(new Tasks.AccessDenied({ status, detail }))
  if (status === 404) return failure(new Tasks.TaskUnknown({ status, detail }))
  if (status === 413) return failure(new Tasks.TooLarge({ detail }))
  if (status === 429) return failure(new Tasks.Unavailable({ status, detail, maybeDone: false }))
  if (status >= 500) return failure(new Tasks.Unavailable({ status, detail, maybeDone: true }))
  return failure(new Tasks.Refused({ status, detail }))
}

const client = Layer.effect(
  Tasks.AnnotationClient,
  Effect.gen(function* () {
    const http = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
      HttpClient.filterStatusOk,
    )
    const jobOf = (request: HttpClientRequest.HttpClientRequest) =>
      http.execute(request).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Job)),
        Effect.timeout("1 minute"),
        Effect.catchTags({
          HttpClientError: (error) => Effect.fail(ofHttp(error)),
          SchemaError: ({ message }) => Effect.fail(failure(new Tasks.UnusableAnswer({ detail: message }))),
          TimeoutError: ({ message }) =>
            Effect.fail(failure(new Tasks.Unavailable({ detail: message, maybeDone: true }))),
        }),
        // Sent again, for some minutes, where the service certainly did not take the request.
        Effect.retry({
          while: ({ reason }) => reason._tag === "Unavailable" && !reason.maybeDone,
          schedule: Schedule.exponential("250 millis"),
          times: 10,
        }),
      )
    return Tasks.AnnotationClient.of({
      create: Effect.fnUntraced(function* (body: Uint8Array, key: string, sending) {
        const { guidelines, prompts } = yield* Effect.orDie(
          Schema.decodeEffect(Schema.fromJsonString(TaskRequest))(new TextDecoder().decode(body)),
        )
        const questions = prompts.map(({ completions, prompt }) => ({ text: prompt, options: completions }))
        const request = HttpClientRequest.post("/jobs").pipe(
          HttpClientRequest.bodyJsonUnsafe({ external_id: key, instructions: guidelines, questions }),
        )
        // The ledger records the task as being sent. If the outcome is unknown, the task is in doubt, and not sent again by itself.
        if (sending !== undefined) yield* sending.claim
        const { uuid } = yield* jobOf(request).pipe(
          Effect.tapError(({ reason }) =>
            sending !== undefined &&
            (reason._tag === "UnusableAnswer" || (reason._tag === "Unavailable" && reason.maybeDone))
              ? sending.doubt
              : Effect.void,
          ),
        )
        return uuid
      }),
      poll: Effect.fnUntraced(function* (taskId: string) {
        const { questions, state } = yield* jobOf(HttpClientRequest.get(`/jobs/${taskId}`))
        if (state === "open") return { _tag: "Open", status: state } as const
        if (state === "canceled") return { _tag: "Failed", status: state } as const
        const results = questions.map(({ answer, text }) => ({
          prompt: text,
          best_completion_index: answer?.option,
          annotations: { rationale: answer?.comment },
        }))
        return { _tag: "Completed", body: JSON.stringify({ task_id: taskId, status: "completed", results }) } as const
      }),
    })
  }),
)

export default Pipeline.make({
  directory: "own-service",
  source: Source.files("data/sample.jsonl"),
  client,
  // How it is spoken to: the address that the ledger keeps, how many requests at once, how often to poll.
  service: Tasks.ServiceProfile.layer({ baseUrl: url, token: Redacted.make("none"), concurrency: 4 }),
})

/**
 * The contract as a custom protocol: a template for a service that differs little from the contract. For the contract
 * itself, no protocol is needed.
 *
 * Guarantees: one request creates a task. If its answer is lost, the request is repeated with the same key if the
 * service honors keys; otherwise, the task is in doubt. The service's limits are not read from its OpenAPI document.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { Tasks } from "prefstream"

const Created = Schema.Struct({ task_id: Schema.String })

const Task = Schema.Struct({
  status: Schema.String,
  results: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        prompt: Schema.String,
        best_completion_index: Schema.Int,
        annotations: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
      }),
    ),
  ),
})

export const protocol: Tasks.Protocol = {
  create: Effect.fnUntraced(function* (task, { http, idempotencyKey }) {
    const request = HttpClientRequest.post("/tasks").pipe(
      HttpClientRequest.setHeader("idempotency-key", idempotencyKey),
      HttpClientRequest.bodyJsonUnsafe(task),
    )
    const created = yield* Effect.flatMap(http.execute(request), HttpClientResponse.schemaBodyJson(Created))
    return created.task_id
  }),

  poll: Effect.fnUntraced(function* (taskId, { http }) {
    const answer = yield* http.get(`/tasks/${encodeURIComponent(taskId)}`)
    const { results = [], status } = yield* HttpClientResponse.schemaBodyJson(Task)(answer)
    if (status === "failed" || status === "canceled") return { _tag: "Failed", status }
    if (status !== "completed") return { _tag: "Open", status }
    return {
      _tag: "Completed",
      results: results.map(({ annotations, best_completion_index, prompt }) => ({
        prompt,
        best: best_completion_index,
        annotations,
      })),
    }
  }),
}

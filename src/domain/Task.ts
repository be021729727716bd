/**
 * The requests and results of the annotation service's contract, version 1.
 *
 * Guarantees: requests have exactly the members of the contract. Results may have more: unknown members of
 * `annotations` are kept, others are ignored. The statuses besides `completed` and the place of the task id in the
 * creation response depend on the service; see `ServiceProfile`.
 */
import { Predicate, Schema } from "effect"

/** One element of a task's `prompts`: completions to be ranked against each other. */
export const TaskPrompt = Schema.Struct({ prompt: Schema.String, completions: Schema.Array(Schema.String) })
export type TaskPrompt = typeof TaskPrompt.Type

/** The one `task_type` that the contract names. */
export const rlhfRanking = "rlhf_ranking"

/** The body of `POST /tasks`. */
export const TaskRequest = Schema.Struct({
  /** The kind of task: `rlhf_ranking`. */
  task_type: Schema.String,
  /** In the order in which results come back. */
  prompts: Schema.Array(TaskPrompt),
  /** Instructions for the experts. Absent if there are none. */
  guidelines: Schema.optionalKey(Schema.String),
})
export type TaskRequest = typeof TaskRequest.Type

/** Parses a request that prefstream wrote; throws on anything else. */
export const parseTaskRequest = Schema.decodeUnknownSync(Schema.fromJsonString(TaskRequest))

/** What another service sends as a rationale, as text: its JSON where it is none. */
export const rationaleOf = (value: unknown): string | null =>
  value === null || Predicate.isString(value) ? value : JSON.stringify(value)

/** What experts added to their choice for one prompt. Unknown members are kept. */
export const Annotations = Schema.StructWithRest(
  Schema.Struct({ rationale: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
  [Schema.Record(Schema.String, Schema.Unknown)],
)
export type Annotations = typeof Annotations.Type

/** The result of one prompt. */
export const ResultItem = Schema.Struct({
  prompt: Schema.String,
  /** Zero-based index into that prompt's completions. Null if the prompt was withdrawn (`annotations.withdrawn`): there is no judgment. */
  best_completion_index: Schema.NullOr(Schema.Int),
  annotations: Schema.optionalKey(Schema.NullOr(Annotations)),
})
export type ResultItem = typeof ResultItem.Type

/** The body of `GET /tasks/{task_id}`. `results` is present once the task is completed. */
export const TaskResult = Schema.Struct({
  /** The id at the service. */
  task_id: Schema.String,
  /** Which statuses mean that it is done, open or failed is in `ServiceProfile`. */
  status: Schema.String,
  /** One per prompt. */
  results: Schema.optionalKey(Schema.Array(ResultItem)),
})
export type TaskResult = typeof TaskResult.Type

/** The annotation service's contract, version 1. Unknown members are kept in `annotations`, and ignored elsewhere. */
import { Predicate, Schema } from "effect"
import { described } from "./Described.ts"
import { Voters } from "./Voters.ts"

export const TaskPrompt = Schema.Struct({
  prompt: described("Shown to the experts as Markdown.", Schema.String),
  completions: described(
    "The completions to rank. Their order is shuffled for each expert.",
    Schema.Array(Schema.String),
  ),
})
export type TaskPrompt = typeof TaskPrompt.Type

export const rlhfRanking = "rlhf_ranking"

/** The body of `POST /tasks`. */
export const TaskRequest = Schema.Struct({
  task_type: described(`The kind of task: \`${rlhfRanking}\`.`, Schema.String),
  prompts: described(
    "The prompts to judge, with their completions. Results are in the same order.",
    Schema.Array(TaskPrompt),
  ),
  guidelines: Schema.optionalKey(
    described(
      "Instructions for the experts, in Markdown. A `rubric` in the front matter adds further questions besides the choice.",
      Schema.String,
    ),
  ),
  group: Schema.optionalKey(described("The group that the task belongs to.", Schema.String)),
  votes: Schema.optionalKey(described("Number of experts who judge each prompt.", Schema.Int)),
  voters: Schema.optionalKey(described("Who judges: only language models, or only people. Default: both.", Voters)),
})
export type TaskRequest = typeof TaskRequest.Type

/** Parses a request that prefstream wrote; throws on any other text. */
export const parseTaskRequest = Schema.decodeUnknownSync(Schema.fromJsonString(TaskRequest))

/** The rationale as text. If a service sends another kind of value, its JSON is the rationale. */
export const rationaleOf = (value: unknown): string | null =>
  value === null || Predicate.isString(value) ? value : JSON.stringify(value)

/** For one prompt, the experts' answers besides the choice. */
export const Annotations = Schema.StructWithRest(
  Schema.Struct({ rationale: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
  [Schema.Record(Schema.String, Schema.Unknown)],
)
export type Annotations = typeof Annotations.Type

export const ResultItem = Schema.Struct({
  prompt: described("The prompt, unchanged from the request.", Schema.String),
  best_completion_index: described(
    "Zero-based index of the best completion. Null if the prompt was withdrawn, or if no expert could judge it.",
    Schema.NullOr(Schema.Int),
  ),
  /** The annotations; null or absent if the service returns only the choice. */
  annotations: Schema.optionalKey(Schema.NullOr(Annotations)),
})
export type ResultItem = typeof ResultItem.Type

/** The body of `GET /tasks/{task_id}`. */
export const TaskResult = Schema.Struct({
  task_id: described("The task's id. The built-in service uses `task_` and 32 hexadecimal digits.", Schema.String),
  /** `ServiceProfile` tells which statuses mean completed, open, or failed. */
  status: Schema.String,
  results: Schema.optionalKey(
    described(
      "One item per prompt, in the order of the prompts; present once the task is completed.",
      Schema.Array(ResultItem),
    ),
  ),
})
export type TaskResult = typeof TaskResult.Type

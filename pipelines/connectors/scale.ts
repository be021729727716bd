/**
 * Scale's generative AI API: a chat task has one prompt. Its result is the turn in which an expert selected a model.
 *
 *     client: Tasks.AnnotationClient.layerProtocol(protocol({ project: "prefs", callbackUrl: "https://…/webhook" })),
 *     service: Tasks.ServiceProfile.layer({ ...settings, baseUrl: "https://api.scale.com", token }),
 *     batch: { maxPrompts: 1, maxBytes: 1_000_000 },
 *     webhook: { scheme: { header: "scale-callback-auth", digest: "none" }, secrets: [callbackKey] },
 *
 * No task is created twice: Scale answers a repeated `unique_id` with 409. The connector then finds the task by it.
 *
 * Sources: scaleapi-python-client 2.18.4 (b4111b2), scaleapi/__init__.py and scaleapi/api_client/v2; the pages /v2,
 * /v2/task-chat-create and /api-reference/idempotency of docs.genai.scale.com. Not confirmed with the service: v2
 * accepts a `unique_id` and Basic authorization; `GET /v1/tasks` finds v2 tasks; the body of callbacks; the key
 * `ranking`. Adapt the template variables and annotations to your project.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { Tasks } from "prefstream"

/** Scale never forgets a `unique_id`. */
export const settings = { idempotencyKey: "honored", idempotencyKeyLifetime: "Infinity" } as const

const { Array: list, optionalKey, String: text, Struct: struct } = Schema

const Created = struct({ task_id: text })
const Matches = struct({ docs: Schema.NonEmptyArray(Created) })
const unknown = optionalKey(Schema.Unknown)
const Annotation = struct({ key: text, value: unknown, possible_values: unknown })
const Message = struct({ source_id: optionalKey(text), content: struct({ text: optionalKey(text) }) })
const Thread = struct({
  turns: list(struct({ messages: list(Message), annotations: list(Annotation) })),
  submissions: optionalKey(list(struct({ contributor_id: text }))),
})
/** A task with reported content is completed without threads. */
const Task = struct({ status: text, threads: optionalKey(list(Thread)) })

/** The best response is first. Equal responses form a group. */
const Ranking = optionalKey(list(Schema.Union([text, list(text)])))
const isAnswers = Schema.is(struct({ selected_model_id: text, justification: optionalKey(text), ranking: Ranking }))
const isLikert = Schema.is(struct({ value: Schema.Int, possible_values: Schema.NonEmptyArray(Schema.Int) }))
const isConflict = Schema.is(struct({ reason: struct({ status: Schema.Literal(409) }) }))

/** The distance from the middle of the scale. Its side is ignored: the selected model says which response is better. */
const strengthOf = (likert: unknown) => {
  if (!isLikert(likert)) return false
  const { possible_values: scale, value } = likert
  const strength = Math.ceil(Math.abs(value - (Math.min(...scale) + Math.max(...scale)) / 2))
  return strength > 0 && { strength }
}

/** Identifies responses by their texts instead of Scale's ids. */
const resultsOf = ({ submissions = [], turns }: typeof Thread.Type): ReadonlyArray<Tasks.PromptResult> => {
  const experts = [...new Set(submissions.map(({ contributor_id }) => contributor_id))]
  const expert = experts.length === 1 && { expert: experts[0] }
  return turns.flatMap(({ annotations, messages }) => {
    const answers = Object.fromEntries(annotations.map(({ key, value }) => [key, value]))
    if (!isAnswers(answers)) return []
    const { justification: rationale, ranking, selected_model_id } = answers
    const textOf = (id: string) => messages.find(({ source_id }) => source_id === id)?.content.text ?? id
    const groups = ranking?.map((group) => (typeof group === "string" ? textOf(group) : group.map(textOf)))
    const strength = strengthOf(annotations.find(({ key }) => key === "likert_value"))
    const annotated = { ...expert, ...(rationale !== undefined && { rationale }), ...strength }
    return [{ best: textOf(selected_model_id), ranking: groups, annotations: annotated }]
  })
}

export const protocol = (options: { readonly project: string; readonly callbackUrl?: string }): Tasks.Protocol => ({
  authorize: (request, token) => HttpClientRequest.basicAuth(request, token, ""),

  create: Effect.fnUntraced(function* ({ guidelines, prompts }, { http, idempotencyKey: unique_id }) {
    // After `TooLarge`, the library splits the task in two.
    const reason = new Tasks.TooLarge({ detail: "a chat task has one prompt" })
    if (prompts.length > 1) return yield* new Tasks.AnnotationClientError({ baseUrl: "Scale", reason })
    const template_variables = { prompt: prompts[0]?.prompt, responses: prompts[0]?.completions, guidelines }
    const body = { project_name: options.project, callback_url: options.callbackUrl, unique_id, template_variables }
    const request = HttpClientRequest.post("/v2/task/chat").pipe(HttpClientRequest.bodyJsonUnsafe(body))
    const urlParams = { project: options.project, unique_id }
    const known = Effect.flatMap(http.get("/v1/tasks", { urlParams }), HttpClientResponse.schemaBodyJson(Matches))
    const { task_id } = yield* Effect.flatMap(http.execute(request), HttpClientResponse.schemaBodyJson(Created)).pipe(
      Effect.catchIf(isConflict, () => Effect.map(known, ({ docs }) => docs[0])),
    )
    return task_id
  }),

  poll: Effect.fnUntraced(function* (task_id, { http }) {
    const urlParams = { task_id, opts: ["annotation_details", "submissions"] }
    const task = yield* Effect.flatMap(http.get("/v2/task", { urlParams }), HttpClientResponse.schemaBodyJson(Task))
    const { status, threads } = task
    if (["canceled", "error", "deleted"].includes(status)) return { _tag: "Failed", status }
    if (status !== "completed") return { _tag: "Open", status }
    if (threads === undefined) return { _tag: "Failed", status: "reported" }
    return { _tag: "Completed", results: threads.flatMap(resultsOf) }
  }),

  taskIdsOf: (payload) => (Schema.is(Created)(payload) ? [payload.task_id] : undefined),
})

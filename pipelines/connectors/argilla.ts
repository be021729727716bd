/**
 * Argilla 2.5 or later: each prompt becomes a record, and each submitted response becomes a vote.
 *
 *     client: Tasks.AnnotationClient.layerProtocol(protocol({ dataset: "6005571a-…" })),
 *     service: Tasks.ServiceProfile.layer({ ...settings, baseUrl: "https://argilla.example/api/v1", token }),
 *     webhook: { secrets: [`whsec_${secret}`] },
 *
 * Requirements:
 *
 * - The dataset is published, and has its own guidelines.
 * - It has the text fields `prompt`, `response1`, `response2`, …
 * - It has a ranking or label question `preference`, whose options have the names of the response fields. Questions
 *   `rationale` (text) and `strength` (rating) are optional.
 * - It has a terms metadata property `prefstream_task`.
 * - The key belongs to an owner or to an admin of the workspace.
 * - The webhook subscribes to `record.completed`.
 *
 * A record that all experts discard stays open.
 *
 * Sources: argilla-server 2.8 in extralit/extralit (4ce38e1), argilla-server/src/argilla_server:
 * api/handlers/v1/datasets, api/schemas/v1, bulk/records_bulk.py, webhooks/v1. Not confirmed with a running server.
 */
import { Effect, Redacted, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { Tasks } from "prefstream"

/** Retries are safe, because an upsert by `external_id` is idempotent. */
export const settings = { idempotencyKey: "honored", idempotencyKeyLifetime: "Infinity" } as const

/** `names`: experts' names by user id. They are not read from Argilla's list of users, which contains API keys. */
type Options = { readonly dataset: string; readonly names?: { readonly [userId: string]: string } }

const { Array: list, NullOr: nullOr, optionalKey, String: text, Struct: struct } = Schema

const ResponseName = text.check(Schema.isPattern(/^response[1-9]\d*$/))
const Ranked = struct({ value: ResponseName, rank: Schema.Int })
const Preference = struct({ value: Schema.Union([ResponseName, list(Ranked)]) })
const [Text, Rating] = [struct({ value: text }), struct({ value: Schema.Int })]
const values = struct({ preference: Preference, rationale: optionalKey(Text), strength: optionalKey(Rating) })
const Submitted = struct({ status: Schema.Literal("submitted"), user_id: nullOr(text), updated_at: text, values })
const Other = struct({ status: Schema.Literals(["draft", "discarded"]) })
const Item = struct({ external_id: text, status: text, responses: list(Schema.Union([Submitted, Other])) })
const Page = struct({ items: list(struct({ record: Item })) })
const EventData = struct({ metadata: struct({ prefstream_task: text }) })
const isCompletion = Schema.is(struct({ type: Schema.Literal("record.completed"), data: EventData }))

/**
 * Converts a response to a vote. A ranking leaves out options without a completion. If its top group has only such
 * options, the vote is invalid.
 */
const voteOf = ({ user_id, values }: typeof Submitted.Type, completions: number, names: Options["names"] = {}) => {
  const { preference, rationale, strength } = values
  const isRanking = typeof preference.value !== "string"
  const options = isRanking ? preference.value : [{ value: preference.value, rank: 1 }]
  const groups = [...new Set(options.map(({ rank }) => rank))]
    .toSorted((a, b) => a - b)
    .map((rank) => options.flatMap((option) => (option.rank === rank ? [Number(option.value.slice(8)) - 1] : [])))
    .map((group) => group.filter((index) => index < completions))
  const ranking = groups.filter((group) => group.length > 0)
  const expert = user_id === null ? null : (names[user_id] ?? user_id)
  const answers = { ...(rationale && { rationale: rationale.value }), ...(strength && { strength: strength.value }) }
  return { expert, choice: groups[0]?.[0] ?? Number.NaN, ...(isRanking && { ranking }), ...answers }
}

export const protocol = ({ dataset, names = {} }: Options): Tasks.Protocol => ({
  authorize: (request, token) => HttpClientRequest.setHeader(request, "x-argilla-api-key", Redacted.value(token)),

  create: Effect.fnUntraced(function* ({ prompts }, { idempotencyKey, repeatable }) {
    const items = prompts.map(({ completions, prompt }, i) => ({
      fields: { prompt, ...Object.fromEntries(completions.map((response, j) => [`response${j + 1}`, response])) },
      metadata: { prefstream_task: idempotencyKey },
      external_id: `${idempotencyKey}-${i}`,
    }))
    const upsert = HttpClientRequest.put(`/datasets/${dataset}/records/bulk`)
    yield* repeatable.execute(HttpClientRequest.bodyJsonUnsafe(upsert, { items }))
    return idempotencyKey
  }),

  poll: Effect.fnUntraced(function* (taskId, { http, task }) {
    const { prompts } = yield* task
    const search = HttpClientRequest.post(`/datasets/${dataset}/records/search?include=responses&limit=1000`)
    const scope = { entity: "metadata", metadata_property: "prefstream_task" }
    const filters = { and: [{ type: "terms", scope, values: [taskId] }] }
    const response = http.execute(HttpClientRequest.bodyJsonUnsafe(search, { filters }))
    const { items } = yield* Effect.flatMap(response, HttpClientResponse.schemaBodyJson(Page))
    const records = items.map(({ record }) => record).filter(({ status }) => status === "completed")
    if (records.length < prompts.length) return { _tag: "Open", status: "pending" }
    const results = records.flatMap(({ external_id, responses }) => {
      const prompt = Number(external_id.slice(taskId.length + 1))
      const votes = responses
        .filter((response) => response.status === "submitted")
        .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
        .map((response) => voteOf(response, prompts[prompt]?.completions.length ?? 0, names))
      return votes.length === 0 ? [] : [{ prompt, votes }]
    })
    return { _tag: "Completed", results }
  }),

  taskIdsOf: (payload) => (isCompletion(payload) ? [payload.data.metadata.prefstream_task] : []),
})

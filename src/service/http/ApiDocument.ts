/** Builds the service's OpenAPI document. The author of a client needs no other document. */
import { OpenApi } from "effect/http-api"
import { Predicate } from "effect"
import { rlhfRanking } from "../../domain/Task.ts"
import { type ApiSettings, guide } from "./ApiGuide.ts"
import type { RequestLimits } from "./RequestLimits.ts"

type Json = Record<string, unknown>

const schemaOfEvent = {
  type: "object",
  required: ["type", "timestamp", "data"],
  properties: {
    type: {
      type: "string",
      enum: ["task_group.completed", "task_group.reopened"],
      description: "Ignore types that you don't know.",
    },
    timestamp: {
      type: "string",
      format: "date-time",
      description: "Time at which the group was complete or the results changed.",
    },
    data: {
      type: "object",
      required: ["group_id", "task_ids"],
      properties: {
        group_id: {
          type: "string",
          description: "The `group` of the tasks, or the id of a task without a group.",
        },
        task_ids: {
          type: "array",
          items: { type: "string" },
          description:
            "The group's tasks, each completed or cancelled. If results change later, the event lists only the changed tasks. Fetch these tasks.",
        },
      },
    },
  },
}

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
})

const webhooks = {
  "task_group.completed": {
    post: {
      operationId: "taskGroupCompleted",
      summary: "A task group is complete",
      description: "The service sends this event to the URL set in the dashboard's developer settings.",
      parameters: [
        header("webhook-id", "The message id, the same for each attempt. Use it to ignore repeated deliveries."),
        header("webhook-timestamp", "Time of this attempt, in seconds since 1970."),
        header("webhook-signature", "One or more signatures `v1,<base64>`, separated by spaces. See Webhooks above."),
      ],
      requestBody: { required: true, content: { "application/json": { schema: schemaOfEvent } } },
      responses: {
        "2XX": { description: "Your server has received the event. Respond within 15 seconds. The body is ignored." },
        "410": { description: "Disables the webhook until its URL is set again." },
        default: { description: "The service sends the event again, for up to three days." },
      },
    },
  },
}

const headers = (rateLimited: boolean) => ({
  ...(rateLimited && {
    "RateLimit-Policy": {
      schema: { type: "string" },
      description: 'The quota, such as `"default";q=200;w=2` for 200 requests in 2 seconds.',
    },
    RateLimit: {
      schema: { type: "string" },
      description:
        'The remaining quota, such as `"default";r=199;t=1`: 199 requests are left, and all are available again after 1 second.',
    },
  }),
})
const retryAfter = { "Retry-After": { schema: { type: "integer" }, description: "Seconds to wait before a retry." } }

const operations: Record<string, { readonly summary: string; readonly statuses: Record<string, string> }> = {
  "tasks.create": {
    summary: "Create a task",
    statuses: {
      "403": "The `Host` header does not name this service.",
      "201":
        "The task is stored. With a repeated `Idempotency-Key`, the response contains the existing task in its current state.",
      "413": "The body is larger than `limit_bytes`.",
      "422": "The task is invalid (`errors` says where and why), or the idempotency key was used with another body.",
      "429": "Too many requests: wait the number of seconds in `Retry-After`.",
    },
  },
  "votes.export": {
    summary: "Read all votes as a table",
    statuses: {
      "200": "A stream of records: one per vote, and one per item that a lead decided without votes.",
    },
  },
  "tasks.get": {
    summary: "Read a task and its results",
    statuses: {
      "200": "The task in any state. A completed task has `results`.",
      "403": "The `Host` header does not name this service.",
      "404": "The organization has no such task.",
      "429": "Too many requests: wait the number of seconds in `Retry-After`.",
    },
  },
}

const keywordsOf = (limits: RequestLimits): Record<string, Json> => ({
  task_type: { enum: [rlhfRanking] },
  prompts: { minItems: 1, maxItems: limits.promptsPerTask },
  prompt: { minLength: 1, maxLength: limits.promptCharacters },
  completions: {
    minItems: 2,
    maxItems: limits.completionsPerPrompt,
    items: { type: "string", maxLength: limits.completionCharacters },
  },
  guidelines: { maxLength: limits.guidelinesCharacters },
})

const isObject = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

/** Adds to each property its `keywords`. Drops `additionalProperties: false`: later versions may add members. */
const withKeywords = (keywords: Record<string, Json>) => {
  const open = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(open)
    if (!isObject(schema)) return schema
    const { additionalProperties, ...rest } = schema
    const opened = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [
        key,
        key === "properties" && isObject(value)
          ? Object.fromEntries(
              Object.entries(value).map(([name, member]) => [name, { ...openMembers(member), ...keywords[name] }]),
            )
          : open(value),
      ]),
    )
    return isObject(additionalProperties) && Object.keys(additionalProperties).length > 0
      ? { ...opened, additionalProperties }
      : opened
  }
  const openMembers = (member: unknown): object => {
    const opened = open(member)
    return isObject(opened) ? opened : {}
  }
  return open
}

const operation = (value: unknown, rateLimited: boolean, open: (schema: unknown) => unknown): unknown => {
  if (!isObject(value) || !isObject(value["responses"])) return value
  const operationTexts = operations[String(value["operationId"])]
  const responses = Object.fromEntries(
    Object.entries(value["responses"]).map(([status, response]) => [
      status,
      isObject(response)
        ? {
            ...response,
            description: operationTexts?.statuses[status] ?? response["description"],
            headers: {
              ...(isObject(response["headers"]) && response["headers"]),
              ...(status !== "401" && headers(rateLimited)),
              ...(status === "429" && retryAfter),
            },
          }
        : response,
    ]),
  )
  return open({ ...value, summary: operationTexts?.summary, responses })
}

const complete = (decided: ApiSettings) => (document: Record<string, unknown>) => {
  const paths = isObject(document["paths"]) ? document["paths"] : {}
  const rateLimited = decided.rateLimit !== undefined
  const open = withKeywords(keywordsOf(decided.limits))
  return {
    ...document,
    servers: [{ url: decided.publicUrl?.replace(/\/$/, "") ?? "/" }],
    info: { ...(isObject(document["info"]) && document["info"]), description: guide(decided).trim() },
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [
        path,
        isObject(item)
          ? Object.fromEntries(
              Object.entries(item).map(([method, value]) => [method, operation(value, rateLimited, open)]),
            )
          : item,
      ]),
    ),
    components: open(document["components"]),
    webhooks,
  }
}

export const annotations = (decided: ApiSettings) => OpenApi.annotations({ transform: complete(decided) })

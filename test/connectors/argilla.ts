/**
 * A fake of Argilla's server, as far as `pipelines/connectors/argilla.ts` uses it: one published dataset, bulk upsert,
 * search by metadata, responses of several users, and Standard Webhooks with the server's own JSON and signature.
 *
 * From argilla-server 2.8 as in extralit/extralit, commit 4ce38e1, argilla-server/src/argilla_server:
 * api/handlers/v1/datasets/records.py and records_bulk.py, bulk/records_bulk.py, validators/records.py and
 * response_values.py, contexts/search.py and distribution.py, errors/error_handler.py, webhooks/v1/commons.py and
 * schemas.py, models/database.py. Not confirmed with a running server: the order of results of a search without `sort`,
 * that a new record is found at once (the search index may lag), and the fork's differences from Argilla 2.8.0.
 */
import { randomBytes, randomUUID } from "node:crypto"
import type { FakeService } from "prefstream/testing"
import { signed } from "../support/webhooks.ts"
import { deliver, isAccepted, serve } from "./server.ts"

export const apiKey = "argilla.apikey"
export const dataset = "6005571a-b628-48e6-99af-c63df171e4c1"
/** Plain base64 of 64 bytes, as the server makes it. */
export const secret = randomBytes(64).toString("base64")

const options = Array.from({ length: 8 }, (_, i) => `response${i + 1}`)
const maxItems = 500

export interface Ranked {
  readonly value: string
  readonly rank: number | null
}

/** What a user answers, as the server stores it. */
export interface Answer {
  readonly status: "submitted" | "draft" | "discarded"
  readonly preference?: string | ReadonlyArray<Ranked>
  readonly rationale?: string
  readonly strength?: number
}

interface Response {
  readonly id: string
  readonly user_id: string
  readonly status: Answer["status"]
  readonly values: Record<string, { readonly value: unknown }> | null
  readonly updated_at: string
}

interface Item {
  readonly fields: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, string>>
  readonly external_id?: string
}

interface DatasetRecord {
  readonly id: string
  readonly external_id: string | undefined
  fields: Readonly<Record<string, string>>
  metadata: Readonly<Record<string, string>>
  readonly responses: Array<Response>
}

const failure = (status: number, detail: unknown) => ({ status, body: { detail } })

const coded = (status: number, code: string, params: object) =>
  failure(status, { code: `argilla.api.errors::${code}`, params })

/** `json.dumps` of Python, which the server sends. */
const pythonJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${pythonJson(name)}: ${pythonJson(member)}`)
    return `{${members.join(", ")}}`
  }
  return JSON.stringify(value ?? null).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

export const completionsOf = ({ fields }: Pick<DatasetRecord, "fields">): ReadonlyArray<string> =>
  options.flatMap((name) => fields[name] ?? [])

export interface Settings {
  readonly question?: "label_selection" | "ranking"
  /** Submitted responses that complete a record. */
  readonly minSubmitted?: number
  /** The users by name. */
  readonly users?: ReadonlyArray<string>
}

export const make = async ({ minSubmitted = 1, question = "label_selection", users = ["ann"] }: Settings = {}) => {
  const records: Array<DatasetRecord> = []
  const created: Array<string> = []
  const userIds = new Map(users.map((name) => [name, randomUUID()]))
  const events: Array<{ readonly type: string; readonly data: unknown }> = []
  let isReversed = false
  let seconds = 0
  const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, ++seconds)).toISOString().replace("Z", "000")

  const submitted = ({ responses }: DatasetRecord) => responses.filter(({ status }) => status === "submitted")
  const statusOf = (record: DatasetRecord) => (submitted(record).length >= minSubmitted ? "completed" : "pending")
  const viewOf = (record: DatasetRecord, withResponses: boolean) => {
    const { external_id, fields, id, metadata, responses } = record
    const view = { id, status: statusOf(record), fields, metadata, external_id, dataset_id: dataset }
    return withResponses ? { ...view, responses: responses.map((one) => ({ ...one, record_id: id })) } : view
  }

  const problemOf = ({ fields }: Item) => {
    const missing = ["prompt", "response1", "response2"].find((name) => fields[name] === undefined)
    if (missing !== undefined) return `missing required value for field: '${missing}'`
    const extra = Object.keys(fields).filter((name) => name !== "prompt" && !options.includes(name))
    if (extra.length === 0) return undefined
    return `found fields values for non configured fields: [${extra.map((name) => `'${name}'`).join(", ")}]`
  }

  /** All or nothing. */
  const upsert = ({ items }: { readonly items: ReadonlyArray<Item> }) => {
    if (items.length === 0 || items.length > maxItems) {
      const msg = `List should have at ${items.length === 0 ? "least 1 item" : `most ${maxItems} items`} after validation`
      return coded(422, "ValidationError", { errors: [{ loc: ["body", "items"], msg, type: "too_long" }] })
    }
    for (const [i, item] of items.entries()) {
      const problem = problemOf(item)
      if (problem !== undefined) return failure(422, `Record at position ${i} is not valid because ${problem}`)
    }
    const views = items.map(({ external_id, fields, metadata }) => {
      const known = records.find((record) => external_id !== undefined && record.external_id === external_id)
      if (known !== undefined) {
        known.fields = fields
        known.metadata = metadata ?? known.metadata
        return viewOf(known, true)
      }
      const record = { id: randomUUID(), external_id, fields, metadata: metadata ?? {}, responses: [] }
      records.push(record)
      created.push(fields["prompt"] ?? "")
      return viewOf(record, true)
    })
    return { status: 200, body: { items: views } }
  }

  interface Search {
    readonly filters?: {
      readonly and: ReadonlyArray<{
        readonly type: string
        readonly scope: { readonly entity: string; readonly metadata_property?: string }
        readonly values: ReadonlyArray<string>
      }>
    }
  }
  const search = ({ filters }: Search, query: URLSearchParams) => {
    const limit = Number(query.get("limit") ?? 50)
    if (!(limit >= 1 && limit <= 1000)) {
      const errors = [{ loc: ["query", "limit"], msg: "Input should be less than or equal to 1000" }]
      return coded(422, "ValidationError", { errors })
    }
    let matches: ReadonlyArray<DatasetRecord> = records
    for (const { scope, type, values } of filters?.and ?? []) {
      const { entity, metadata_property: name = "" } = scope
      if (type !== "terms" || entity !== "metadata") return failure(422, "the fake filters by terms of metadata alone")
      if (name !== "prefstream_task") {
        return failure(422, `MetadataProperty not found filtering by name=${name}, dataset_id=${dataset}`)
      }
      matches = matches.filter(({ metadata }) => values.includes(metadata[name] ?? ""))
    }
    const offset = Number(query.get("offset") ?? 0)
    const withResponses = (query.get("include") ?? "").split(",").includes("responses")
    const page = (isReversed ? matches.toReversed() : matches).slice(offset, offset + limit)
    const items = page.map((record) => ({ record: viewOf(record, withResponses), query_score: 1 }))
    return { status: 200, body: { items, total: matches.length } }
  }

  const server = await serve(({ body, headers, method, url: { pathname: path, searchParams: query } }) => {
    const key = headers["x-argilla-api-key"]
    if (key !== apiKey) {
      return coded(401, "UnauthorizedError", { detail: "Could not validate credentials" })
    }
    const [, id, action] = /^\/api\/v1\/datasets\/([^/]+)\/records\/(bulk|search)$/.exec(path) ?? []
    if (id === undefined) return failure(404, "Not Found")
    if (id !== dataset) return failure(404, `Dataset with id \`${id}\` not found`)
    if (method === "PUT" && action === "bulk") return upsert(body as Parameters<typeof upsert>[0])
    return method === "POST" && action === "search" ? search(body as Search, query) : failure(405, "Method Not Allowed")
  })

  /** A user answers each open record, once. */
  const respond = (user: string, answerOf: (record: DatasetRecord) => Answer | undefined) => {
    const user_id = userIds.get(user)
    if (user_id === undefined) throw new Error(`no user ${user}`)
    for (const record of records) {
      const answer = record.responses.some((one) => one.user_id === user_id) ? undefined : answerOf(record)
      if (answer === undefined) continue
      const { status, ...values } = answer
      const said = Object.entries(values).map(([name, value]) => [name, { value }] as const)
      const updated_at = now()
      const response = {
        id: randomUUID(),
        user_id,
        status,
        values: said.length === 0 ? null : Object.fromEntries(said),
        updated_at,
      }
      record.responses.unshift(response)
      events.push({ type: "record.updated", data: viewOf(record, false) })
      if (statusOf(record) === "completed") events.push({ type: "record.completed", data: viewOf(record, false) })
      const { updated_at: _, ...told } = response
      events.push({
        type: "response.created",
        data: { ...told, record: viewOf(record, false), user: { username: user } },
      })
    }
  }

  return {
    baseUrl: `${server.origin}/api/v1`,
    token: apiKey,
    disturb: server.disturb,
    created: () => created,
    taskIdOf: (prompt: string) =>
      records.find(({ fields }) => fields["prompt"] === prompt)?.metadata["prefstream_task"] ?? "",
    /** The users' names by id. */
    names: Object.fromEntries([...userIds].map(([name, id]) => [id, name])),
    respond,
    judge: (best, { reversed = false, wrong = false } = {}) => {
      isReversed = reversed
      for (const user of users.slice(0, minSubmitted)) {
        respond(user, (record) => {
          const completions = completionsOf(record)
          const index = wrong ? completions.length : best(record.fields["prompt"] ?? "", completions)
          const ranking = options.map((value, i) => ({ value, rank: i === index ? 1 : 2 }))
          return { status: "submitted", preference: question === "ranking" ? ranking : `response${index + 1}` }
        })
      }
    },
    /** Each attempt has an id of its own. */
    notify: async (url: string) => {
      for (const { data, type } of events.splice(0)) {
        const id = `msg_${randomBytes(16).toString("base64url")}`
        const body = pythonJson({ type, version: 1, timestamp: "2026-01-01T00:00:00.000000Z", data })
        const status = await deliver(url, signed(body, { secret, id }).headers, body)
        if (!isAccepted(status)) events.push({ data, type })
      }
    },
    close: server.close,
  } satisfies FakeService & Record<string, unknown>
}

/** Answers `GET /v1/tasks/{id}`, the most frequent request, before the router. The router handles all refusals. */
import { Context, Effect, Layer, Option, Tracer } from "effect"
import { HttpServerResponse } from "effect/http"
import * as NodeServer from "../../node/HttpServer.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import { type FoundTask, TaskStore } from "../store/TaskStore.ts"
import { OrganizationAccess } from "./OrganizationAccess.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"
import { ServiceAddress } from "./ServiceAddress.ts"

export const toResponse = ({ answer, status, taskId, waiting }: FoundTask): HttpServerResponse.HttpServerResponse =>
  Option.match(answer, {
    onNone: () =>
      HttpServerResponse.jsonUnsafe({ task_id: taskId, status, ...(waiting > 0 && { waiting_prompts: waiting }) }),
    onSome: (json) => HttpServerResponse.uint8Array(json, { contentType: "application/json" }),
  })

const path = /^\/v1\/tasks\/(task_[0-9a-f]{32})$/
const scheme = "Bearer "

const make = Effect.gen(function* () {
  const { answersTo } = yield* ServiceAddress
  const { accept, take } = yield* OrganizationAccess
  const store = yield* TaskStore

  const read = Effect.fnUntraced(function* (token: string, taskId: string) {
    const accepted = yield* accept(token)
    if (Option.isNone(accepted)) return undefined
    // `take` counts the request for the rate limit. It runs after `find`, because the router counts the request if the
    // task is unknown.
    const task = yield* store.find(accepted.value.organization, taskId)
    if (Option.isNone(task)) return undefined
    const { headers, retryAfterSeconds } = yield* take(accepted.value.tokenId)
    if (retryAfterSeconds !== undefined) return undefined
    return SecurityHeaders.add(HttpServerResponse.setHeaders(toResponse(task.value), headers))
  }, Metrics.timeFirstAnswer)

  const services = yield* Effect.context<never>()
  if (Context.get(services, Tracer.Tracer) !== Tracer.nativeTracer) return
  yield* NodeServer.answerFirst(({ headers, method, url = "" }) => {
    if (method !== "GET" || "content-length" in headers || "transfer-encoding" in headers) return undefined
    const { authorization = "", host } = headers
    const taskId = path.exec(url)?.[1]
    if (taskId === undefined || !authorization.startsWith(scheme) || host === undefined || !answersTo(host)) {
      return undefined
    }
    return read(authorization.slice(scheme.length), taskId)
  })
})

export const layer = Layer.effectDiscard(make)

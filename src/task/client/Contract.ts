/**
 * The contract's protocol: `POST /tasks` and `GET /tasks/{task_id}`, by default. Requests and responses are stored as
 * they are. With `resultPaths` or `choice`, a response is stored together with its conversion to a `TaskResult`.
 */
import { Bytes, Effect, Option, Predicate, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as FieldPath from "../../io/FieldPath.ts"
import { describeValue } from "../../io/Values.ts"
import type { Annotations, TaskRequest } from "../../domain/Task.ts"
import * as ContractSettings from "../../api/ContractSettings.ts"
import { ServiceProfile, type ServiceSettings } from "../../api/ServiceProfile.ts"
import * as TaskIds from "../../api/TaskIds.ts"
import { completed, type PromptResult, toResultItems } from "./PromptResult.ts"
import * as ResponseBody from "./ResponseBody.ts"
import type { TaskCalls, TaskView } from "./TaskCalls.ts"
import type { Transport } from "./Transport.ts"

const StatusMember = Schema.fromJsonString(
  Schema.Struct({
    status: Schema.String,
    task_id: Schema.optionalKey(Schema.Unknown),
    waiting_prompts: Schema.optionalKey(Schema.Unknown),
  }),
)
const isCount = Schema.is(Schema.Int.check(Schema.isGreaterThan(0)))

export const make = Effect.fnUntraced(function* ({ attempt, authorize, misread }: Transport) {
  const profile = yield* ServiceProfile
  const { baseUrl, createRequest, pollRequest, requestExtra } = profile
  const client = yield* HttpClient.HttpClient
  const readResults =
    Object.keys(profile.resultPaths).length > 0 || profile.choice !== "index" ? reader(profile) : undefined
  const extra =
    Object.keys(requestExtra).length === 0
      ? undefined
      : new TextEncoder().encode(`,${JSON.stringify(requestExtra).slice(1)}`)

  const send = (form: string, name: string, set = HttpClientRequest.acceptJson) => {
    const { method, path } = ContractSettings.requestOf(form, name)
    return Effect.flatMap(authorize(set(HttpClientRequest.make(method)(baseUrl + path))), client.execute)
  }

  const readId = (answer: ResponseBody.Answer) =>
    Option.flatMap(ResponseBody.json(answer), (json) => TaskIds.one(json, profile.taskIdPaths)).pipe(
      Effect.fromOption,
      Effect.mapError(() =>
        misread(
          `the service accepted the task, but its answer has no task id at any of ${profile.taskIdPaths.join(", ")}`,
          answer,
        ),
      ),
    )

  const stateOf = (status: string) => ({
    _tag: profile.failedStatuses.includes(status) ? ("Failed" as const) : ("Open" as const),
    status,
  })

  const readView = (taskId: string, task: Effect.Effect<TaskRequest, unknown>) =>
    Effect.fnUntraced(function* (answer: ResponseBody.Answer): Effect.fn.Return<TaskView, ReturnType<typeof misread>> {
      const expected = `expected a JSON object with the status of ${taskId}`
      if (readResults !== undefined) {
        const { results, status } = readResults(Option.getOrUndefined(ResponseBody.json(answer)))
        if (typeof status !== "string") return yield* misread(expected, answer)
        if (!profile.completedStatuses.includes(status)) return stateOf(status)
        const { prompts } = yield* Effect.mapError(task, (failure) => misread(String(failure), answer))
        return completed(
          taskId,
          Result.flatMap(results, (all) => toResultItems(prompts, all)),
          [answer.text],
        )
      }
      const decoded = Schema.decodeUnknownOption(StatusMember)(answer.text)
      if (Option.isNone(decoded)) return yield* misread(expected, answer)
      const { status, task_id, waiting_prompts: waiting } = decoded.value
      if (!profile.completedStatuses.includes(status)) {
        return { ...stateOf(status), ...(isCount(waiting) && { waiting }) }
      }
      const named = Option.getOrUndefined(TaskIds.one({ task_id }, ["task_id"]))
      return { _tag: "Completed", body: answer.text, named }
    })

  return {
    create: (body, key, turn) =>
      attempt(
        send(createRequest, key, (request) =>
          request.pipe(
            HttpClientRequest.acceptJson,
            HttpClientRequest.setHeader("idempotency-key", key),
            HttpClientRequest.bodyUint8Array(extra === undefined ? body : withExtra(body, extra), "application/json"),
          ),
        ),
        "create",
        readId,
        turn.permit,
      ),
    poll: (taskId, task, turn) => attempt(send(pollRequest, taskId), "poll", readView(taskId, task), turn?.permit),
  } satisfies TaskCalls
})

/** @param extra JSON text that replaces the closing brace of the body: a comma, more members, and a closing brace */
const withExtra = (body: Uint8Array, extra: Uint8Array): Uint8Array => Bytes.concat([body.subarray(0, -1), extra])

const reader = ({ choice, resultPaths }: Pick<ServiceSettings, "choice" | "resultPaths">) => {
  const at = (member: ContractSettings.ResultMember) => {
    const path = resultPaths[member] ?? ContractSettings.resultPlaces[member]
    return { path, get: Result.getOrThrow(FieldPath.parse(path)).get }
  }
  const [state, list, prompts] = [at("status"), at("results"), at("prompt")]
  const [choices, annotations] = [at("choice"), at("annotations")]
  const form = ContractSettings.choiceOf(choice)!

  const resultOf = (item: unknown, i: number): Result.Result<PromptResult, string> => {
    const fail = (path: string, expected: string, value: unknown) =>
      Result.fail(`${list.path}[${i}].${path}: expected ${expected}, found ${describeValue(value)}`)
    const text = prompts.get(item)
    const prompt = typeof text === "string" || typeof text === "number" ? text : undefined
    // If `resultPaths.prompt` is set, each result must have a prompt. Otherwise, a result may be found by position.
    if (prompt === undefined && (text ?? resultPaths.prompt) !== undefined) {
      return fail(prompts.path, "a text or a position", text)
    }
    const annotated = annotations.get(item)
    const members: Annotations = Predicate.isObject(annotated)
      ? annotated
      : Predicate.isString(annotated)
        ? { rationale: annotated }
        : {}
    const value = choices.get(item)
    const best = form.read(value)
    if (best !== undefined) return Result.succeed({ prompt, best, annotations: members })
    return value === null && Predicate.isObject(members["withdrawn"])
      ? Result.succeed({ prompt, annotations: members, withdrawn: true })
      : fail(choices.path, form.text, value)
  }

  return (json: unknown) => {
    const items = list.get(json)
    return {
      status: state.get(json),
      results: Array.isArray(items)
        ? Result.all(items.map(resultOf))
        : Result.fail(`${list.path}: expected an array of results, found ${describeValue(items)}`),
    }
  }
}

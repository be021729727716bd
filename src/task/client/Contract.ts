/** The protocol of the contract: `POST /tasks` and `GET /tasks/{task_id}`, as declared in `api/AnnotationApi`. */
import { Effect, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { EncodedAnnotationApi, OrganizationToken } from "../../api/AnnotationApi.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as TaskIds from "../../api/TaskIds.ts"
import * as ResponseBody from "./ResponseBody.ts"
import type { TaskCalls, TaskView } from "./TaskCalls.ts"
import type { Transport } from "./Transport.ts"

const StatusMember = Schema.fromJsonString(
  Schema.Struct({ status: Schema.String, task_id: Schema.optionalKey(Schema.Unknown) }),
)

export const make = Effect.fnUntraced(function* ({ attempt, misread }: Transport) {
  const profile = yield* ServiceProfile
  const client = yield* HttpApiClient.make(EncodedAnnotationApi, { baseUrl: profile.baseUrl })

  const readId = (answer: ResponseBody.Answer) =>
    Option.match(
      Option.flatMap(ResponseBody.json(answer), (json) => TaskIds.one(json, profile.taskIdPaths)),
      {
        onNone: () =>
          Effect.fail(
            misread(
              `the service accepted the task, but its answer has no task id at any of ${profile.taskIdPaths.join(", ")}`,
              answer,
            ),
          ),
        onSome: (taskId) => Effect.succeed(taskId),
      },
    )

  const readView = (taskId: string) => (answer: ResponseBody.Answer) => {
    const decoded = Schema.decodeUnknownOption(StatusMember)(answer.text)
    if (Option.isNone(decoded)) {
      return Effect.fail(misread(`expected a JSON object with the status of ${taskId}`, answer))
    }
    const { status, task_id } = decoded.value
    return Effect.succeed<TaskView>(
      profile.completedStatuses.includes(status)
        ? { _tag: "Completed", body: answer.text, named: Option.getOrUndefined(TaskIds.one({ task_id }, ["task_id"])) }
        : { _tag: profile.failedStatuses.includes(status) ? "Failed" : "Open", status },
    )
  }

  return {
    create: (payload, key, turn) =>
      attempt(
        client.tasks.create({ payload, headers: { "idempotency-key": key }, responseMode: "response-only" }),
        "create",
        readId,
        turn.permit,
      ),
    poll: (taskId, turn) =>
      attempt(
        client.tasks.get({ params: { task_id: taskId }, responseMode: "response-only" }),
        "poll",
        readView(taskId),
        turn?.permit,
      ),
  } satisfies TaskCalls
})

export const layerToken = HttpApiMiddleware.layerClient(
  OrganizationToken,
  Effect.map(
    ServiceProfile,
    ({ token }) =>
      ({ next, request }) =>
        // Without compression, a short answer cannot expand without bound.
        next(
          request.pipe(
            HttpClientRequest.bearerToken(token),
            HttpClientRequest.setHeader("accept-encoding", "identity"),
          ),
        ),
  ),
)

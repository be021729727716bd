/** Sends the task of `--try-task new`, without a ledger. Repeats the request only if it certainly did not arrive. */
import { Clock, Duration, Effect, Layer, Option, Schema } from "effect"
import { resultPlaces } from "../../api/ContractSettings.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { rlhfRanking, type TaskRequest, TaskResult } from "../../domain/Task.ts"
import { describeValue } from "../../io/Values.ts"
import { AnnotationClient, TaskClient } from "../../task/client/AnnotationClient.ts"
import { type ServiceFlags, serviceOf, serviceRequired } from "../flags/ServiceFlags.ts"
import { usageError } from "../output/ExitStatus.ts"
import { failed, type Finding } from "../output/Finding.ts"

const maxWait = Duration.minutes(1)

const prompts = [{ prompt: "prefstream doctor: which is a fruit?", completions: ["apple", "stone"] }]

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(TaskResult))

const name = "task"

export const tryTask = Effect.fnUntraced(
  function* (flags: ServiceFlags & { readonly taskType: string | undefined; readonly tryTask: string | undefined }) {
    if (flags.tryTask === undefined) return []
    const service = serviceOf({ ...flags, idempotencyKey: "ignored", patience: maxWait }, serviceRequired)
    const client = AnnotationClient.layer.pipe(Layer.provideMerge(service))
    const request: TaskRequest = { task_type: flags.taskType ?? rlhfRanking, prompts }
    const body = new TextEncoder().encode(JSON.stringify(request))
    return [yield* Effect.provide(Effect.scoped(exchange(flags.tryTask, body)), client)]
  },
  Effect.catch((failure) => Effect.succeed([failed(name, failure)])),
)

const exchange = Effect.fnUntraced(function* (
  id: string,
  body: Uint8Array,
): Effect.fn.Return<Finding, unknown, AnnotationClient | ServiceProfile> {
  const client = yield* TaskClient
  const { pollInterval, resultPaths, retries } = yield* ServiceProfile
  const start = yield* Clock.currentTimeMillis
  const taskId = id === "new" ? yield* client.create(body, `prefstream-doctor-${start}`) : id
  while (true) {
    const shown = `task id ${taskId}`
    const view = yield* client
      .poll(taskId, Effect.succeed(body), retries)
      .pipe(Effect.mapError(({ message }) => usageError(`${shown}: ${message}`)))
    if (view._tag === "Failed") return { name, state: "failed", message: `${shown}: status ${view.status}` }
    if (view._tag === "Completed") {
      const result = Option.getOrUndefined(Option.flatMapNullishOr(decode(view.body), ({ results }) => results?.[0]))
      if (view.problem !== undefined || result === undefined) {
        const problem = view.problem ?? `${resultPlaces.results}: expected results, found none`
        return { name, state: "failed", message: `${shown}: completed, but its result cannot be used: ${problem}` }
      }
      const read = {
        prompt: result.prompt,
        choice: result.best_completion_index,
        annotations: JSON.stringify(result.annotations ?? {}),
      } as const
      const places = (["prompt", "choice", "annotations"] as const).map(
        (member) => `${member} (${resultPaths[member] ?? resultPlaces[member]}) ${describeValue(read[member])}`,
      )
      return { name, state: "ok", message: `${shown}: completed: ${places.join(", ")}` }
    }
    if ((yield* Clock.currentTimeMillis) - start > Duration.toMillis(maxWait)) {
      const later = `run prefstream doctor --try-task ${taskId} once the task is completed`
      return { name, state: "warning", message: `${shown}: status ${view.status}: ${later}` }
    }
    yield* Effect.sleep(pollInterval.min)
  }
})

/** The two calls to a service, in any protocol. Each is one attempt, without claim or retry. */
import type { Effect } from "effect"
import type { AnnotationClientError } from "./AnnotationClientError.ts"
import type { Turn } from "./Throttle.ts"

/** The state of a task, as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  | { readonly _tag: "Open"; readonly status: string }
  /** `body` is a `TaskResult` as JSON. `named` is the id in its `task_id`, if there is one. */
  | { readonly _tag: "Completed"; readonly body: string; readonly named?: string | undefined }
  | { readonly _tag: "Failed"; readonly status: string }

/** Both calls send their requests in the given turn. A probe has no turn. */
export interface TaskCalls {
  /** Creates a task and returns its id. `body` is the JSON of a `TaskRequest`, as UTF-8. */
  readonly create: (
    body: Uint8Array,
    idempotencyKey: string,
    turn: Turn,
  ) => Effect.Effect<string, AnnotationClientError>
  readonly poll: (taskId: string, turn?: Turn) => Effect.Effect<TaskView, AnnotationClientError>
}

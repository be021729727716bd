/** The two calls to a service, in any protocol. Each makes one attempt. Neither claims the task in the ledger. */
import type { Effect } from "effect"
import type { TaskRequest } from "../../domain/Task.ts"
import type { AnnotationClientError } from "./AnnotationClientError.ts"
import type { Turn } from "./Throttle.ts"

/** The state of a task, as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  /** `waiting` is the number of prompts that wait for another expert, if the service reports it. */
  | { readonly _tag: "Open"; readonly status: string; readonly waiting?: number }
  /**
   * If `problem` is undefined, `body` is a `TaskResult` as JSON, and `named` is its `task_id`, if present. Otherwise
   * `problem` is the reason why the response gives no `TaskResult`, and `body` contains the raw response.
   */
  | {
      readonly _tag: "Completed"
      readonly body: string
      readonly named?: string | undefined
      readonly problem?: string | undefined
    }
  | { readonly _tag: "Failed"; readonly status: string }

/** Both calls send their requests in the given turn. A probe has no turn. */
export interface TaskCalls {
  /**
   * Creates a task and returns its id. `body` is the JSON of a `TaskRequest`, as UTF-8. `doubt` runs if the call is
   * interrupted after a request that may have created the task.
   */
  readonly create: (
    body: Uint8Array,
    idempotencyKey: string,
    turn: Turn,
    doubt: Effect.Effect<unknown>,
  ) => Effect.Effect<string, AnnotationClientError>
  /** `task` is the request of the task as it was sent. It is read only if the response alone is not enough. */
  readonly poll: (
    taskId: string,
    task: Effect.Effect<TaskRequest, unknown>,
    turn?: Turn,
  ) => Effect.Effect<TaskView, AnnotationClientError>
}

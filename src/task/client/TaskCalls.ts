/**
 * The two calls to a service, `create` and `poll`. `Contract` and `Protocol` implement them. Each call makes one
 * attempt. Callers must claim the task in the ledger before `create`.
 */
import type { Effect } from "effect"
import type { TaskRequest } from "../../domain/Task.ts"
import type { AnnotationClientError } from "./AnnotationClientError.ts"
import type { Turn } from "./Throttle.ts"

export type TaskView =
  /** `waiting` is the number of prompts that wait for another expert, if the service reports it. */
  | { readonly _tag: "Open"; readonly status: string; readonly waiting?: number }
  /** `body` is a `TaskResult` as JSON. `named` is the result's `task_id`. With a `problem`, `body` has no results. */
  | {
      readonly _tag: "Completed"
      readonly body: string
      readonly named?: string | undefined
      readonly problem?: string | undefined
    }
  | { readonly _tag: "Failed"; readonly status: string }

export interface TaskCalls {
  /**
   * `body` is a `TaskRequest` as JSON. `doubt` is an effect that records that the task may exist. `Protocol` runs
   * `doubt` if the call is interrupted after a request that may have created the task.
   */
  readonly create: (
    body: Uint8Array,
    idempotencyKey: string,
    turn: Turn,
    doubt: Effect.Effect<unknown>,
  ) => Effect.Effect<string, AnnotationClientError>
  /** The effect `task` loads the task's request. It runs if the request is needed to read the response. */
  readonly poll: (
    taskId: string,
    task: Effect.Effect<TaskRequest, unknown>,
    turn?: Turn,
  ) => Effect.Effect<TaskView, AnnotationClientError>
}

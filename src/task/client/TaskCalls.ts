/** The two calls that a client makes of a service, in whichever protocol: each is one attempt, without claim or retry. */
import type { Effect } from "effect"
import type { AnnotationClientError } from "./AnnotationClientError.ts"
import type { Turn } from "./Throttle.ts"

/** A task as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  | { readonly _tag: "Open"; readonly status: string }
  /** `body` is a `TaskResult` as JSON; `named` is the id at `task_id`, if there is one. */
  | { readonly _tag: "Completed"; readonly body: string; readonly named?: string | undefined }
  | { readonly _tag: "Failed"; readonly status: string }

/** Both send their requests in the turn that they are given; a probe has none. */
export interface TaskCalls {
  /** Gives the task's id. `body` is the JSON of a `TaskRequest`, as UTF-8. */
  readonly create: (
    body: Uint8Array,
    idempotencyKey: string,
    turn: Turn,
  ) => Effect.Effect<string, AnnotationClientError>
  readonly poll: (taskId: string, turn?: Turn) => Effect.Effect<TaskView, AnnotationClientError>
}

/** Implements the part of `DashboardApi` about tasks. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import { Desk } from "../store/Desk.ts"
import { TaskStore } from "../store/TaskStore.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import { asOperator, orDieOfSql, orNotFound } from "./StoreFailures.ts"

const noTask = (taskId: string) => `There is no task ${taskId}.`

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "tasks",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    const store = yield* TaskStore
    const queue = yield* VoteQueue
    const detailOf = (taskId: string, from: number, limit?: number) =>
      orNotFound(store.detail(taskId, from, limit), noTask(taskId))
    const historyOf = (taskId: string) => orNotFound(desk.guidelines(taskId), noTask(taskId))
    return handlers.handleAll({
      overview: () => Effect.orDie(store.overview),
      list: ({ query }) => Effect.orDie(store.list(query)),
      detail: ({ params: { task_id }, query }) => detailOf(task_id, query.from ?? 0, query.limit),
      cancel: Effect.fnUntraced(function* ({ params: { task_id } }) {
        yield* detailOf(task_id, 0)
        if (!(yield* Effect.orDie(store.cancel(task_id)))) return yield* conflict("The task has already ended.")
      }),
      returnItem: Effect.fnUntraced(function* ({ params: { index, task_id } }) {
        const { task } = yield* detailOf(task_id, index)
        if (index < 0 || index >= task.prompts) return yield* notFound(`The task has no prompt ${index}.`)
        yield* Effect.orDie(queue.returnItem(task_id, index))
      }),
      reopen: ({ params: { task_id }, payload: { prompts, votes } }) =>
        Effect.map(orDieOfSql(desk.reopen(task_id, votes, prompts ?? undefined)), (prompts) => ({ prompts })),
      endReopening: ({ params: { task_id } }) =>
        Effect.map(orDieOfSql(desk.endReopening(task_id)), (prompts) => ({ prompts })),
      guidelines: ({ params: { task_id } }) => historyOf(task_id),
      editGuidelines: ({ params: { task_id }, payload }) =>
        Effect.andThen(
          asOperator((operator) => desk.editGuidelines(task_id, { ...payload, operator })),
          historyOf(task_id),
        ),
    })
  }),
)

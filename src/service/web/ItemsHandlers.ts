/** Implements the part of `DashboardApi` about items. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as VotesApi from "../http/VotesApi.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { Desk } from "../store/Desk.ts"
import { failures } from "./StoreFailures.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "items",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    return handlers.handleAll({
      items: ({ query }) => Effect.orDie(desk.items(query)),
      exportVotes: ({ query: { format, raw, ...filter } }) =>
        Effect.succeed(VotesApi.respond(desk, format, filter, raw !== undefined)),
      decide: Effect.fnUntraced(function* ({ params: { index, task_id }, payload: { choice, rationale } }) {
        const { name } = yield* SignedInOperator
        yield* desk
          .decide({ taskId: task_id, promptIndex: index, choice, rationale, operator: name })
          .pipe(Effect.catchTags(failures))
      }),
      withdrawDecision: ({ params: { index, task_id } }) =>
        desk.withdrawDecision(task_id, index).pipe(Effect.catchTags(failures)),
      withdrawPrompt: Effect.fnUntraced(function* ({ params: { index, task_id }, payload: { reason } }) {
        const { name } = yield* SignedInOperator
        yield* desk.withdrawPrompt(task_id, index, reason, name).pipe(Effect.catchTags(failures))
      }),
      restorePrompt: ({ params: { index, task_id } }) =>
        desk.restorePrompt(task_id, index).pipe(Effect.catchTags(failures)),
    })
  }),
)

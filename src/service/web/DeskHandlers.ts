/** Implements the group `desk` of `DashboardApi`. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"
import * as VotesApi from "../http/VotesApi.ts"
import { Desk, type Voided } from "../store/Desk.ts"

const failures = {
  NothingThere: ({ problem }: { readonly problem: string }) => new NotFound({ detail: problem }),
  NotNow: ({ problem }: { readonly problem: string }) => new Conflict({ detail: problem }),
  SqlError: Effect.die,
}

const toAnswer = ({ voidingId, ...counts }: Voided) => ({ voiding_id: voidingId, ...counts })

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "desk",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    const historyOf = Effect.fnUntraced(function* (taskId: string) {
      const found = yield* Effect.orDie(desk.guidelines(taskId))
      return Option.isSome(found) ? found.value : yield* new NotFound({ detail: `There is no task ${taskId}.` })
    })
    return handlers.handleAll({
      items: ({ query: { flagged, max_agreement, ...filter } }) =>
        Effect.orDie(desk.items({ ...filter, flagged: flagged !== undefined, maxAgreement: max_agreement })),
      exportVotes: ({ query: { flagged, format, max_agreement, raw, ...filter } }) =>
        Effect.succeed(
          VotesApi.respond(
            desk,
            format,
            { ...filter, flagged: flagged !== undefined, maxAgreement: max_agreement },
            raw !== undefined,
          ),
        ),
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
      reopen: ({ params: { task_id }, payload: { prompts, votes } }) =>
        desk.reopen(task_id, votes, prompts ?? undefined).pipe(
          Effect.map((prompts) => ({ prompts })),
          Effect.catchTags(failures),
        ),
      endReopening: ({ params: { task_id } }) =>
        desk.endReopening(task_id).pipe(
          Effect.map((prompts) => ({ prompts })),
          Effect.catchTags(failures),
        ),
      expert: Effect.fnUntraced(function* ({ params: { expert_id } }) {
        const found = yield* Effect.orDie(desk.expert(expert_id))
        return Option.isSome(found) ? found.value : yield* new NotFound({ detail: "There is no such expert." })
      }),
      group: Effect.fnUntraced(function* ({ params: { group_id } }) {
        const found = yield* Effect.orDie(desk.group(group_id))
        return Option.isSome(found) ? found.value : yield* new NotFound({ detail: "There is no such group." })
      }),
      guidelines: ({ params: { task_id } }) => historyOf(task_id),
      editGuidelines: Effect.fnUntraced(function* ({ params: { task_id }, payload }) {
        yield* historyOf(task_id)
        const { name } = yield* SignedInOperator
        yield* desk
          .editGuidelines(task_id, { ...payload, operator: name })
          .pipe(Effect.catchTags({ GuidelinesRefused: failures.NotNow, SqlError: Effect.die }))
        return yield* historyOf(task_id)
      }),
      voidVotes: Effect.fnUntraced(function* ({ params: { expert_id }, payload: { reason } }) {
        const { name } = yield* SignedInOperator
        return toAnswer(yield* desk.voidVotes(expert_id, reason, name).pipe(Effect.catchTags(failures)))
      }),
      restoreVotes: Effect.fnUntraced(function* ({ params: { voiding_id } }) {
        const { name } = yield* SignedInOperator
        return toAnswer(yield* desk.restoreVotes(voiding_id, name).pipe(Effect.catchTags(failures)))
      }),
    })
  }),
)

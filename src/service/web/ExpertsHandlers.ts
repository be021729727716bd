/** Implements the part of `DashboardApi` about experts. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { Sessions } from "../account/Sessions.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"
import { Desk } from "../store/Desk.ts"
import { Experts } from "../store/Experts.ts"
import { failures, orNotFound } from "./StoreFailures.ts"

const noExpert = "There is no such expert."

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "experts",
  Effect.fnUntraced(function* (handlers) {
    const { sql, write } = yield* Database
    const codes = yield* OneTimeCodes
    const desk = yield* Desk
    const experts = yield* Experts
    const sessions = yield* Sessions

    /** Issues a code to an active expert. Others get none. */
    const invite = Effect.fnUntraced(function* (expertId: string) {
      const { code, expert } = yield* Effect.orDie(
        write(
          Effect.gen(function* () {
            const expert = Option.getOrUndefined(yield* experts.find(expertId))
            const code =
              expert?.active && expert.kind === "person" ? yield* codes.issue("invitation", expertId) : undefined
            if (code !== undefined) yield* Audit.record(sql, "expert.link", expertId, { name: expert!.name })
            return { code, expert }
          }),
        ),
      )
      if (expert === undefined) return yield* new NotFound({ detail: noExpert })
      if (expert.kind === "automatic")
        return yield* new Conflict({ detail: "An automatic expert needs no invitation." })
      if (code === undefined) {
        return yield* new Conflict({ detail: "The expert is not active. Activate the expert first." })
      }
      return { expert, invitation: `/annotate/#join=${code}` }
    })

    return handlers.handleAll({
      list: () => Effect.map(Effect.orDie(experts.list), (experts) => ({ experts })),
      invite: Effect.fnUntraced(function* ({ payload: { name } }) {
        const { expert_id } = yield* experts.create(name).pipe(
          Effect.catchTags({
            NameTaken: ({ active, name }) =>
              new Conflict({
                detail: `${name} is among the experts already. ${active ? "Make a new link" : "Activate the expert"} below, or give another name.`,
              }),
            SqlError: Effect.die,
          }),
        )
        return yield* invite(expert_id)
      }),
      inviteAgain: ({ params: { expert_id } }) => invite(expert_id),
      setActive: ({ params: { expert_id }, payload: { active } }) => {
        const shutOut = Effect.andThen(sessions.endAll("expert", expert_id), codes.endAll("invitation", expert_id))
        return orNotFound(experts.setActive(expert_id, active, active ? Effect.void : shutOut), noExpert)
      },
      expert: ({ params: { expert_id } }) => orNotFound(desk.expert(expert_id), noExpert),
      voidVotes: Effect.fnUntraced(function* ({ params: { expert_id }, payload: { reason } }) {
        const { name } = yield* SignedInOperator
        return yield* desk.voidVotes(expert_id, reason, name).pipe(Effect.catchTags(failures))
      }),
      restoreVotes: Effect.fnUntraced(function* ({ params: { voiding_id } }) {
        const { name } = yield* SignedInOperator
        return yield* desk.restoreVotes(voiding_id, name).pipe(Effect.catchTags(failures))
      }),
    })
  }),
)

/** Implements the part of `DashboardApi` about experts. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { Sessions } from "../account/Sessions.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import type { ExpertSummary } from "../pageApi/ExpertsApi.ts"
import { splitNames } from "../pageApi/PageConstants.ts"
import { conflict } from "../pageApi/WebProblems.ts"
import { Desk } from "../store/Desk.ts"
import { Experts } from "../store/Experts.ts"
import { asOperator, orDieOfSql, orNotFound } from "./StoreFailures.ts"

const noExpert = "There is no such expert."

const invitationOf = (expert: ExpertSummary, code: string) => ({ expert, invitation: `/annotate/#join=${code}` })

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "experts",
  Effect.fnUntraced(function* (handlers) {
    const { sql, write } = yield* Database
    const codes = yield* OneTimeCodes
    const desk = yield* Desk
    const experts = yield* Experts
    const sessions = yield* Sessions

    const inviteAgain = Effect.fnUntraced(function* (expertId: string) {
      const expert = yield* orNotFound(experts.find(expertId), noExpert)
      if (expert.kind !== "person") return yield* conflict("An automatic expert needs no invitation.")
      const code = yield* write(
        Effect.gen(function* () {
          const isActive = Option.exists(yield* experts.find(expertId), ({ active }) => active)
          if (!isActive) return yield* conflict("The expert is not active. Activate the expert first.")
          yield* Audit.record(sql, "expert.link", expertId, { name: expert.name })
          return yield* codes.issue("invitation", expertId)
        }),
      ).pipe(Effect.catchTag("SqlError", Effect.die))
      return invitationOf(expert, code)
    })

    const issueFor = (expert: ExpertSummary) =>
      Effect.map(codes.issue("invitation", expert.expert_id), (code) => invitationOf(expert, code))

    return handlers.handleAll({
      list: ({ query }) => Effect.map(Effect.orDie(experts.list(query)), (experts) => ({ experts })),
      invite: ({ payload: { name } }) => orDieOfSql(experts.invite(name, issueFor)),
      inviteAll: ({ payload: { names } }) =>
        Effect.map(orDieOfSql(experts.inviteAll(splitNames(names), issueFor)), (invitations) => ({ invitations })),
      rename: ({ params: { expert_id }, payload: { name } }) => orDieOfSql(experts.rename(expert_id, name)),
      inviteAgain: ({ params: { expert_id } }) => inviteAgain(expert_id),
      setActive: ({ params: { expert_id }, payload: { active } }) => {
        const shutOut = Effect.andThen(sessions.endAll("expert", expert_id), codes.endAll("invitation", expert_id))
        return orNotFound(experts.setActive(expert_id, active, active ? Effect.void : shutOut), noExpert)
      },
      expert: ({ params: { expert_id } }) => orNotFound(desk.expert(expert_id), noExpert),
      voidVotes: ({ params: { expert_id }, payload: { reason } }) =>
        asOperator((name) => desk.voidVotes(expert_id, reason, name)),
      restoreVotes: ({ params: { voiding_id } }) => asOperator((name) => desk.restoreVotes(voiding_id, name)),
    })
  }),
)

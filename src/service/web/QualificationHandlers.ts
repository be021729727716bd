/** Implements the part of `DashboardApi` about the qualification of people. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"
import { Qualification } from "../store/Qualification.ts"

const failures = {
  NoSuchExpert: () => new NotFound({ detail: "There is no such person." }),
  QualificationRefused: ({ problem }: { readonly problem: string }) => new Conflict({ detail: problem }),
  SqlError: Effect.die,
}

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "qualification",
  Effect.fnUntraced(function* (handlers) {
    const qualification = yield* Qualification
    return handlers.handleAll({
      get: () => Effect.orDie(qualification.summary),
      set: ({ payload }) =>
        qualification
          .set(payload)
          .pipe(
            Effect.catchTags({ QualificationRefused: failures.QualificationRefused, SqlError: Effect.die }),
            Effect.andThen(Effect.orDie(qualification.summary)),
          ),
      admit: ({ params: { expert_id } }) => qualification.admit(expert_id).pipe(Effect.catchTags(failures)),
      requalify: ({ params: { expert_id } }) => qualification.requalify(expert_id).pipe(Effect.catchTags(failures)),
    })
  }),
)

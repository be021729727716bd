/** Implements the part of `DashboardApi` about operators. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Operators } from "../account/Operators.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"

const problems = {
  NoSuchOperator: () => new NotFound({ detail: "There is no such operator." }),
  LastAdmin: () =>
    new Conflict({ detail: "This is the last admin who can sign in. Make another operator an admin first." }),
  SqlError: Effect.die,
}

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "operators",
  Effect.fnUntraced(function* (handlers) {
    const operators = yield* Operators
    return handlers.handleAll({
      list: () => Effect.map(Effect.orDie(operators.list), (operators) => ({ operators })),
      add: ({ payload: { name, role } }) =>
        operators.add(name, role).pipe(
          Effect.catchTags({
            NameTaken: () => new Conflict({ detail: `There is an operator ${name} already.` }),
            SqlError: Effect.die,
          }),
        ),
      renew: ({ params: { operator_no } }) =>
        operators
          .renew(operator_no)
          .pipe(Effect.catchTags({ NoSuchOperator: problems.NoSuchOperator, SqlError: Effect.die })),
      setRole: ({ params: { operator_no }, payload: { role } }) =>
        operators.setRole(operator_no, role).pipe(Effect.catchTags(problems)),
      remove: ({ params: { operator_no } }) => operators.remove(operator_no).pipe(Effect.catchTags(problems)),
    })
  }),
)

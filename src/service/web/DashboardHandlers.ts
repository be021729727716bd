/** Implements the parts of `DashboardApi` whose endpoints mostly call one function of a service. */
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Operators } from "../account/Operators.ts"
import { Tokens } from "../account/Tokens.ts"
import { OrganizationAccess } from "../http/OrganizationAccess.ts"
import * as VotesApi from "../http/VotesApi.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { Desk } from "../store/Desk.ts"
import * as OverviewReport from "../store/OverviewReport.ts"
import { Qualification } from "../store/Qualification.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import { Webhooks } from "../webhook/Webhooks.ts"
import { asOperator, orDieOfSql, orNotFound } from "./StoreFailures.ts"

const items = HttpApiBuilder.group(DashboardApi, "items", (handlers) =>
  Effect.map(Desk, (desk) =>
    handlers.handleAll({
      items: ({ query }) => Effect.orDie(desk.items(query)),
      exportVotes: ({ query: { format, raw, ...filter } }) =>
        Effect.succeed(VotesApi.respond(desk, format, filter, raw !== undefined)),
      decide: ({ params: { index, task_id }, payload }) =>
        asOperator((operator) => desk.decide({ taskId: task_id, promptIndex: index, ...payload, operator })),
      withdrawDecision: ({ params: { index, task_id }, query: { mine } }) =>
        asOperator((name) => desk.withdrawDecision(task_id, index, mine === undefined ? undefined : name)),
      withdrawPrompt: ({ params: { index, task_id }, payload: { reason } }) =>
        asOperator((name) => desk.withdrawPrompt(task_id, index, reason, name)),
      restorePrompt: ({ params: { index, task_id } }) => orDieOfSql(desk.restorePrompt(task_id, index)),
    }),
  ),
)

const groups = HttpApiBuilder.group(
  DashboardApi,
  "groups",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    const { groups, pauseGroup, setGroup } = yield* VoteQueue
    return handlers.handleAll({
      list: ({ query }) => Effect.orDie(groups(query)),
      set: ({ payload: { experts, group_id, priority } }) =>
        orDieOfSql(setGroup({ groupId: group_id, priority, experts: experts ?? undefined })),
      group: ({ params: { group_id } }) => orNotFound(desk.group(group_id), "There is no such group."),
      pause: ({ params: { group_id }, payload: { paused } }) => orDieOfSql(pauseGroup(group_id, paused)),
    })
  }),
)

const overview = HttpApiBuilder.group(DashboardApi, "overview", (handlers) =>
  Effect.map(OverviewReport.make, (report) => handlers.handleAll({ report: () => Effect.orDie(report) })),
)

const qualification = HttpApiBuilder.group(DashboardApi, "qualification", (handlers) =>
  Effect.map(Qualification, (qualification) =>
    handlers.handleAll({
      get: () => Effect.orDie(qualification.summary),
      set: ({ payload }) => orDieOfSql(Effect.andThen(qualification.set(payload), qualification.summary)),
      admit: ({ params: { expert_id } }) => orDieOfSql(qualification.admit(expert_id)),
      requalify: ({ params: { expert_id } }) => orDieOfSql(qualification.requalify(expert_id)),
    }),
  ),
)

const operators = HttpApiBuilder.group(DashboardApi, "operators", (handlers) =>
  Effect.map(Operators, (operators) =>
    handlers.handleAll({
      list: () => Effect.map(Effect.orDie(operators.list), (operators) => ({ operators })),
      add: ({ payload: { name, role } }) => orDieOfSql(operators.add(name, role)),
      renew: ({ params: { operator_no } }) => orDieOfSql(operators.renew(operator_no)),
      setRole: ({ params: { operator_no }, payload: { role } }) => orDieOfSql(operators.setRole(operator_no, role)),
      remove: ({ params: { operator_no } }) => orDieOfSql(operators.remove(operator_no)),
    }),
  ),
)

const tokens = HttpApiBuilder.group(
  DashboardApi,
  "tokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* Tokens
    const { hasStartupToken } = yield* OrganizationAccess
    return handlers.handleAll({
      list: () => Effect.map(Effect.orDie(tokens.list), (tokens) => ({ tokens, hasStartupToken })),
      create: Effect.fnUntraced(function* ({ payload: { name } }) {
        const { summary, token } = yield* Effect.orDie(tokens.create(name))
        return { token: Redacted.value(token), summary }
      }),
      rotate: Effect.fnUntraced(function* ({ params: { token_id }, payload: { keep_hours } }) {
        const { summary, token } = yield* orDieOfSql(tokens.rotate(token_id, keep_hours))
        return { token: Redacted.value(token), summary }
      }),
      revoke: ({ params: { token_id } }) => orDieOfSql(tokens.revoke(token_id)),
    })
  }),
)

const webhook = HttpApiBuilder.group(DashboardApi, "webhook", (handlers) =>
  Effect.map(Webhooks, (webhooks) =>
    handlers.handleAll({
      settings: () => Effect.orDie(webhooks.settings),
      set: Effect.fnUntraced(function* ({ payload: { url } }) {
        const { secret, settings } = yield* orDieOfSql(webhooks.set(url))
        return { settings, secret: Option.getOrNull(secret) }
      }),
      remove: () => Effect.orDie(webhooks.remove),
      rotateSecret: ({ payload: { keep_hours } }) => orDieOfSql(webhooks.rotateSecret(keep_hours)),
      test: () => Effect.map(orDieOfSql(webhooks.test), (message_id) => ({ message_id })),
      deliveries: ({ query }) => Effect.orDie(webhooks.deliveries(query)),
      delivery: ({ params: { message_id } }) => orNotFound(webhooks.delivery(message_id), "There is no such delivery."),
      resend: ({ params: { message_id } }) => orDieOfSql(webhooks.resend(message_id)),
    }),
  ),
)

export const layer = Layer.mergeAll(items, groups, overview, qualification, operators, tokens, webhook)

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
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import { TaskStore } from "../store/TaskStore.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { Sessions } from "../account/Sessions.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { ExpertSummary } from "../pageApi/ExpertsApi.ts"
import { splitNames } from "../pageApi/PageConstants.ts"
import { Experts } from "../store/Experts.ts"

const noExpert = "There is no such expert."

const invitationOf = (expert: ExpertSummary, code: string) => ({ expert, invitation: `/annotate/#join=${code}` })

const experts = HttpApiBuilder.group(
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

const noTask = (taskId: string) => `There is no task ${taskId}.`

const tasks = HttpApiBuilder.group(
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

export const layer = Layer.mergeAll(experts, tasks, items, groups, overview, qualification, operators, tokens, webhook)

/**
 * Implements `DashboardApi` over accounts, tasks, tokens, webhook and experts.
 *
 * Guarantees: secrets are only in the response to the request that created them.
 */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Forbidden } from "../../api/Problems.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { Experts } from "../store/Experts.ts"
import { TaskStore } from "../store/TaskStore.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import { Webhooks } from "../webhook/Webhooks.ts"
import { Accounts, type SignedIn } from "../account/Accounts.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { OrganizationAccess } from "../http/OrganizationAccess.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"
import * as AuditHandlers from "./AuditHandlers.ts"
import * as GroupHandlers from "./GroupHandlers.ts"
import * as DeskHandlers from "./DeskHandlers.ts"
import * as OperatorHandlers from "./OperatorHandlers.ts"
import * as QualificationHandlers from "./QualificationHandlers.ts"
import * as SessionCookies from "./SessionCookies.ts"
import { Sessions } from "../account/Sessions.ts"
import { Tokens } from "../account/Tokens.ts"
import { Conflict, NotFound, NotSignedIn, TooManyAttempts } from "../pageApi/WebProblems.ts"

const codeRefused = () =>
  new Forbidden({
    detail:
      "This link was used already, is too old, or was replaced. Ask an admin for a new one, or restart the service with --sign-in-link.",
  })

const attemptsExceeded = Effect.fnUntraced(function* ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) {
  yield* HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))),
  )
  return yield* new TooManyAttempts({ detail: `Try again in ${retryAfterSeconds} seconds.` })
})

const signInHandlers = HttpApiBuilder.group(
  DashboardApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const address = yield* ServiceAddress
    const open = Effect.fnUntraced(function* ({ name, role, session }: SignedIn) {
      yield* SessionCookies.set("operator", session).pipe(Effect.provideService(ServiceAddress, address))
      return { name, role }
    })

    return handlers.handleAll({
      link: Effect.fnUntraced(function* ({ payload: { code } }) {
        const name = yield* accounts
          .findLink(code)
          .pipe(Effect.catchTags({ CodeRefused: codeRefused, SqlError: Effect.die }))
        return { name: Option.getOrNull(name) }
      }),
      setUp: ({ payload: { code, name, password } }) =>
        accounts
          .setUp(code, name, password)
          .pipe(Effect.catchTags({ CodeRefused: codeRefused, SqlError: Effect.die }), Effect.flatMap(open)),
      signIn: ({ payload: { name, password }, request }) =>
        accounts.signIn(name, password, address.clientOf(request)).pipe(
          Effect.catchTags({
            SignInRefused: () => new NotSignedIn({ detail: "The name or the password is wrong." }),
            AttemptsExceeded: attemptsExceeded,
            SqlError: Effect.die,
          }),
          Effect.flatMap(open),
        ),
    })
  }),
)

const sessionHandlers = HttpApiBuilder.group(
  DashboardApi,
  "session",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const services = yield* Effect.context<ServiceAddress | Sessions>()
    return handlers.handleAll({
      session: Effect.fnUntraced(function* () {
        const { name, role } = yield* SignedInOperator
        return { name, role }
      }),
      signOut: Effect.fnUntraced(function* () {
        yield* Effect.orDie(SessionCookies.end("operator")).pipe(Effect.provide(services))
      }),
      changePassword: Effect.fnUntraced(function* ({ payload: { current, password }, request }) {
        const { name } = yield* SignedInOperator
        const { clientOf } = Context.get(services, ServiceAddress)
        const session = yield* accounts.changePassword(name, current, password, clientOf(request)).pipe(
          Effect.catchTags({
            SignInRefused: () => new Forbidden({ detail: "The present password is wrong." }),
            AttemptsExceeded: attemptsExceeded,
            SqlError: Effect.die,
          }),
        )
        yield* SessionCookies.set("operator", session).pipe(Effect.provide(services))
      }),
    })
  }),
)

const noTask = (taskId: string) => new NotFound({ detail: `There is no task ${taskId}.` })

const taskHandlers = HttpApiBuilder.group(
  DashboardApi,
  "tasks",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* TaskStore
    const queue = yield* VoteQueue
    return handlers.handleAll({
      overview: () => Effect.orDie(store.overview),
      list: ({ query }) => Effect.orDie(store.list(query)),
      detail: Effect.fnUntraced(function* ({ params: { task_id }, query }) {
        const task = yield* Effect.orDie(store.detail(task_id, query.from ?? 0))
        return Option.isSome(task) ? task.value : yield* noTask(task_id)
      }),
      cancel: Effect.fnUntraced(function* ({ params: { task_id } }) {
        const before = yield* Effect.orDie(store.detail(task_id, 0))
        if (Option.isNone(before)) return yield* noTask(task_id)
        const cancelled = yield* Effect.orDie(store.cancel(task_id))
        if (!cancelled) return yield* new Conflict({ detail: "The task has ended already." })
      }),
      returnItem: Effect.fnUntraced(function* ({ params: { index, task_id } }) {
        const task = yield* Effect.orDie(store.detail(task_id, index))
        if (Option.isNone(task)) return yield* noTask(task_id)
        if (index < 0 || index >= task.value.task.prompts) {
          return yield* new NotFound({ detail: `The task has no prompt ${index}.` })
        }
        yield* Effect.orDie(queue.returnItem(task_id, index))
      }),
    })
  }),
)

const tokenEnds = {
  NoSuchToken: () => new NotFound({ detail: "There is no such token." }),
  SqlError: Effect.die,
}

const tokenHandlers = HttpApiBuilder.group(
  DashboardApi,
  "tokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* Tokens
    const { hasGiven: given } = yield* OrganizationAccess
    return handlers.handleAll({
      list: () => Effect.map(Effect.orDie(tokens.list), (tokens) => ({ tokens, given })),
      create: Effect.fnUntraced(function* ({ payload: { name } }) {
        const { summary, token } = yield* Effect.orDie(tokens.create(name))
        return { token: Redacted.value(token), summary }
      }),
      rotate: Effect.fnUntraced(function* ({ params: { token_id }, payload: { keep_hours } }) {
        const { summary, token } = yield* tokens.rotate(token_id, keep_hours).pipe(
          Effect.catchTags({
            ...tokenEnds,
            TokenEnded: () => new Conflict({ detail: "The token is no longer accepted. Create a new one." }),
          }),
        )
        return { token: Redacted.value(token), summary }
      }),
      revoke: Effect.fnUntraced(function* ({ params: { token_id } }) {
        yield* tokens.revoke(token_id).pipe(Effect.catchTags(tokenEnds))
      }),
    })
  }),
)

const noWebhook = () => new Conflict({ detail: "Set a webhook URL first." })

const webhookHandlers = HttpApiBuilder.group(
  DashboardApi,
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      settings: () => Effect.orDie(webhooks.settings),
      set: Effect.fnUntraced(function* ({ payload: { url } }) {
        const { secret, settings } = yield* webhooks.set(url).pipe(
          Effect.catchTags({
            WebhookTargetRefused: ({ problem }) => new Conflict({ detail: problem }),
            SqlError: Effect.die,
          }),
        )
        return { settings, secret: Option.getOrNull(secret) }
      }),
      remove: () => Effect.orDie(webhooks.remove),
      rotateSecret: ({ payload: { keep_hours } }) =>
        webhooks.rotateSecret(keep_hours).pipe(Effect.catchTags({ NoWebhook: noWebhook, SqlError: Effect.die })),
      test: () =>
        webhooks.test.pipe(
          Effect.map((message_id) => ({ message_id })),
          Effect.catchTags({ NoWebhook: noWebhook, SqlError: Effect.die }),
        ),
      deliveries: ({ query }) => Effect.orDie(webhooks.deliveries(query)),
      delivery: Effect.fnUntraced(function* ({ params: { message_id } }) {
        const found = yield* Effect.orDie(webhooks.delivery(message_id))
        return Option.isSome(found) ? found.value : yield* new NotFound({ detail: "There is no such delivery." })
      }),
      resend: ({ params: { message_id } }) =>
        webhooks.resend(message_id).pipe(
          Effect.catchTags({
            NoSuchDelivery: () => new NotFound({ detail: "There is no such delivery." }),
            NoWebhook: noWebhook,
            SqlError: Effect.die,
          }),
        ),
    })
  }),
)

const noExpert = () => new NotFound({ detail: "There is no such expert." })

const expertHandlers = HttpApiBuilder.group(
  DashboardApi,
  "experts",
  Effect.fnUntraced(function* (handlers) {
    const { sql, write } = yield* Database
    const codes = yield* OneTimeCodes
    const experts = yield* Experts
    const sessions = yield* Sessions

    /** Issues a code to the expert, in its present state: none to one who is not active. */
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
      if (expert === undefined) return yield* noExpert()
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
      setActive: Effect.fnUntraced(function* ({ params: { expert_id }, payload: { active } }) {
        const shutOut = Effect.andThen(sessions.endAll("expert", expert_id), codes.endAll("invitation", expert_id))
        const expert = yield* Effect.orDie(experts.setActive(expert_id, active, active ? Effect.void : shutOut))
        return Option.isSome(expert) ? expert.value : yield* noExpert()
      }),
    })
  }),
)

export const layer = Layer.mergeAll(
  signInHandlers,
  sessionHandlers,
  taskHandlers,
  tokenHandlers,
  webhookHandlers,
  expertHandlers,
  DeskHandlers.layer,
  OperatorHandlers.layer,
  AuditHandlers.layer,
  GroupHandlers.layer,
  QualificationHandlers.layer,
)

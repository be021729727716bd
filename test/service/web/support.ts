/** The parts of the service that people meet, on a file of their own and the test's clock. */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, type Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import type { HttpApiGroup } from "effect/http-api"
import * as NodeServer from "../../../src/node/HttpServer.ts"
import * as Password from "../../../src/node/Password.ts"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import * as RequestGuard from "../../../src/service/http/RequestGuard.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { Desk } from "../../../src/service/store/Desk.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import type { GoldItem } from "../../../src/service/store/Qualification.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { Accounts } from "../../../src/service/account/Accounts.ts"
import { Operators } from "../../../src/service/account/Operators.ts"
import { OrganizationAccess } from "../../../src/service/http/OrganizationAccess.ts"
import { ServiceAddress } from "../../../src/service/http/ServiceAddress.ts"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import type { Role } from "../../../src/service/pageApi/OperatorSession.ts"
import * as Web from "../../../src/service/web/Web.ts"
import { Webhooks } from "../../../src/service/webhook/Webhooks.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { type Browser, browser } from "./http.ts"
import { testOver } from "../../support/effectTest.ts"

export const platform = NodeServices.layer

export const test = testOver(platform)

export const temporaryFile = Effect.map(temporaryDirectory, (directory) => `${directory}/service.db`)

/** Passwords that are quickly hashed. */
export const cheap = Effect.provideService(Password.Cost, { log2N: 4, r: 8, p: 1 })

const accounts = Layer.merge(Web.accounts, Tokens.layer)

/** Accounts and tokens by themselves, over a file. */
export const accountsOver = (filename: string) =>
  accounts.pipe(Layer.provideMerge(Database.layer), Layer.provide(SqliteClient.layer({ filename })))

/** Runs an effect over accounts and tokens as one process would: the database is closed at the end. */
export const inProcess =
  (filename: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, Layer.fresh(accountsOver(filename)))

const oneGoldItem: ReadonlyArray<GoldItem> = [{ key: "1", prompt: "gold", completions: ["other", "right"], best: 1 }]

interface Options {
  readonly publicUrl?: string
  /** Of the organization, as `PREFSTREAM_TOKEN` gives it. */
  readonly token?: Redacted.Redacted<string>
  readonly gold?: ReadonlyArray<GoldItem>
}

/** All routes of the pages, over everything that they use, on a free port of loopback. */
export const started = Effect.fnUntraced(function* (options: Options = {}) {
  const filename = yield* temporaryFile
  const stuck = yield* Deferred.make<void>()
  const routes = Layer.mergeAll(
    Web.layer,
    RequestGuard.layer({ bodyBytes: 100_000 }),
    HttpRouter.add("GET", "/stuck", Effect.andThen(Deferred.succeed(stuck, undefined), Effect.never)),
  )
  const services = yield* HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(OrganizationAccess.layer({ token: options.token })),
    Layer.provideMerge(Layer.merge(accounts, ServiceAddress.layer(options))),
    Layer.provideMerge(Layer.mergeAll(TaskStore.layer, Experts.layer, Desk.layer)),
    Layer.provideMerge(VoteQueue.layer({ goldItems: options.gold ?? oneGoldItem })),
    Layer.provideMerge(Webhooks.layer({ allowLoopback: true })),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(NodeServer.layer({})),
    Layer.provide(SqliteClient.layer({ filename })),
    Layer.fresh,
    Layer.build,
    cheap,
  )
  /** `stuck` is done when a request has reached the route `/stuck`, which never answers. */
  return { services, stuck, base: HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address) }
})
export type Started = Effect.Success<ReturnType<typeof started>>

export const password = "a password of some length"

/** A browser in which an operator has signed in. */
export const signedIn = Effect.fnUntraced(function* (
  { base, services }: { readonly base: string; readonly services: Context.Context<Accounts> },
  { name = "Ann", origin = base }: { readonly name?: string; readonly origin?: string } = {},
) {
  const link = yield* Context.get(services, Accounts).signInLink
  const operator = browser(base, origin)
  yield* operator.ask("POST", "/dashboard/api/set-up", { code: link.split("=")[1], name, password })
  return operator
})

/** A browser in which an added operator with that role has signed in. */
export const signedInAs = Effect.fnUntraced(function* ({ base, services }: Started, role: Role, name: string = role) {
  const { link, operator } = yield* Context.get(services, Operators).add(name, role)
  const { ask, cookies } = browser(base)
  yield* ask("POST", "/dashboard/api/set-up", { code: link.split("=")[1], name: "anything", password })
  return { ask, cookies, no: operator.operator_no }
})

/** A browser in which an expert has accepted an invitation. */
export const joined = Effect.fnUntraced(function* (base: string, operator: Browser, name = "Eva") {
  const { json } = yield* operator.ask("POST", "/dashboard/api/experts", { name })
  const expert = browser(base)
  yield* expert.ask("POST", "/annotate/api/join", { code: json.invitation.split("=")[1] })
  return { ...expert, expertId: String(json.expert.expert_id) }
})

/** The expert votes, on each item that comes, for the completion that begins so. Gives the number of votes. */
export const judgeAll = Effect.fnUntraced(function* (
  expert: Pick<Browser, "ask">,
  beginsWith: string | ((prompt: string) => string),
  more: object = {},
) {
  let work = yield* expert.ask("POST", "/annotate/api/next")
  let votes = 0
  for (; work.json.item !== null; votes++) {
    const { completions, item_id, prompt } = work.json.item
    const beginning = typeof beginsWith === "string" ? beginsWith : beginsWith(prompt)
    const best = completions.findIndex((text: string) => text.startsWith(beginning))
    const vote = { best, ranking: null, rationale: "", seconds: 1, ...more }
    work = yield* expert.ask("POST", `/annotate/api/items/${item_id}/vote`, vote)
    assert.strictEqual(work.status, 200, work.text)
  }
  return votes
})

/** The service, and an operator's browser. */
export const withOperator = Effect.fnUntraced(function* (options: Options = {}) {
  const service = yield* started(options)
  return { service, operator: yield* signedIn(service) }
})

/** The service, an operator's browser, and an expert's. */
export const atWork = Effect.fnUntraced(function* (options: Options = {}) {
  const { operator, service } = yield* withOperator(options)
  return { service, operator, expert: yield* joined(service.base, operator) }
})

/** Each endpoint of a page's interface, with a path on which nothing is found. */
export const endpointsOf = (api: { readonly groups: object }) =>
  Object.entries(api.groups as Record<string, HttpApiGroup.Top>).flatMap(([group, { endpoints }]) =>
    Object.entries(endpoints).map(([name, { method, path }]) => ({
      group,
      name: `${group}.${name}`,
      method,
      pattern: String(path),
      path: String(path)
        .replace(/:(index|item_id|\w+_no)/g, "0")
        .replace(/:\w+/g, "something"),
    })),
  )

/** A task of the organization; its id. */
export const taskOf = Effect.fnUntraced(function* (
  { services }: Started,
  prompts: ReadonlyArray<readonly [prompt: string, ...completions: ReadonlyArray<string>]>,
  {
    group,
    guidelines = "Be fair.",
    votes = 1,
  }: { readonly group?: string; readonly guidelines?: string; readonly votes?: number } = {},
) {
  const content = { prompts: prompts.map(([prompt, ...completions]) => ({ prompt, completions })), guidelines }
  const body = new TextEncoder().encode(JSON.stringify({ task_type: "rlhf_ranking", ...content }))
  const store = Context.get(services, TaskStore)
  const { taskId } = yield* store.create({
    organization: "default",
    idempotencyKey: undefined,
    body,
    content,
    votes,
    group: group === undefined ? undefined : { id: group },
  })
  return taskId
})

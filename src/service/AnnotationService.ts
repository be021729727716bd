/**
 * The annotation service: the whole contract over HTTP, from the same definition as the client, with a dashboard, a
 * page for people who judge, and automatic experts.
 *
 * Guarantees: a task whose creation was answered is stored durably; every answer other than 2xx is a problem (RFC
 * 9457); only failed requests are logged. `ApiGuide` lists what it decides where the contract is open.
 */
import { Duration, Effect, FileSystem, Layer, Option, Path, type Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { Organization, warningsOf } from "../api/AnnotationApi.ts"
import { IdempotencyKeyReused, TaskNotFound } from "../api/Problems.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as FileLock from "../node/FileLock.ts"
import * as NodeServer from "../node/HttpServer.ts"
import * as SqliteClient from "../node/SqliteClient.ts"
import * as HealthRoutes from "../telemetry/HealthRoutes.ts"
import * as ApiDocument from "./http/ApiDocument.ts"
import type { JudgeSettings } from "./expert/JudgeSettings.ts"
import * as GoldExpert from "./expert/GoldExpert.ts"
import * as Expert from "./expert/ScriptedExperts.ts"
import { OrganizationAccess } from "./http/OrganizationAccess.ts"
import * as OrganizationTokens from "./http/OrganizationTokens.ts"
import * as MethodNotAllowed from "./http/MethodNotAllowed.ts"
import * as ProblemResponses from "./http/ProblemResponses.ts"
import * as RateLimit from "./http/RateLimit.ts"
import * as RequestGuard from "./http/RequestGuard.ts"
import * as TaskLimits from "./http/TaskLimits.ts"
import * as VotesApi from "./http/VotesApi.ts"
import { ServiceApi } from "./http/VotesApi.ts"
import * as TaskReads from "./http/TaskReads.ts"
import { Database } from "./database/Database.ts"
import { Desk } from "./store/Desk.ts"
import { Experts } from "./store/Experts.ts"
import { TaskStore } from "./store/TaskStore.ts"
import { VoteQueue } from "./store/VoteQueue.ts"
import { AnnotateApi } from "./pageApi/AnnotateApi.ts"
import * as ApiDocs from "./http/ApiDocs.ts"
import { DashboardApi } from "./pageApi/DashboardApi.ts"
import { ServiceAddress } from "./http/ServiceAddress.ts"
import { draw as drawToken, Tokens } from "./account/Tokens.ts"
import * as Web from "./web/Web.ts"
import { Webhooks } from "./webhook/Webhooks.ts"
import * as Workforce from "./expert/Workforce.ts"

export { Expert }

/** Options of the annotation service. Only `experts` is required. */
export interface ServiceOptions {
  /** Asked in this order: experts, or names as on the command line (`longest`, `gold:answers.jsonl`, `judge:gpt-4o`). */
  readonly experts: ReadonlyArray<Expert.Expert | string>
  /** Settings of experts that are named `judge:MODEL`. */
  readonly judge?: JudgeSettings | undefined
  /** Time from a task's creation to its judgment. None by default. */
  readonly turnaround?: Duration.Input | undefined
  /** What a task may have, in bytes, prompts, completions and characters. Defaults: `TaskLimits.defaultLimits`, such as 10 MiB and 1,000 prompts. */
  readonly limits?: Partial<TaskLimits.TaskLimits> | undefined
  /** Votes per prompt, unless the task sets `votes`. Default 1. */
  readonly votes?: number | undefined
  /** How long an item is held for an idle person. Default 30 minutes. */
  readonly hold?: Duration.Input | undefined
  /**
   * How long a person's vote keeps a task open that has all its votes, so that it can be taken back. 30 seconds by
   * default. Tasks that automatic experts alone have judged are completed immediately.
   */
  readonly undoGrace?: Duration.Input | undefined
  /** A file of prompt items with `gold`: experts are measured by it. */
  readonly gold?: string | undefined
  /**
   * Whether a task that no expert has an answer to is cancelled, rather than left open
   * for others. It is tried again at the next start. So it is with the embedded service,
   * whose client would wait for ever.
   */
  readonly cancelUnanswered?: boolean | undefined
  /** Accepted in addition to the tokens that are made in the dashboard. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** For each token; 100 requests per second, in bursts of up to 200, by default. */
  readonly rateLimit?: RateLimit.RateLimit | "none" | undefined
  /** Time for a request to arrive and to be answered. A minute by default. */
  readonly requestTimeout?: Duration.Input | undefined
  /** Whether people work here: the dashboard and the annotation page. True by default. */
  readonly pages?: boolean | undefined
  /** Where people reach the service behind a proxy: `https://annotate.example`. */
  readonly publicUrl?: string | undefined
  /**
   * Whether webhooks may go to private networks. To this machine itself they may go where only
   * this machine can reach the service.
   */
  readonly allowPrivateWebhooks?: boolean | undefined
}

const taskHandlers = (limits: TaskLimits.TaskLimits, defaultVotes: number) =>
  HttpApiBuilder.group(
    ServiceApi,
    "tasks",
    Effect.fnUntraced(function* (handlers) {
      const store = yield* TaskStore

      return handlers.handleAll({
        create: Effect.fnUntraced(function* ({ headers, payload, request }) {
          yield* TaskLimits.check(payload, limits)
          const { name: organization } = yield* Organization
          // The body was read to decode the payload; this gives the same bytes again.
          const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
          const { group, group_size, votes = defaultVotes } = payload
          const task = yield* store
            .create({
              organization,
              idempotencyKey: headers["idempotency-key"],
              body,
              content: payload,
              votes,
              group: group === undefined ? undefined : { id: group, size: group_size },
            })
            .pipe(
              Effect.catchTags({
                IdempotencyKeyConflict: ({ taskId }) =>
                  new IdempotencyKeyReused({
                    detail: `This Idempotency-Key was already used for ${taskId} with a different body. Use a new key for each task.`,
                  }),
                SqlError: Effect.die,
              }),
            )
          yield* Effect.annotateCurrentSpan("prefstream.task_id", task.taskId)
          const warnings = warningsOf(payload)
          return HttpApiSchema.withHeaders({
            body: { task_id: task.taskId, status: task.status, ...(warnings.length > 0 && { warnings }) },
            headers: { location: `/v1/tasks/${task.taskId}` },
          })
        }),
        get: Effect.fnUntraced(function* ({ params: { task_id } }) {
          const { name: organization } = yield* Organization
          yield* Effect.annotateCurrentSpan("prefstream.task_id", task_id)
          const task = yield* Effect.orDie(store.find(organization, task_id))
          if (Option.isNone(task)) return yield* new TaskNotFound({ detail: `There is no task ${task_id}.` })
          return TaskReads.toResponse(task.value)
        }),
      })
    }),
  )

/**
 * The service's routes and its experts, on the given server and database, with
 * `/v1/openapi.json` and, for a browser, `/v1/docs`.
 */
export const layer = (options: ServiceOptions) => {
  const limits = { ...TaskLimits.defaultLimits, ...options.limits }
  const votes = options.votes ?? 1
  const timeout = options.requestTimeout ?? RequestGuard.defaultTimeout
  const rateLimit = options.rateLimit === "none" ? undefined : (options.rateLimit ?? RateLimit.defaultRateLimit)
  const documented = ServiceApi.annotateMerge(
    ApiDocument.annotations({ limits, rateLimit, votes, timeout, publicUrl: options.publicUrl }),
  )
  const workforce = Layer.unwrap(
    Effect.map(
      Effect.forEach(options.experts, (expert) =>
        typeof expert === "string" ? Expert.parse(expert, options.judge) : Effect.succeed(expert),
      ),
      (experts) =>
        Workforce.layer({
          experts,
          turnaround: options.turnaround,
          cancelUnanswered: options.cancelUnanswered,
        }),
    ),
  )
  const routes = Layer.mergeAll(
    HttpApiBuilder.layer(documented, { openapiPath: "/v1/openapi.json" }),
    ApiDocs.layer(documented, "/v1/docs"),
    HealthRoutes.layer,
    MethodNotAllowed.layer([
      ...MethodNotAllowed.routesOf(documented),
      { method: "GET", path: "/v1/openapi.json" },
      { method: "GET", path: "/v1/docs" },
      ...HealthRoutes.paths.map((path) => ({ method: "GET", path })),
      ...(options.pages === false ? [] : [AnnotateApi, DashboardApi].flatMap(MethodNotAllowed.routesOf)),
    ]),
    options.pages === false ? Layer.empty : Web.layer,
    RequestGuard.layer({ bodyBytes: limits.bodyBytes, timeout }),
    TaskReads.layer,
  ).pipe(
    Layer.provide([taskHandlers(limits, votes), VotesApi.handlers]),
    Layer.provide(OrganizationTokens.layer(limits)),
    Layer.provide(OrganizationAccess.layer({ token: options.token, rateLimit })),
  )

  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(workforce),
    // Of the store, webhooks alone are for who starts the service.
    Layer.provideMerge(Layer.mergeAll(Web.accounts, Tokens.layer, Layer.effect(Webhooks, Webhooks))),
    Layer.provide(store(options)),
    Layer.provideMerge(ServiceAddress.layer({ publicUrl: options.publicUrl })),
  )
}

/** Tasks, experts, votes, webhooks: all that the service's file holds. */
const store = ({ allowPrivateWebhooks, gold, hold, undoGrace }: ServiceOptions) =>
  Layer.unwrap(
    Effect.map(gold === undefined ? Effect.undefined : GoldExpert.read(gold), (known) =>
      Layer.mergeAll(TaskStore.layer, Experts.layer, Desk.layer).pipe(
        Layer.provideMerge(
          VoteQueue.layer({
            hold,
            undoGrace,
            goldItems: known?.items,
            goldAnswer:
              known &&
              ((prompt) => Option.map(known.answerTo(prompt), ({ best_completion_index }) => best_completion_index)),
          }),
        ),
        Layer.provideMerge(
          Layer.unwrap(
            Effect.map(ServiceAddress, ({ localOnly }) =>
              Webhooks.layer({ allowLoopback: localOnly, allowPrivate: allowPrivateWebhooks }),
            ),
          ),
        ),
        Layer.provideMerge(Database.layer),
      ),
    ),
  )

/** An HTTP server for `layer`, whose own answers are problem details, too. Loopback and a free port by default. */
export const layerHttp = (options: { readonly host?: string | undefined; readonly port?: number | undefined } = {}) =>
  NodeServer.layer({ ...options, problem: ProblemResponses.fromServerStatus })

/**
 * The service on Node, its whole state in one SQLite file. `ServiceAddress` tells where it is, `Accounts`
 * gives the link to sign in, `Tokens` those of the organization.
 */
export const layerServer = (
  options: ServiceOptions & {
    /** Path of the SQLite file; created where it does not exist. */
    readonly database: string
    readonly host?: string | undefined
    readonly port?: number | undefined
  },
) =>
  layer(options).pipe(
    Layer.provideMerge(layerHttp({ host: options.host, port: options.port })),
    Layer.provide(SqliteClient.layer({ filename: options.database })),
    Layer.provide(Layer.effectDiscard(FileLock.acquire(options.database))),
    Layer.provide(Layer.effectDiscard(makeParentFolder(options.database)).pipe(Layer.provide(NodeServer.services))),
  )

const makeParentFolder = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(path.resolve(file)), { recursive: true })
})

/**
 * A service for the program that it runs in: on loopback, at a free port, with a
 * token that is drawn at each start, and the profile that leads there.
 */
export const layerEmbedded = (options: ServiceOptions & { readonly database: string }) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const token = yield* drawToken
      const profile = Effect.map(HttpServer.HttpServer, ({ address }) =>
        ServiceProfile.layer({
          baseUrl: `${HttpServer.formatAddress(address)}/v1`,
          token,
          identity: "the embedded service",
          idempotencyKey: "honored",
          idempotencyKeyLifetime: Duration.infinity,
          ...TaskLimits.ofItems({ ...TaskLimits.defaultLimits, ...options.limits }),
          requestsPerSecond: 2_000,
          pollInterval: { min: "50 millis", max: "2 seconds" },
        }),
      )
      return Layer.provide(
        Layer.unwrap(profile),
        layerServer({ cancelUnanswered: true, pages: false, rateLimit: "none", ...options, token }),
      )
    }),
  )

/** The layers of the annotation service. `AnnotationService` exports them for programs, with narrower types. */
import { Duration, Effect, FileSystem, Layer, Option, Path, type Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { Organization, warningsOf } from "../api/AnnotationApi.ts"
import { maxVotes } from "../api/MaxVotes.ts"
import { TaskNotFound } from "../api/Problems.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as FileLock from "../node/FileLock.ts"
import * as NodeServer from "../node/HttpServer.ts"
import * as SqliteClient from "../node/SqliteClient.ts"
import * as HealthRoutes from "../telemetry/HealthRoutes.ts"
import * as ApiDocument from "./http/ApiDocument.ts"
import type { JudgeSettings } from "./expert/JudgeSettings.ts"
import * as GoldExpert from "./expert/GoldExpert.ts"
import * as JudgeAnswers from "./expert/JudgeAnswers.ts"
import * as NamedExperts from "./expert/NamedExperts.ts"
import type * as Expert from "./expert/ScriptedExperts.ts"
import { OrganizationAccess } from "./http/OrganizationAccess.ts"
import * as OrganizationTokens from "./http/OrganizationTokens.ts"
import * as MethodNotAllowed from "./http/MethodNotAllowed.ts"
import * as ProblemResponses from "./http/ProblemResponses.ts"
import * as RateLimit from "./http/RateLimit.ts"
import * as RequestGuard from "./http/RequestGuard.ts"
import * as SecurityHeaders from "./http/SecurityHeaders.ts"
import * as RequestLimits from "./http/RequestLimits.ts"
import * as VotesApi from "./http/VotesApi.ts"
import * as TaskReads from "./http/TaskReads.ts"
import { Database } from "./database/Database.ts"
import { AllowRepeatedVotes, EndsUnanswered } from "./store/EqualItems.ts"
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

/** Options of the annotation service. Only `experts` is required. */
export interface ServiceOptions {
  /** The experts, as objects or names (`longest`, `gold:answers.jsonl`, `judge:gpt-4o`), in the order of asking. */
  readonly experts: ReadonlyArray<Expert.Expert | string>
  /** Settings of experts named `judge:MODEL`. */
  readonly judge?: JudgeSettings | undefined
  /** How long automatic experts wait after a task's creation before they judge it. Default 0. */
  readonly turnaround?: Duration.Input | undefined
  /** Limits on a task. Default: 10 MiB, 1,000 prompts, and the other defaults that `RequestLimits` lists. */
  readonly limits?: Partial<RequestLimits.RequestLimits> | undefined
  /** Votes per prompt if the task does not set `votes`. Default 1. */
  readonly votes?: number | undefined
  /** How long an item stays reserved for a person who is idle. Default 30 minutes. */
  readonly hold?: Duration.Input | undefined
  /** How long a complete task stays open after a person's last vote, so that people can undo it. Default 30 seconds. */
  readonly undoGrace?: Duration.Input | undefined
  /** Path of a file of prompt items, each with the right answer in `gold`. The service measures experts with them. */
  readonly gold?: string | undefined
  /**
   * Whether to end a task if automatic experts cannot give all its votes. Default false: the task stays open.
   * - If an expert has no answer to a prompt, the prompt is closed with the votes that it has.
   * - If this would close a task without any votes, the task is canceled. A task is also canceled if it asks for more
   *   votes per prompt than there are experts. The next start of the service reopens these canceled tasks.
   */
  readonly cancelUnanswered?: boolean | undefined
  /**
   * Whether a person may judge several equal items of a group if nobody else is left. The further votes are marked
   * `repeated`. Default false.
   */
  readonly allowRepeatedVotes?: boolean | undefined
  /** A token that the service accepts in addition to those made in the dashboard. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** The rate limit for each token. Default: 100 requests per second, in bursts of up to 200. */
  readonly rateLimit?: RateLimit.RateLimit | "none" | undefined
  /** The time limit for receiving a request and answering it. Default 1 minute. */
  readonly requestTimeout?: Duration.Input | undefined
  /** Whether to serve the dashboard and the annotation page. Default true. */
  readonly pages?: boolean | undefined
  /** The URL at which people reach a service that is behind a proxy, such as `https://annotate.example`. */
  readonly publicUrl?: string | undefined
  /** Hosts, such as `images.example.org`, from which texts may show images over https. Default: none. */
  readonly imageHosts?: ReadonlyArray<string> | undefined
  /**
   * Whether webhooks to private networks and to this machine are allowed. Default false. If only this machine can reach
   * the service, webhooks to this machine are always allowed.
   */
  readonly allowPrivateWebhooks?: boolean | undefined
}

const taskHandlers = (limits: RequestLimits.RequestLimits, defaultVotes: number) =>
  HttpApiBuilder.group(
    VotesApi.ServiceApi,
    "tasks",
    Effect.fnUntraced(function* (handlers) {
      const store = yield* TaskStore

      return handlers.handleAll({
        create: Effect.fnUntraced(function* ({ headers, payload, request }) {
          yield* RequestLimits.check(payload, limits)
          const { name: organization } = yield* Organization
          // The store compares the bytes of requests with equal idempotency keys. `arrayBuffer` can be read repeatedly.
          const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
          const { group, group_size, voters, votes = defaultVotes } = payload
          const task = yield* store
            .create({
              organization,
              idempotencyKey: headers["idempotency-key"],
              body,
              content: payload,
              votes,
              voters,
              group: group === undefined ? undefined : { id: group, size: group_size },
            })
            .pipe(Effect.catchTag("SqlError", Effect.die))
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

export const layer = (options: ServiceOptions) => {
  const limits = { ...RequestLimits.defaultLimits, ...options.limits }
  const votes = options.votes ?? 1
  const timeout = options.requestTimeout ?? RequestGuard.defaultTimeout
  const rateLimit = options.rateLimit === "none" ? undefined : (options.rateLimit ?? RateLimit.defaultRateLimit)
  const documented = VotesApi.ServiceApi.annotateMerge(
    ApiDocument.annotations({ limits, rateLimit, votes, timeout, publicUrl: options.publicUrl }),
  )
  const workforce = Layer.unwrap(
    Effect.map(NamedExperts.make(options.experts, options.judge), (experts) =>
      Workforce.layer({
        experts,
        turnaround: options.turnaround,
        cancelUnanswered: options.cancelUnanswered,
      }),
    ),
  )
  const imageHosts = Layer.effect(
    SecurityHeaders.ImageHosts,
    Effect.forEach(options.imageHosts ?? [], (host) =>
      Option.match(SecurityHeaders.parseImageHost(host), {
        onNone: () =>
          Effect.die(new TypeError(`imageHosts: expected a host such as images.example.org, found ${host}`)),
        onSome: Effect.succeed,
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
    options.pages === false ? Layer.empty : Layer.provide(Web.layer, imageHosts),
    RequestGuard.layer({ bodyBytes: limits.bodyBytes, timeout }),
    TaskReads.layer,
  ).pipe(
    Layer.provide([taskHandlers(limits, votes), VotesApi.handlers]),
    Layer.provide(OrganizationTokens.layer(limits)),
    Layer.provide(OrganizationAccess.layer({ token: options.token, rateLimit })),
  )

  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(workforce),
    Layer.provideMerge(Layer.mergeAll(Web.accounts, Tokens.layer, Layer.effect(Webhooks, Webhooks))),
    Layer.provide(store(options)),
    Layer.provideMerge(ServiceAddress.layer({ publicUrl: options.publicUrl })),
  )
}

const store = ({ gold, hold, undoGrace, ...options }: ServiceOptions) =>
  Layer.unwrap(
    Effect.map(gold === undefined ? Effect.undefined : GoldExpert.read(gold), (goldExpert) =>
      Layer.mergeAll(TaskStore.layer, Experts.layer, Desk.layer).pipe(
        Layer.provideMerge(
          VoteQueue.layer({
            hold,
            undoGrace,
            goldItems: goldExpert?.items,
            goldAnswer:
              goldExpert &&
              ((prompt) =>
                Option.map(goldExpert.answerTo(prompt), ({ best_completion_index }) => best_completion_index)),
          }),
        ),
        Layer.provideMerge(
          Layer.unwrap(
            Effect.map(ServiceAddress, ({ localOnly }) =>
              Webhooks.layer({ allowLoopback: localOnly, allowPrivate: options.allowPrivateWebhooks }),
            ),
          ),
        ),
        Layer.provideMerge(Database.layer),
        Layer.provide([
          Layer.succeed(AllowRepeatedVotes, options.allowRepeatedVotes === true),
          Layer.succeed(EndsUnanswered, options.cancelUnanswered === true),
        ]),
      ),
    ),
  )

/** An HTTP server for `layer`, by default on loopback and a free port. Malformed HTTP gets JSON problem details. */
export const layerHttp = (options: { readonly host?: string | undefined; readonly port?: number | undefined } = {}) =>
  NodeServer.layer({ ...options, problem: ProblemResponses.fromServerStatus })

/** Options of a service on Node. `experts` and `database` are required. */
export interface ServerOptions extends ServiceOptions {
  /** The path of the SQLite file. The service creates it if it does not exist. */
  readonly database: string
  /** The address to listen on. Default: loopback. */
  readonly host?: string | undefined
  /** The port to listen on. Default: a free port. */
  readonly port?: number | undefined
}

export const layerServer = (options: ServerOptions) =>
  layer({
    ...options,
    judge: { ...options.judge, cache: options.judge?.cache ?? fileOfAnswers(options.database) },
  }).pipe(
    Layer.provideMerge(layerHttp({ host: options.host, port: options.port })),
    Layer.provide(SqliteClient.layer({ filename: options.database })),
    Layer.provide(Layer.effectDiscard(FileLock.acquire(options.database))),
    Layer.provide(Layer.effectDiscard(makeParentFolder(options.database)).pipe(Layer.provide(NodeServer.services))),
  )

const fileOfAnswers = (database: string): string => database.replace(/[^/\\]*$/, JudgeAnswers.fileName)

const makeParentFolder = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(path.resolve(file)), { recursive: true })
})

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
          taskMembers: { group: true, maxVotes, voters: true },
          ...RequestLimits.ofItems({ ...RequestLimits.defaultLimits, ...options.limits }),
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

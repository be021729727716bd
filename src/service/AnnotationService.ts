/**
 * The annotation service: the whole contract over HTTP, from the same definition
 * as the client, with scripted experts who do the work.
 *
 * Guarantees: a task whose creation was answered is stored durably; every answer
 * other than 2xx is a problem (RFC 9457); of requests only failures are logged.
 *
 * What the contract leaves open is decided as follows:
 * - `POST /v1/tasks` answers 201 with `task_id`, `status` and `Location`.
 * - `Idempotency-Key`: the same key and the same body, byte for byte, answer 201
 *   again with the task that exists, as it stands now; another body answers 422.
 * - `GET /v1/tasks/{task_id}` of an open task answers 200 without `results`.
 */
import { type Duration, Effect, FileSystem, Layer, Option, Path, type Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema, HttpApiSwagger } from "effect/http-api"
import { AnnotationApi, Organization } from "../api/AnnotationApi.ts"
import { IdempotencyKeyReused, TaskNotFound } from "../api/Problems.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as FileLock from "../node/FileLock.ts"
import * as NodeServer from "../node/HttpServer.ts"
import * as SqliteClient from "../node/SqliteClient.ts"
import * as Expert from "./Expert.ts"
import * as OrganizationTokens from "./OrganizationTokens.ts"
import * as ProblemResponses from "./ProblemResponses.ts"
import * as TaskLimits from "./TaskLimits.ts"
import { TaskStore } from "./TaskStore.ts"
import { Workforce } from "./Workforce.ts"

export interface ServiceOptions {
  /** Asked in this order: experts, or names as on the command line (`longest`, `gold:answers.jsonl`). */
  readonly experts: ReadonlyArray<Expert.Expert | string>
  /** Time from a task's creation to its judgment. None by default. */
  readonly turnaround?: Duration.Input | undefined
  readonly limits?: Partial<TaskLimits.TaskLimits> | undefined
  /**
   * Whether a task that no expert has an answer to is cancelled, rather than left open
   * for others. It is tried again at the next start. So it is with the embedded service,
   * whose client would wait for ever.
   */
  readonly cancelUnanswered?: boolean | undefined
}

const api = AnnotationApi.prefix("/v1")

const taskHandlers = (limits: TaskLimits.TaskLimits) =>
  HttpApiBuilder.group(
    api,
    "tasks",
    Effect.fnUntraced(function* (handlers) {
      const store = yield* TaskStore
      const workforce = yield* Workforce

      return handlers.handleAll({
        create: Effect.fnUntraced(function* ({ headers, payload, request }) {
          yield* TaskLimits.check(payload, limits)
          const { name: organization } = yield* Organization
          // The body was read to decode the payload; this gives the same bytes again.
          const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
          const task = yield* store.create({ organization, idempotencyKey: headers["idempotency-key"], body }).pipe(
            Effect.catchTags({
              IdempotencyKeyConflict: ({ taskId }) =>
                new IdempotencyKeyReused({
                  detail: `The key created ${taskId} from another body. Use a key of its own for each task.`,
                }),
              SqlError: Effect.die,
            }),
          )
          yield* workforce.wake
          return HttpApiSchema.withHeaders({
            body: { task_id: task.taskId, status: task.status },
            headers: { location: `/v1/tasks/${task.taskId}` },
          })
        }),
        get: Effect.fnUntraced(function* ({ params: { task_id } }) {
          const { name: organization } = yield* Organization
          const task = yield* Effect.orDie(store.find(organization, task_id))
          if (Option.isNone(task)) return yield* new TaskNotFound({ detail: `There is no task ${task_id}.` })
          const { status, results } = task.value
          if (Option.isNone(results)) return { task_id, status }
          // The results stand in the store as they are sent: they need no second encoding.
          return HttpServerResponse.text(
            `{"task_id":${JSON.stringify(task_id)},"status":"${status}","results":${results.value}}`,
            { contentType: "application/json" },
          )
        }),
      })
    }),
  )

/**
 * The service's routes and its experts, on the given server and database, with
 * `/v1/openapi.json` and, for a browser, `/v1/docs`.
 */
export const layer = (options: ServiceOptions & { readonly token: Redacted.Redacted<string> }) => {
  const limits = { ...TaskLimits.defaultLimits, ...options.limits }
  const workforce = Layer.unwrap(
    Effect.map(
      Effect.forEach(options.experts, (expert) =>
        typeof expert === "string" ? Expert.parse(expert) : Effect.succeed(expert),
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
    HttpApiBuilder.layer(api, { openapiPath: "/v1/openapi.json" }),
    HttpApiSwagger.layer(api, { path: "/v1/docs" }),
    ProblemResponses.layer(limits.bodyBytes),
  ).pipe(Layer.provide(taskHandlers(limits)), Layer.provide(OrganizationTokens.layer(options.token)))

  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(workforce),
    Layer.provide(TaskStore.layer),
  )
}

/** The service on Node, its whole state in one SQLite file. `HttpServer` tells its address. */
export const layerServer = (
  options: ServiceOptions & {
    /** Path of the SQLite file; created where it does not exist. */
    readonly database: string
    readonly token: Redacted.Redacted<string>
    /** Loopback by default. */
    readonly host?: string | undefined
    /** A free one by default. */
    readonly port?: number | undefined
  },
) =>
  layer(options).pipe(
    Layer.provideMerge(NodeServer.layer({ host: options.host, port: options.port })),
    Layer.provide(SqliteClient.layer({ filename: options.database })),
    Layer.provide(Layer.effectDiscard(FileLock.acquire(options.database))),
    Layer.provide(Layer.effectDiscard(makeFolderOf(options.database)).pipe(Layer.provide(NodeServer.services))),
  )

const makeFolderOf = Effect.fnUntraced(function* (file: string) {
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
      const token = yield* OrganizationTokens.draw
      const profile = Effect.map(HttpServer.HttpServer, ({ address }) =>
        ServiceProfile.layer({
          baseUrl: `${HttpServer.formatAddress(address)}/v1`,
          token,
          identity: "the embedded service",
          idempotencyKey: "honoured",
          requestsPerSecond: 2_000,
          pollInterval: { min: "50 millis", max: "2 seconds" },
        }),
      )
      return Layer.provide(Layer.unwrap(profile), layerServer({ cancelUnanswered: true, ...options, token }))
    }),
  )

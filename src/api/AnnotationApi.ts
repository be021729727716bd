/**
 * The contract of the annotation service as one `HttpApi`: the client, the
 * embedded service and the OpenAPI document are all made from this value.
 *
 * Guarantees: both endpoints, the bearer token, JSON, errors as problem details.
 * Paths are relative to a base URL that ends in `/v1`.
 *
 * What the contract leaves open is decided here for the embedded service (201
 * with `task_id`, `status` and `Location`; `Idempotency-Key` honoured). A client
 * of another service doesn't rely on those decisions: it reads raw responses and
 * interprets them by its `ServiceProfile`.
 */
import { Context, Schema } from "effect"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "effect/http-api"
import { TaskRequest, TaskResult } from "../domain/Task.ts"
import {
  BodyTooLarge,
  IdempotencyKeyReused,
  MalformedRequest,
  ServiceFailure,
  TaskNotFound,
  TooManyRequests,
  Unauthorized,
  UnprocessableTask,
  UnsupportedMediaType,
} from "./Problems.ts"

/** The organization whose token a request carries. */
export class Organization extends Context.Service<Organization, { readonly name: string }>()(
  "prefstream/api/Organization",
) {}

/** `Authorization: Bearer <ORGANIZATION_TOKEN>` on every request. */
export class OrganizationToken extends HttpApiMiddleware.Service<OrganizationToken, { provides: Organization }>()(
  "prefstream/api/OrganizationToken",
  {
    requiredForClient: true,
    security: { bearer: HttpApiSecurity.bearer },
    error: Unauthorized,
  },
) {}

/** What the embedded service answers to `POST /tasks`. */
export const TaskCreated = Schema.Struct({
  task_id: Schema.String,
  status: Schema.String,
})
export type TaskCreated = typeof TaskCreated.Type

const createTask = HttpApiEndpoint.post("create", "/tasks", {
  headers: {
    /** Same key and body: the same task. Same key, another body: 422. */
    "idempotency-key": Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 255))),
  },
  payload: TaskRequest,
  success: HttpApiSchema.WithHeaders(TaskCreated.pipe(HttpApiSchema.status(201)), {
    /** Path of the task. */
    location: Schema.String,
  }),
  error: [
    MalformedRequest,
    BodyTooLarge,
    UnsupportedMediaType,
    UnprocessableTask,
    IdempotencyKeyReused,
    TooManyRequests,
    ServiceFailure,
  ],
})

const getTask = HttpApiEndpoint.get("get", "/tasks/:task_id", {
  params: { task_id: Schema.String },
  success: TaskResult,
  error: [TaskNotFound, TooManyRequests, ServiceFailure],
})

/** The two endpoints of the contract. */
export class TaskGroup extends HttpApiGroup.make("tasks")
  .add(createTask, getTask)
  .middleware(OrganizationToken)
  .annotateMerge(
    OpenApi.annotations({ title: "Tasks", description: "Create annotation tasks and read their results." }),
  ) {}

export class AnnotationApi extends HttpApi.make("annotation-task-service")
  .add(TaskGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Annotation Task Service",
      version: "1.0.0",
      description: "Send prompts with candidate completions to human experts, and read back which one they prefer.",
    }),
  ) {}

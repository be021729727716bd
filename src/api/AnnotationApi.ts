/** The annotation service's contract as one `HttpApi`. Paths are relative to a base URL that ends in `/v1`. */
import { Context, Schema } from "effect"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "effect/http-api"
import { described } from "../domain/Described.ts"
import { Metadata } from "../domain/PromptItem.ts"
import { ResultItem, TaskPrompt, TaskRequest, TaskResult } from "../domain/Task.ts"
import { VotedAnnotations } from "../domain/VotedResult.ts"
import { maxVotes } from "./MaxVotes.ts"
import * as Problems from "./Problems.ts"

export class Organization extends Context.Service<Organization, { readonly name: string }>()(
  "prefstream/api/Organization",
) {}

export class OrganizationToken extends HttpApiMiddleware.Service<OrganizationToken, { provides: Organization }>()(
  "prefstream/api/OrganizationToken",
  { requiredForClient: true, security: { bearer: HttpApiSecurity.bearer }, error: Problems.Unauthorized },
) {}

const metadata = Schema.optionalKey(described("Any JSON object. The result returns it unchanged.", Metadata))

/** Keeps unknown members when decoding, so that the response can name them in its warnings. */
const unknownMembers = [Schema.Record(Schema.String, Schema.Unknown)] as const

const requestMembers = {
  ...TaskRequest.fields,
  prompts: described(
    "The prompts that experts judge. Results have the same order.",
    Schema.Array(Schema.StructWithRest(Schema.Struct({ ...TaskPrompt.fields, metadata }), unknownMembers)),
  ),
  metadata,
  votes: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxVotes })).annotate({
      description:
        "Number of experts who judge each prompt. Default: the service's setting. A vote goes to the completion that the expert chooses. If an expert ranks several completions first, each of them gets an equal fraction of this vote. The completion with the most votes is best. If several completions have the most votes, `annotations.tie` is true, and these rules choose the best of these tied completions. 1. The tied completion with the most points (Borda score) is best. An expert who ranks m completions gives m - 1 points to the first, m - 2 to the second, and 0 to the last. Completions with equal ranks get the mean of their points: if an expert ranks two of three completions first, both get 1.5, the mean of 2 and 1. 2. If several tied completions have the most points, the earliest vote that chose one of them decides: the chosen completion is best. 3. If no vote chose one of them, the completion with the lowest index among them is best. `annotations.agreement` is the best completion's share of the votes.",
    }),
  ),
  group: Schema.optionalKey(
    Schema.String.check(Schema.isBetweenLength(1, 255)).annotate({
      description:
        "The service announces the tasks of a group together: it sends one webhook when all tasks created in the group " +
        "are completed or cancelled. A task without a group forms its own group, whose id is the task's id.",
    }),
  ),
  group_size: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
      description:
        "Number of tasks that the group will have. The service waits for all of these tasks before it sends the group's " +
        "webhook. If the tasks of a group have different values, the highest value applies.",
    }),
  ),
}

export const ServiceTaskRequest = Schema.StructWithRest(Schema.Struct(requestMembers), unknownMembers).check(
  Schema.makeFilter(({ group, group_size }) =>
    group === undefined && group_size !== undefined
      ? { path: ["group_size"], issue: "allowed only together with `group`" }
      : undefined,
  ),
)
export type ServiceTaskRequest = typeof ServiceTaskRequest.Type

const expected = Object.keys(requestMembers)
const expectedOfPrompt = [...Object.keys(TaskPrompt.fields), "metadata"]
const maxWarnings = 100

type Issue = typeof HttpApiError.ProblemIssue.Type

export const warningsOf = (request: ServiceTaskRequest): ReadonlyArray<Issue> => {
  const warnings: Array<Issue> = []
  const compare = (members: object, expectedMembers: ReadonlyArray<string>, place: ReadonlyArray<string | number>) => {
    for (const member of Object.keys(members)) {
      if (expectedMembers.includes(member) || warnings.length === maxWarnings) continue
      warnings.push({
        path: [...place, member],
        message: `the service ignored this unknown member. Known members: ${expectedMembers.join(", ")}`,
      })
    }
  }
  compare(request, expected, [])
  request.prompts.forEach((prompt, i) => compare(prompt, expectedOfPrompt, ["prompts", i]))
  return warnings
}

const TaskStatus = described(
  "If an operator cancels a task, the task stays `cancelled`. If the service cancels a task because no expert can answer it, the task is open again after the service restarts. If votes on a `completed` task are corrected, the task may get new results, or become `in_progress` again.",
  Schema.Literals(["pending", "in_progress", "completed", "cancelled"]),
)

export type TaskStatus = typeof TaskStatus.Type

export const TaskCreated = Schema.Struct({
  task_id: TaskResult.fields.task_id,
  status: TaskStatus,
  warnings: Schema.optionalKey(
    described(
      "Fields of the request that the service does not know, and has ignored. At most 100 are listed.",
      Schema.Array(HttpApiError.ProblemIssue),
    ),
  ),
})
export type TaskCreated = typeof TaskCreated.Type

export const ServiceTaskResult = Schema.Struct({
  ...TaskResult.fields,
  status: TaskStatus,
  waiting_prompts: Schema.optionalKey(
    described(
      "Number of prompts that wait for another expert: such a prompt needs more votes, but none of the service's experts can vote on it. An expert votes on each prompt at most once. If a group contains equal prompts, a person votes on only one of these prompts, unless the service allows repeated votes. If a task has `voters: judges`, only language models may vote on its prompts. Absent if no prompt waits for another expert.",
      Schema.Int.check(Schema.isGreaterThan(0)),
    ),
  ),
  metadata,
  results: Schema.optionalKey(
    described(
      "One item per prompt, in the order of the prompts; present once the task is completed.",
      Schema.Array(
        Schema.Struct({
          ...ResultItem.fields,
          annotations: described("The experts' judgments. Ignore members that you do not know.", VotedAnnotations),
          metadata,
        }),
      ),
    ),
  ),
})
export type ServiceTaskResult = typeof ServiceTaskResult.Type

const createTask = HttpApiEndpoint.post("create", "/tasks", {
  payload: ServiceTaskRequest,
  headers: {
    /** For a repeated key, the service returns the first request's task, or answers 422 if the bodies differ. */
    "idempotency-key": Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 255))),
  },
  success: HttpApiSchema.WithHeaders(TaskCreated.pipe(HttpApiSchema.status(201)), { location: Schema.String }),
  error: [
    Problems.MalformedRequest,
    Problems.Forbidden,
    Problems.BodyTooLarge,
    Problems.UnsupportedMediaType,
    Problems.UnprocessableTask,
    Problems.IdempotencyKeyReused,
    Problems.TooManyRequests,
    Problems.RequestTimedOut,
    Problems.ServiceFailure,
    Problems.ServiceTooSlow,
    Problems.ServiceUnavailable,
  ],
})

const getTask = HttpApiEndpoint.get("get", "/tasks/:task_id", {
  params: { task_id: Schema.String },
  success: ServiceTaskResult,
  error: [
    Problems.Forbidden,
    Problems.TaskNotFound,
    Problems.TooManyRequests,
    Problems.ServiceFailure,
    Problems.ServiceTooSlow,
    Problems.ServiceUnavailable,
  ],
})

export class TaskGroup extends HttpApiGroup.make("tasks")
  .add(createTask, getTask)
  .middleware(OrganizationToken)
  .annotateMerge(
    OpenApi.annotations({ title: "Tasks", description: "Create annotation tasks and read their results." }),
  ) {}

/** The whole API. The embedded service serves it, and `openapi.json` describes it. */
export class AnnotationApi extends HttpApi.make("annotation-task-service")
  .add(TaskGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Annotation Task Service",
      version: "1.0.0",
      description: "Send prompts with candidate completions to human experts, and read back which one they prefer.",
    }),
  ) {}

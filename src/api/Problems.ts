/** The annotation service's errors as RFC 9457 problems. A `type` is a stable tag URI (RFC 4151), not a URL. */
import { Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { described } from "../domain/Described.ts"
import { Problem } from "./Problem.ts"

const errors = Schema.optionalKey(
  described(
    "The problems found, each with its path: one for a malformed request, up to 100 for an unprocessable task.",
    Schema.Array(HttpApiError.ProblemIssue),
  ),
)

/** The body is not JSON, or lacks a required member. `errors` names the first such member. */
export class MalformedRequest extends Problem<MalformedRequest>()(
  "MalformedRequest",
  400,
  "The request is malformed.",
  { errors },
) {}

export class Unauthorized extends Problem<Unauthorized>()(
  "Unauthorized",
  401,
  "A valid organization token is required.",
) {}

export class Forbidden extends Problem<Forbidden>()("Forbidden", 403, "This is not allowed.") {}

export class EndpointNotFound extends Problem<EndpointNotFound>()(
  "EndpointNotFound",
  404,
  "There is no such endpoint.",
) {}

export class TaskNotFound extends Problem<TaskNotFound>()("TaskNotFound", 404, "There is no such task.") {}

export class MethodNotAllowed extends Problem<MethodNotAllowed>()(
  "MethodNotAllowed",
  405,
  "The address does not support this method.",
) {}

export class RequestTimedOut extends Problem<RequestTimedOut>()(
  "RequestTimedOut",
  408,
  "The request did not arrive in time.",
) {}

export class BodyTooLarge extends Problem<BodyTooLarge>()("BodyTooLarge", 413, "The request body is too large.", {
  limit_bytes: Schema.optionalKey(Schema.Int),
}) {}

export class UnsupportedMediaType extends Problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  415,
  "The body's media type is not supported.",
) {}

export class ExpectationFailed extends Problem<ExpectationFailed>()(
  "ExpectationFailed",
  417,
  "The service does not support the Expect header of the request.",
) {}

/** The body is well formed, but asks for something unsupported. `errors` names at most 100 invalid members. */
export class UnprocessableTask extends Problem<UnprocessableTask>()("UnprocessableTask", 422, "The task is invalid.", {
  errors,
}) {}

export class IdempotencyKeyReused extends Problem<IdempotencyKeyReused>()(
  "IdempotencyKeyReused",
  422,
  "The idempotency key belongs to another request.",
) {}

export class TooManyRequests extends Problem<TooManyRequests>()("TooManyRequests", 429, "Too many requests.") {}

export class HeadersTooLarge extends Problem<HeadersTooLarge>()(
  "HeadersTooLarge",
  431,
  "The request's headers are too large.",
) {}

export class ServiceFailure extends Problem<ServiceFailure>()("ServiceFailure", 500, "The service failed to answer.") {}

/** The service is starting or stopping; the `Retry-After` header says when to retry. */
export class ServiceUnavailable extends Problem<ServiceUnavailable>()(
  "ServiceUnavailable",
  503,
  "The service is not ready.",
) {}

export class ServiceTooSlow extends Problem<ServiceTooSlow>()(
  "ServiceTooSlow",
  503,
  "The service did not answer in time.",
) {}

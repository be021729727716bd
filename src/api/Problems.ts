/**
 * The errors of the annotation service as RFC 9457 problem details.
 *
 * Guarantees: each has a stable `type` (a tag URI, RFC 4151, not meant to be fetched), the HTTP status in `status`, and a
 * `detail` that says what to do.
 */
import { Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { described } from "../domain/Described.ts"

const problem = <const Name extends string, const Status extends number>(
  name: Name,
  status: Status,
  title: string,
) => ({ type: `tag:prefstream,2026:${name}` as const, status, title })

const errors = Schema.optionalKey(
  described(
    "The places that are wrong, and why: of a malformed request the first, of an unprocessable task all (at most 100).",
    Schema.Array(HttpApiError.ProblemIssue),
  ),
)

/** The body is not JSON, or lacks a required member. `errors` names the first wrong place. */
export class MalformedRequest extends HttpApiError.Problem<MalformedRequest>()(
  "MalformedRequest",
  problem("malformed-request", 400, "The request is malformed."),
  { errors },
) {}

export class Unauthorized extends HttpApiError.Problem<Unauthorized>()(
  "Unauthorized",
  problem("unauthorized", 401, "A valid organization token is required."),
) {}

/**
 * `Host` is not the name of the service. Pages also answer this to a cross-origin request, and to a link that was used
 * or has expired.
 */
export class Forbidden extends HttpApiError.Problem<Forbidden>()(
  "Forbidden",
  problem("forbidden", 403, "This is not allowed."),
) {}

export class EndpointNotFound extends HttpApiError.Problem<EndpointNotFound>()(
  "EndpointNotFound",
  problem("endpoint-not-found", 404, "There is no such endpoint."),
) {}

export class TaskNotFound extends HttpApiError.Problem<TaskNotFound>()(
  "TaskNotFound",
  problem("task-not-found", 404, "There is no such task."),
) {}

/** The `Allow` header names the methods. */
export class MethodNotAllowed extends HttpApiError.Problem<MethodNotAllowed>()(
  "MethodNotAllowed",
  problem("method-not-allowed", 405, "The address does not take this method."),
) {}

export class RequestTimedOut extends HttpApiError.Problem<RequestTimedOut>()(
  "RequestTimedOut",
  problem("request-timed-out", 408, "The request did not arrive in time."),
) {}

export class BodyTooLarge extends HttpApiError.Problem<BodyTooLarge>()(
  "BodyTooLarge",
  problem("body-too-large", 413, "The request body is too large."),
  { limit_bytes: Schema.optionalKey(Schema.Int) },
) {}

/** `Content-Type` does not name JSON, or the body is not UTF-8. */
export class UnsupportedMediaType extends HttpApiError.Problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  problem("unsupported-media-type", 415, "The body's media type is not supported."),
) {}

/** The `Expect` header asks for something other than `100-continue`. */
export class ExpectationFailed extends HttpApiError.Problem<ExpectationFailed>()(
  "ExpectationFailed",
  problem("expectation-failed", 417, "The service cannot do what the request expects."),
) {}

/** The body is well formed, but asks for something unsupported. `errors` names each place, at most 100. */
export class UnprocessableTask extends HttpApiError.Problem<UnprocessableTask>()(
  "UnprocessableTask",
  problem("unprocessable-task", 422, "The task cannot be taken."),
  { errors },
) {}

export class IdempotencyKeyReused extends HttpApiError.Problem<IdempotencyKeyReused>()(
  "IdempotencyKeyReused",
  problem("idempotency-key-reused", 422, "The idempotency key belongs to another request."),
) {}

/** The `Retry-After` header says when to retry. */
export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()(
  "TooManyRequests",
  problem("too-many-requests", 429, "Too many requests."),
) {}

export class HeadersTooLarge extends HttpApiError.Problem<HeadersTooLarge>()(
  "HeadersTooLarge",
  problem("headers-too-large", 431, "The request's headers are too large."),
) {}

/** The cause is in the service's log, not in the answer. */
export class ServiceFailure extends HttpApiError.Problem<ServiceFailure>()(
  "ServiceFailure",
  problem("service-failure", 500, "The service failed to answer."),
) {}

/** The service is starting or stopping; the `Retry-After` header says when to retry. */
export class ServiceUnavailable extends HttpApiError.Problem<ServiceUnavailable>()(
  "ServiceUnavailable",
  problem("service-unavailable", 503, "The service is not ready."),
) {}

export class ServiceTooSlow extends HttpApiError.Problem<ServiceTooSlow>()(
  "ServiceTooSlow",
  problem("service-too-slow", 503, "The service did not answer in time."),
) {}

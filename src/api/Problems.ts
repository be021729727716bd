/**
 * The errors of the annotation service as RFC 9457 problem details.
 *
 * Guarantees: each problem has a stable `type` (a tag URI, RFC 4151: an
 * identifier that is not meant to be fetched), the HTTP status in `status`, and
 * a `detail` in words that says what to do.
 */
import { Schema } from "effect"
import { HttpApiError } from "effect/http-api"

/** 400: the body is not JSON, or lacks a required member. `errors` names the first place that is wrong. */
export class MalformedRequest extends HttpApiError.Problem<MalformedRequest>()(
  "MalformedRequest",
  { type: "tag:prefstream,2026:malformed-request", status: 400, title: "The request is malformed." },
  { errors: Schema.optionalKey(Schema.Array(HttpApiError.ProblemIssue)) },
) {}

/** 401: the token is missing or unknown. */
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()("Unauthorized", {
  type: "tag:prefstream,2026:unauthorized",
  status: 401,
  title: "A valid organization token is required.",
}) {}

/**
 * 403: the service is not reached under the name in `Host`; of the pages also: the request did not
 * come from one of them, or the link is used up or too old.
 */
export class Forbidden extends HttpApiError.Problem<Forbidden>()("Forbidden", {
  type: "tag:prefstream,2026:forbidden",
  status: 403,
  title: "This is not allowed.",
}) {}

/** 404: no such address, or not with this method. */
export class EndpointNotFound extends HttpApiError.Problem<EndpointNotFound>()("EndpointNotFound", {
  type: "tag:prefstream,2026:endpoint-not-found",
  status: 404,
  title: "There is no such endpoint.",
}) {}

/** 404: no such task. */
export class TaskNotFound extends HttpApiError.Problem<TaskNotFound>()("TaskNotFound", {
  type: "tag:prefstream,2026:task-not-found",
  status: 404,
  title: "There is no such task.",
}) {}

/** 405: the address takes other methods; the `Allow` header says which. */
export class MethodNotAllowed extends HttpApiError.Problem<MethodNotAllowed>()("MethodNotAllowed", {
  type: "tag:prefstream,2026:method-not-allowed",
  status: 405,
  title: "The address does not take this method.",
}) {}

/** 408: the request did not arrive in time. */
export class RequestTimedOut extends HttpApiError.Problem<RequestTimedOut>()("RequestTimedOut", {
  type: "tag:prefstream,2026:request-timed-out",
  status: 408,
  title: "The request did not arrive in time.",
}) {}

/** 413: the body is larger than the service takes. */
export class BodyTooLarge extends HttpApiError.Problem<BodyTooLarge>()(
  "BodyTooLarge",
  { type: "tag:prefstream,2026:body-too-large", status: 413, title: "The request body is too large." },
  { limit_bytes: Schema.optionalKey(Schema.Int) },
) {}

/** 415: the body is not JSON by its `Content-Type`, or not UTF-8. */
export class UnsupportedMediaType extends HttpApiError.Problem<UnsupportedMediaType>()("UnsupportedMediaType", {
  type: "tag:prefstream,2026:unsupported-media-type",
  status: 415,
  title: "The body's media type is not supported.",
}) {}

/** 417: the `Expect` header asks for something else than `100-continue`. */
export class ExpectationFailed extends HttpApiError.Problem<ExpectationFailed>()("ExpectationFailed", {
  type: "tag:prefstream,2026:expectation-failed",
  status: 417,
  title: "The service can't do what the request expects.",
}) {}

/** 422: the body is well formed, but asks for what the service does not do. `errors` names each place, up to a hundred. */
export class UnprocessableTask extends HttpApiError.Problem<UnprocessableTask>()(
  "UnprocessableTask",
  { type: "tag:prefstream,2026:unprocessable-task", status: 422, title: "The task can't be taken." },
  { errors: Schema.optionalKey(Schema.Array(HttpApiError.ProblemIssue)) },
) {}

/** 422: the idempotency key was used before with another body. */
export class IdempotencyKeyReused extends HttpApiError.Problem<IdempotencyKeyReused>()("IdempotencyKeyReused", {
  type: "tag:prefstream,2026:idempotency-key-reused",
  status: 422,
  title: "The idempotency key belongs to another request.",
}) {}

/** 429: too many requests; the `Retry-After` header says when to come back. */
export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()("TooManyRequests", {
  type: "tag:prefstream,2026:too-many-requests",
  status: 429,
  title: "Too many requests.",
}) {}

/** 431: the request's headers are too large. */
export class HeadersTooLarge extends HttpApiError.Problem<HeadersTooLarge>()("HeadersTooLarge", {
  type: "tag:prefstream,2026:headers-too-large",
  status: 431,
  title: "The request's headers are too large.",
}) {}

/** 500: the service failed. What happened is in its log, not in the answer. */
export class ServiceFailure extends HttpApiError.Problem<ServiceFailure>()("ServiceFailure", {
  type: "tag:prefstream,2026:service-failure",
  status: 500,
  title: "The service failed to answer.",
}) {}

/** 503: the service is starting or stopping; the `Retry-After` header says when to come back. */
export class ServiceUnavailable extends HttpApiError.Problem<ServiceUnavailable>()("ServiceUnavailable", {
  type: "tag:prefstream,2026:service-unavailable",
  status: 503,
  title: "The service is not ready.",
}) {}

/** 503: the service did not get to an answer in time. */
export class ServiceTooSlow extends HttpApiError.Problem<ServiceTooSlow>()("ServiceTooSlow", {
  type: "tag:prefstream,2026:service-too-slow",
  status: 503,
  title: "The service did not answer in time.",
}) {}

/**
 * Problems (RFC 9457) of the dashboard and the annotation page, besides those of the service's contract.
 *
 * Guarantees: each has a stable `type`, and a `detail` that is suitable for users.
 */
import { HttpApiError } from "effect/http-api"

/** 401: there is no session, or it has ended. */
export class NotSignedIn extends HttpApiError.Problem<NotSignedIn>()("NotSignedIn", {
  type: "tag:prefstream,2026:not-signed-in",
  status: 401,
  title: "Sign in first.",
}) {}

export class NotFound extends HttpApiError.Problem<NotFound>()("NotFound", {
  type: "tag:prefstream,2026:not-found",
  status: 404,
  title: "There is no such thing.",
}) {}

/** 409: something has changed since the page was loaded. */
export class Conflict extends HttpApiError.Problem<Conflict>()("Conflict", {
  type: "tag:prefstream,2026:conflict",
  status: 409,
  title: "This is no longer possible.",
}) {}

/** 429: too many sign-in attempts failed. The `Retry-After` header says how long to wait. */
export class TooManyAttempts extends HttpApiError.Problem<TooManyAttempts>()("TooManyAttempts", {
  type: "tag:prefstream,2026:too-many-attempts",
  status: 429,
  title: "Too many attempts.",
}) {}

/**
 * Problems (RFC 9457) of the dashboard and the annotation page, besides those of the service's contract.
 *
 * Guarantees: each has a stable `type`, and a `detail` that is suitable for users.
 */
import { Problem } from "../../api/Problem.ts"

/** 401: there is no session, or it has ended. */
export class NotSignedIn extends Problem<NotSignedIn>()("NotSignedIn", 401, "Sign in first.") {}

export class NotFound extends Problem<NotFound>()("NotFound", 404, "There is no such thing.") {}

/** 409: something has changed since the page was loaded. */
export class Conflict extends Problem<Conflict>()("Conflict", 409, "This is no longer possible.") {}

/** 429: too many sign-in attempts failed. The `Retry-After` header says how long to wait. */
export class TooManyAttempts extends Problem<TooManyAttempts>()("TooManyAttempts", 429, "Too many attempts.") {}

export const notFound = (detail: string) => new NotFound({ detail })
export const conflict = (detail: string) => new Conflict({ detail })

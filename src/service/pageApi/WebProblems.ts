/** Problems (RFC 9457) that only requests of the pages can get. `detail` can be shown to users. */
import { Schema } from "effect"
import { Problem } from "../../api/Problem.ts"

export class NotSignedIn extends Problem<NotSignedIn>()("NotSignedIn", 401, "Sign in first.") {}

export class NotFound extends Problem<NotFound>()("NotFound", 404, "Not found.") {}

/** The request is no longer possible, for example because somebody else has changed the data in the meantime. */
export class Conflict extends Problem<Conflict>()("Conflict", 409, "This is no longer possible.") {}

export class AnswerRequired extends Problem<AnswerRequired>()("AnswerRequired", 422, "An answer is missing.", {
  /** The name of the required field that is empty: `strength`, `edit`, `rationale`, or the name of an aspect. */
  member: Schema.String,
}) {}

export class TooManyAttempts extends Problem<TooManyAttempts>()("TooManyAttempts", 429, "Too many attempts.") {}

export const notFound = (detail: string) => new NotFound({ detail })
export const conflict = (detail: string) => new Conflict({ detail })

/** Declares an RFC 9457 problem with a `type` made from its name, such as `tag:prefstream,2026:task-not-found`. */
import { HttpApiError } from "effect/http-api"

/* oxlint-disable typescript/no-unnecessary-type-parameters -- they keep the literals in the type of the class */
export const Problem =
  <Self>() =>
  <
    const Name extends string,
    const Status extends number,
    const Fields extends HttpApiError.ProblemExtensionFields = {},
  >(
    name: Name,
    status: Status,
    title: string,
    fields?: Fields,
  ) => {
    const type = `tag:prefstream,2026:${name.replace(/\B[A-Z]/g, "-$&").toLowerCase()}` as const
    return HttpApiError.Problem<Self>()(name, { type, status, title }, fields)
  }

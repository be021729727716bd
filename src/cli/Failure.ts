/**
 * A failure in one line, for a person.
 *
 * Guarantees: never empty; a failure of the file system names the path and what was
 * the matter, in words.
 */
import { PlatformError, Predicate } from "effect"

const inWords: { readonly [tag: string]: string } = {
  AlreadyExists: "it exists already",
  BadResource: "it is not what was expected: a folder where a file should be, or the other way round",
  Busy: "it is in use",
  NotFound: "there is no such file or folder",
  PermissionDenied: "no permission",
}

export const messageOf = (failure: unknown): string => {
  if (failure instanceof PlatformError.PlatformError) {
    const { reason } = failure
    const words = inWords[reason._tag]
    const path = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
    return words === undefined || path === undefined ? failure.message : `${path}: ${words}`
  }
  if (!(failure instanceof Error)) return String(failure)
  if (failure.message.trim() !== "") return failure.message.trim().replace(/([.!?])\.$/, "$1")
  return failure.cause === undefined || !Predicate.isError(failure.cause) ? failure.name : messageOf(failure.cause)
}

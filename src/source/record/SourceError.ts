/**
 * Errors that end the reading of a source. Each message names the file or option, and what to do. Invalid records
 * are not errors, but `Reject`s in the stream.
 */
import { type PlatformError, Predicate, Schema } from "effect"

export class FileNotFound extends Schema.TaggedError<FileNotFound>()("FileNotFound", {
  /** The given name; a URL without user and query. */
  file: Schema.String,
}) {
  override get message(): string {
    return `${this.file}: there is no such file; check the path`
  }
}

export class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", {
  /** The given name; a URL without user and query. */
  file: Schema.String,
  problem: Schema.String,
  cause: Schema.optional(Schema.Defect()),
}) {
  override get message(): string {
    return `${this.file}: cannot be read: ${this.problem}`
  }
}

export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  /** The caller's name for it: `maxLineBytes`, or a flag such as `--max-row-group-bytes`. */
  option: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `${this.option}: ${this.problem}`
  }
}

export class LayoutUnknown extends Schema.TaggedError<LayoutUnknown>()("LayoutUnknown", {
  file: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `${this.file}: ${this.problem}`
  }
}

export class ScratchFailed extends Schema.TaggedError<ScratchFailed>()("ScratchFailed", {
  problem: Schema.String,
  cause: Schema.Defect(),
}) {
  override get message(): string {
    return `the scratch file of the join or group failed: ${this.problem}; it needs about as much disk space as the input, in the job folder (TMPDIR for commands that send nothing, scratchDirectory in a program)`
  }
}

/** Ends the reading of a source. `reason` is one of the errors above. */
export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  /** Callers decide on its `_tag`. */
  reason: Schema.Union([FileNotFound, FileUnreadable, InvalidOption, LayoutUnknown, ScratchFailed]),
}) {
  override get message(): string {
    return this.reason.message
  }
}

export const invalidOption = (option: string, problem: string): SourceError =>
  new SourceError({ reason: new InvalidOption({ option, problem }) })

export const unreadable = (file: string, problem: string, cause?: unknown): SourceError =>
  new SourceError({ reason: new FileUnreadable({ file, problem, ...(cause === undefined ? undefined : { cause }) }) })

export const fromPlatformError = (file: string, error: PlatformError.PlatformError): SourceError =>
  new SourceError({
    reason:
      error.reason._tag === "NotFound"
        ? new FileNotFound({ file })
        : new FileUnreadable({
            file,
            problem: isLoop(error.reason)
              ? "the symbolic links form a circle; check the path"
              : (problems[error.reason._tag] ?? error.message),
            cause: error,
          }),
  })

const isLoop = ({ cause }: PlatformError.PlatformError["reason"]): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "ELOOP"

const problems: Partial<Record<PlatformError.PlatformError["reason"]["_tag"], string>> = {
  PermissionDenied: "no permission to read it; check the file's permissions",
}

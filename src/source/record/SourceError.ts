/** Errors that end the reading of a source, unlike rejects. */
import * as OptionText from "../../io/OptionText.ts"
import { type PlatformError, Predicate, Schema } from "effect"

/** The file does not exist. */
export class FileNotFound extends Schema.TaggedError<FileNotFound>()("FileNotFound", {
  /** The name that the caller passed, without the user and the query of a URL. */
  file: Schema.String,
}) {
  override get message(): string {
    return `${this.file}: there is no such file; check the path`
  }
}

/** The file cannot be opened, read, or decoded. */
export class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", {
  /** The name that the caller passed, without the user and the query of a URL. */
  file: Schema.String,
  /** The problem and what to do about it. */
  problem: Schema.String,
  /** The underlying error. */
  cause: Schema.optional(Schema.Defect()),
}) {
  override get message(): string {
    return `${this.file}: cannot be read: ${this.problem}`
  }
}

/** An option's value cannot be used. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  /** The name of the option, such as `maxLineBytes`. */
  option: Schema.String,
  /** The problem and what to do about it. */
  problem: Schema.String,
}) {
  override get message(): string {
    return `${OptionText.of(this.option)}: ${this.problem}`
  }
}

/** The layout of the records could not be detected. */
export class LayoutUnknown extends Schema.TaggedError<LayoutUnknown>()("LayoutUnknown", {
  /** The file with the first records. */
  file: Schema.String,
  /** The problem and what to do about it. */
  problem: Schema.String,
}) {
  override get message(): string {
    return `${this.file}: ${this.problem}`
  }
}

/** The scratch file for joining or grouping records failed. */
export class ScratchFailed extends Schema.TaggedError<ScratchFailed>()("ScratchFailed", {
  /** The problem and what to do about it. */
  problem: Schema.String,
  /** The underlying error. */
  cause: Schema.Defect(),
}) {
  override get message(): string {
    return `the scratch file for joining or grouping records failed: ${this.problem}. The scratch file needs about as much disk space as the input. Commands that send tasks write it to the job folder, and other commands to TMPDIR. In a program, the option \`scratchDirectory\` sets its folder`
  }
}

/** Ends the reading of a source. */
export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  /** Callers can distinguish the errors by `_tag`. */
  reason: Schema.Union([FileNotFound, FileUnreadable, InvalidOption, LayoutUnknown, ScratchFailed]),
}) {
  override get message(): string {
    return this.reason.message
  }
}

export const invalidOption = (option: string, problem: string): SourceError =>
  new SourceError({ reason: new InvalidOption({ option, problem }) })

export const fileNotFound = (file: string): SourceError => new SourceError({ reason: new FileNotFound({ file }) })

export const layoutUnknown = (file: string, problem: string): SourceError =>
  new SourceError({ reason: new LayoutUnknown({ file, problem }) })

export const unreadable = (file: string, problem: string, cause?: unknown): SourceError =>
  new SourceError({ reason: new FileUnreadable({ file, problem, ...(cause === undefined ? undefined : { cause }) }) })

export const fromPlatformError = (file: string, error: PlatformError.PlatformError): SourceError => {
  const { _tag, cause } = error.reason
  if (_tag === "NotFound") return fileNotFound(file)
  const isLoop = Predicate.hasProperty(cause, "code") && cause.code === "ELOOP"
  const problem = isLoop
    ? "the symbolic links form a loop; check the path"
    : _tag === "PermissionDenied"
      ? "no permission to read it; check the file's permissions"
      : error.message
  return unreadable(file, problem, error)
}

/** Each message names the path or the option, and the problem. If `write` fails, an existing dataset is unchanged. */
import { Effect, type PlatformError, Predicate, Schema } from "effect"
import { causeMessage } from "../../io/Values.ts"

/** prefstream refuses to replace the directory, which stays unchanged. */
export class DirectoryNotReplaceable extends Schema.TaggedError<DirectoryNotReplaceable>()("DirectoryNotReplaceable", {
  /** The directory's absolute path, with symbolic links resolved. */
  directory: Schema.String,
  /** The reason, on one line. */
  why: Schema.String,
}) {
  override get message() {
    return `${this.directory} cannot be replaced by a dataset: ${this.why}. Move the directory, or name one that is new, is empty, or contains an earlier dataset.`
  }
}

/** The disk is full or a quota is exhausted. */
export class NoSpace extends Schema.TaggedError<NoSpace>()("NoSpace", {
  /** The file or folder that was being written. */
  path: Schema.String,
}) {
  override get message() {
    return `No space is left to write ${this.path}. Free some space (the old dataset is kept until the new one is complete), or choose a directory on another disk.`
  }
}

/** A file or folder is not writable. */
export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", {
  /** The file or folder that could not be written. */
  path: Schema.String,
}) {
  override get message() {
    return `No permission to write ${this.path}. Its parent directory must be writable, too.`
  }
}

/** The file system failed for a reason other than space or permission. */
export class FileSystemFailure extends Schema.TaggedError<FileSystemFailure>()("FileSystemFailure", {
  /** The file or folder that was being written. */
  path: Schema.String,
  /** The system's error with its code, such as `EIO`. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return `${this.path} could not be written: ${Predicate.isError(this.cause) ? this.cause.message : String(this.cause)}. Check the disk, then export again.`
  }
}

/** A pair, a row of a custom format, or an option of `write` is invalid. */
export class OptionInvalid extends Schema.TaggedError<OptionInvalid>()("OptionInvalid", {
  /** The option's name, or the path of a value in a pair or row: `pairs[0].chosen`, `formats.NAME.rows[0].text`. */
  option: Schema.String,
  /** A description of the allowed values. */
  expected: Schema.String,
  /** The value that was given, as text. */
  found: Schema.String,
}) {
  override get message() {
    return `The dataset cannot be written: ${this.option}: expected ${this.expected}, found ${this.found}.`
  }
}

/** A function of a custom trainer format threw an exception. */
export class FormatFailed extends Schema.TaggedError<FormatFailed>()("FormatFailed", {
  /** The name of the trainer format. */
  format: Schema.String,
  /** The item whose pair was encoded. Null if the format failed at the end of the file. */
  itemId: Schema.NullOr(Schema.String),
  /** The exception. */
  cause: Schema.Defect(),
}) {
  override get message() {
    const place = this.itemId === null ? "at the end of the file" : `for item ${JSON.stringify(this.itemId)}`
    return `The dataset cannot be written: the trainer format ${this.format} failed ${place}: ${causeMessage(this.cause)}`
  }
}

/** There is no pair to write. */
export class NoPairs extends Schema.TaggedError<NoPairs>()("NoPairs", {
  /** The directory as the caller wrote it. */
  directory: Schema.String,
}) {
  override get message() {
    return `There are no pairs, so no dataset was written to ${this.directory}; an existing dataset there is kept. Check how many tasks have results, or set \`allowEmpty\` to write a dataset without rows.`
  }
}

/** Writing a dataset failed; `reason` is one of the errors above. */
export class DatasetError extends Schema.TaggedError<DatasetError>()("DatasetError", {
  /** The error; use its `_tag` to decide what to do. */
  reason: Schema.Union([
    DirectoryNotReplaceable,
    NoPairs,
    NoSpace,
    PermissionDenied,
    FileSystemFailure,
    OptionInvalid,
    FormatFailed,
  ]),
}) {
  override get message() {
    return this.reason.message
  }
}

/** A dataset cannot be read: its manifest is missing or invalid, a requested split is missing, or a file is damaged. */
export class DatasetUnreadable extends Schema.TaggedError<DatasetUnreadable>()("DatasetUnreadable", {
  /** The path of the file. */
  file: Schema.String,
  /** The row's number in the file, from 1. Absent if the problem concerns the whole file. */
  row: Schema.optionalKey(Schema.Int),
  /** A description of the expected content. */
  expected: Schema.String,
  /** The actual content. */
  found: Schema.String,
}) {
  override get message() {
    const row = this.row === undefined ? "" : `, row ${this.row}`
    return `${this.file}${row}: expected ${this.expected}, found ${this.found}`
  }
}

export const about =
  (path: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>): Effect.Effect<A, DatasetError, R> =>
    Effect.mapError(effect, (error) => errorAbout(path, error))

export const errorAbout = (path: string, error: PlatformError.PlatformError) =>
  new DatasetError({
    // A `FileSystem` other than Node's may not provide a system error code.
    reason:
      error.reason._tag === "PermissionDenied"
        ? new PermissionDenied({ path })
        : reasonOf(path, error.reason.cause ?? error),
  })

export const reasonOf = (path: string, cause: unknown) => {
  const code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
  if (code === "ENOSPC" || code === "EDQUOT") return new NoSpace({ path })
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return new PermissionDenied({ path })
  return new FileSystemFailure({ path, cause })
}

/**
 * A failure in one line, for a person.
 *
 * Guarantees: never empty; a failure of the file system or of a database names the path and
 * what was the matter, in words, and what to do where something can be done. What it was is
 * told by the system's code, never by a message's text.
 */
import { Option, PlatformError, Predicate, Schema } from "effect"
import { SqlError } from "effect/sql"
import { FileSystemFailure } from "../../dataset/file/DatasetError.ts"
import { FileLockError, LockUnavailable } from "../../node/FileLock.ts"
import { BackupFailed } from "../../task/ledger/LedgerMaintenance.ts"

const again = "then the same command goes on from here"

const diskFull = `the disk is full: make space, ${again}`
const notWritable = "it can't be used: this user needs write permission for it and for its folder, also to read it"

/** What the operating system says. */
const systemWords: { readonly [code: string]: string } = {
  ENOSPC: diskFull,
  EDQUOT: `the disk quota is used up: make space, ${again}`,
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "no permission",
  EIO: "the disk could not be read or written: see the system's log",
  EMFILE: "too many files are open: raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this machine",
}

const platformWords: { readonly [tag: string]: string } = {
  AlreadyExists: "it exists already",
  BadResource: "it is not what was expected: a folder where a file should be, or the other way round",
  Busy: "it is in use",
  NotFound: "there is no such file or folder",
  PermissionDenied: "no permission",
}

/** SQLite's result codes, extended ones first. */
const sqliteWords: { readonly [code: number]: string } = {
  [8 | (4 << 8)]: `it was moved or removed while it was in use: put it back, ${again}`,
  [10 | (18 << 8)]: diskFull, // SHMOPEN
  [10 | (19 << 8)]: diskFull, // SHMSIZE
  5: `another program has locked it: wait until that is done, ${again}`,
  6: `another program has locked it: wait until that is done, ${again}`,
  8: notWritable,
  10: `it could not be read or written: see whether the disk is full or defective, ${again}`,
  11: "it is damaged: see what `prefstream ledger check` finds, and go on from a backup; what was submitted since then is sent again, and paid for again where the service ignores Idempotency-Key",
  13: diskFull,
  14: "it can't be opened: it must be a file, its folder must be there, and this user needs write permission for both, also to read it",
  26: "it is not a ledger, or damaged from its first page on: name another file, or go on from a backup",
}

/** PostgreSQL's error codes. */
const postgresWords: { readonly [code: string]: string } = {
  "25006": "name the primary server: this one only reads",
  "28000": "see the user's name, and what the server's pg_hba.conf allows",
  "28P01": "set the password in PGPASSWORD",
  "3D000": "create the database, or name another one",
  "42501": "the user needs the right to create and change tables in its schema",
  "53100": `make space on the database server, ${again}`,
  "53300": `wait for a free connection, or raise the server's max_connections, ${again}`,
  "57P01": "the same command goes on from here, once the server is back",
  "57P02": "the same command goes on from here, once the server is back",
  "57P03": "try again when the server is ready",
}

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))
const isSqliteFailure = Schema.is(Schema.Struct({ errcode: Schema.Number }))
const hasPath = Schema.is(Schema.Struct({ path: Schema.String }))

/** What a system error is, in words, with the place that it is about. */
const inWords = (cause: unknown, path: string | undefined): Option.Option<string> => {
  const words = isSqliteFailure(cause)
    ? (sqliteWords[cause.errcode] ?? sqliteWords[cause.errcode & 0xff])
    : hasCode(cause)
      ? systemWords[cause.code]
      : undefined
  return Option.map(Option.fromUndefinedOr(words), (words) => (path === undefined ? words : `${path}: ${words}`))
}

const isFileLockError = Schema.is(FileLockError)
const isAboutPath = Schema.is(Schema.Union([LockUnavailable, BackupFailed, FileSystemFailure]))

const sqlMessage = (failure: SqlError.SqlError): string => {
  const { cause } = failure.reason
  const path = hasPath(cause) ? cause.path : undefined
  return Option.getOrElse(inWords(isSqliteFailure(cause) ? cause : undefined, path), () => {
    const advice = hasCode(cause) ? postgresWords[cause.code] : undefined
    if (advice !== undefined) return `${failure.message}: ${advice}`
    // The server asked for a password, and none was there to be sent.
    if (failure.reason._tag === "AuthenticationError") return `${failure.message}: ${postgresWords["28P01"]}`
    return failure.reason._tag === "ConnectionError"
      ? `${failure.message}: the database server must be reachable, ${again}`
      : failure.message
  })
}

const isFileForFolder = Schema.is(
  Schema.Struct({ _tag: Schema.Literal("AlreadyExists"), method: Schema.Literal("makeDirectory") }),
)

const platformMessage = (failure: PlatformError.PlatformError): string => {
  const { reason } = failure
  const given = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
  // A number means nothing to a person.
  const path = typeof given === "string" ? given : undefined
  return Option.getOrElse(inWords(reason.cause, path), () => {
    const words = isFileForFolder(reason) ? "it is a file, and a folder is to be there" : platformWords[reason._tag]
    return words === undefined || path === undefined ? failure.message : `${path}: ${words}`
  })
}

export const messageOf = (failure: unknown): string => {
  if (failure instanceof PlatformError.PlatformError) return platformMessage(failure)
  if (SqlError.isSqlError(failure)) return sqlMessage(failure)
  const failed = isFileLockError(failure) ? failure.reason : failure
  if (isAboutPath(failed)) {
    const { cause, path } = failed
    return Option.getOrElse(inWords(cause, path), () => failed.message)
  }
  if (!(failure instanceof Error)) return String(failure)
  if (failure.message.trim() !== "") return failure.message.trim().replace(/([.!?])\.$/, "$1")
  return failure.cause === undefined || !Predicate.isError(failure.cause) ? failure.name : messageOf(failure.cause)
}

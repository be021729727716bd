/**
 * A failure in one line, for a person.
 *
 * Guarantees: never empty; a failure of the file system or of a database names the path and
 * what was the matter, in words, and what to do where something can be done. What it was is
 * told by the system's code, never by a message's text.
 */
import { Option, PlatformError, Predicate, Schema } from "effect"
import { SqlError } from "effect/sql"
import { FileLockError } from "../node/FileLock.ts"

const again = "then the same command goes on from here"

const diskFull = `the disk is full: make space, ${again}`
const notWritable = "it can't be written: this user needs write permission for it and for its folder"

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
  11: "it is damaged: `prefstream ledger check` says where; go on from a backup, which the service's tasks then catch up with",
  13: diskFull,
  14: "it can't be opened: its folder must be there, and this user needs write permission for both",
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

const sqlMessage = (failure: SqlError.SqlError): string => {
  const { cause } = failure.reason
  const path = hasPath(cause) ? cause.path : undefined
  return Option.getOrElse(inWords(isSqliteFailure(cause) ? cause : undefined, path), () => {
    const advice = hasCode(cause) ? postgresWords[cause.code] : undefined
    if (advice !== undefined) return `${failure.message}: ${advice}`
    return failure.reason._tag === "ConnectionError"
      ? `${failure.message}: the database server must be reachable, ${again}`
      : failure.message
  })
}

const platformMessage = (failure: PlatformError.PlatformError): string => {
  const { reason } = failure
  const path =
    "pathOrDescriptor" in reason && reason.pathOrDescriptor !== undefined ? String(reason.pathOrDescriptor) : undefined
  return Option.getOrElse(inWords(reason.cause, path), () => {
    const words = platformWords[reason._tag]
    return words === undefined || path === undefined ? failure.message : `${path}: ${words}`
  })
}

export const messageOf = (failure: unknown): string => {
  if (failure instanceof PlatformError.PlatformError) return platformMessage(failure)
  if (SqlError.isSqlError(failure)) return sqlMessage(failure)
  if (failure instanceof FileLockError && failure.reason._tag === "LockUnavailable") {
    const { cause, path } = failure.reason
    return Option.getOrElse(inWords(cause, path), () => failure.message)
  }
  if (!(failure instanceof Error)) return String(failure)
  if (failure.message.trim() !== "") return failure.message.trim().replace(/([.!?])\.$/, "$1")
  return failure.cause === undefined || !Predicate.isError(failure.cause) ? failure.name : messageOf(failure.cause)
}

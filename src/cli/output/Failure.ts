/** Describes a failure in one line. Problems are identified by the system's error code, never by a message's text. */
import { Config, Option, PlatformError, Predicate, Schema } from "effect"
import { SqlError } from "effect/sql"
import { FileSystemFailure } from "../../dataset/file/DatasetError.ts"
import { problems } from "../../io/SchemaIssues.ts"
import { FileLockError, LockUnavailable } from "../../node/FileLock.ts"
import { ScratchFileFailed } from "../../node/ScratchFile.ts"
import { BackupFailed } from "../../task/ledger/care/LedgerMaintenance.ts"

const again = "then run the same command again"

const diskFull = `the disk is full: free some space, ${again}`

const needsPermission =
  "user account needs permission to write to the file and to the folder, even for commands that only read"

const systemWords: { readonly [code: string]: string } = {
  ENOSPC: diskFull,
  EDQUOT: `the disk quota is used up: free some space, ${again}`,
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "no permission",
  EIO: "disk error: check the system log",
  EMFILE: "too many files are open: raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this machine",
}

const platformWords: { readonly [tag: string]: string } = {
  AlreadyExists: "already exists",
  BadResource: "found a folder instead of a file, or a file instead of a folder",
  Busy: "is in use by another process",
  NotFound: "there is no such file or folder",
  PermissionDenied: "no permission",
}

const sqliteWords: { readonly [code: number]: string } = {
  [8 | (4 << 8)]: `the file was moved or removed while in use: put the file back, ${again}`,
  [10 | (18 << 8)]: diskFull, // SHMOPEN
  [10 | (19 << 8)]: diskFull, // SHMSIZE
  5: `another program has locked the file: wait until that program ends, ${again}`,
  6: `another program has locked the file: wait until that program ends, ${again}`,
  8: `no write permission: your ${needsPermission}`,
  10: `the file could not be read or written: check whether the disk is full or defective, ${again}`,
  11: "the file is damaged: run `prefstream ledger check`, and restore a backup. The backup lacks all tasks that were submitted after it was made, and the next run sends these tasks again. If the service ignores Idempotency-Key, these tasks are billed twice",
  13: diskFull,
  14: `cannot open the file: choose a path in an existing folder. Your ${needsPermission}`,
  26: "not a ledger, or a ledger with a damaged first page: name another file, or restore a backup",
}

const postgresWords: { readonly [code: string]: string } = {
  "08P01":
    "a pooler such as PgBouncer refused the connection: connect directly to PostgreSQL, or change the pooler's settings. If `options` in the URL sets the schema, remove `options`, and set the schema with ALTER ROLE ... SET search_path",
  "25006": "this server is read-only: use the address of the primary server",
  "28000": "check the user name and the server's pg_hba.conf",
  "28P01": "set the password in PGPASSWORD",
  "3D000": "create the database, or name another one",
  "42501": "grant the user permission to create and change tables in the schema",
  "53100": `free some space on the database server, ${again}`,
  "53300": `wait for a free connection, or raise the server's max_connections, ${again}`,
  "57P01": "run the same command again once the server is back",
  "57P02": "run the same command again once the server is back",
  "57P03": "run the same command again once the server is ready",
}

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))
const isSqliteFailure = Schema.is(Schema.Struct({ errcode: Schema.Number }))
const hasPath = Schema.is(Schema.Struct({ path: Schema.String }))

const describe = (cause: unknown, path: string | undefined): Option.Option<string> => {
  const words = isSqliteFailure(cause)
    ? (sqliteWords[cause.errcode] ?? sqliteWords[cause.errcode & 0xff])
    : hasCode(cause)
      ? systemWords[cause.code]
      : undefined
  return Option.map(Option.fromUndefinedOr(words), (words) => (path === undefined ? words : `${path}: ${words}`))
}

const isFileLockError = Schema.is(FileLockError)
const isAboutPath = Schema.is(Schema.Union([LockUnavailable, BackupFailed, FileSystemFailure, ScratchFileFailed]))

const sqlMessage = (failure: SqlError.SqlError): string => {
  const { cause } = failure.reason
  const path = hasPath(cause) ? cause.path : undefined
  return Option.getOrElse(describe(isSqliteFailure(cause) ? cause : undefined, path), () => {
    const advice = hasCode(cause) ? postgresWords[cause.code] : undefined
    if (advice !== undefined) return `${failure.message}: ${advice}`
    if (failure.reason._tag === "AuthenticationError") return `${failure.message}: ${postgresWords["28P01"]}`
    return failure.reason._tag === "ConnectionError"
      ? `${failure.message}: check that the database server can be reached, ${again}`
      : failure.message
  })
}

const isPortInUse = Schema.is(
  Schema.Struct({ code: Schema.Literal("EADDRINUSE"), address: Schema.String, port: Schema.Number }),
)

const isFileForFolder = Schema.is(
  Schema.Struct({ _tag: Schema.Literal("AlreadyExists"), method: Schema.Literal("makeDirectory") }),
)

const platformMessage = (failure: PlatformError.PlatformError): string => {
  const { reason } = failure
  const pathOrDescriptor = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
  const path = typeof pathOrDescriptor === "string" ? pathOrDescriptor : undefined
  return Option.getOrElse(describe(reason.cause, path), () => {
    const words = isFileForFolder(reason) ? "expected a folder, found a file" : platformWords[reason._tag]
    return words === undefined || path === undefined ? failure.message : `${path}: ${words}`
  })
}

export const isBusy = (failure: unknown): boolean => isFileLockError(failure) && failure.reason._tag === "FileLocked"

export const messageOf = (failure: unknown): string => {
  if (failure instanceof PlatformError.PlatformError) return platformMessage(failure)
  if (SqlError.isSqlError(failure)) return sqlMessage(failure)
  if (failure instanceof Config.ConfigError && Schema.isSchemaError(failure.cause)) {
    const [problem] = problems(failure.cause.issue)
    if (problem !== undefined) return `${problem.path.join("_")}: ${problem.message}; set it in the environment`
  }
  const failed = isFileLockError(failure) ? failure.reason : failure
  if (isAboutPath(failed)) {
    const { cause, path } = failed
    return Option.getOrElse(describe(cause, path), () => failed.message)
  }
  if (!(failure instanceof Error)) return String(failure)
  if (isPortInUse(failure.cause)) {
    const { address, port } = failure.cause
    return `${address}:${port} is in use by another program: choose another port (serve --port, --listen, or --monitor)`
  }
  if (failure.message.trim() !== "") return failure.message.trim().replace(/([.!?])\.$/, "$1")
  return failure.cause === undefined || !Predicate.isError(failure.cause) ? failure.name : messageOf(failure.cause)
}

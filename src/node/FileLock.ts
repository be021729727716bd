/**
 * Adapter: lets only one process use a file. The lock is an exclusive `node:sqlite` transaction on `FILE.lock`, which
 * ends at the latest when the process ends. Never delete `FILE.lock`: a second process could then lock a new
 * `FILE.lock`. A network file system must support locks.
 */
import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { DatabaseSync } from "node:sqlite"
import { DateTime, Effect, Option, Predicate, Schema, type Scope } from "effect"
import * as PrivateFile from "./PrivateFile.ts"

export const LockHolder = Schema.Struct({
  pid: Schema.Int,
  host: Schema.String,
  /** When the lock was taken: ISO 8601, UTC. */
  since: Schema.String,
  /** Set if the process shares the job with other workers. */
  worker: Schema.optionalKey(Schema.Literal(true)),
})
export type LockHolder = typeof LockHolder.Type

/** Another process holds the lock. */
export class FileLocked extends Schema.TaggedError<FileLocked>()("FileLocked", {
  /** The locked file's path, or the URL of a ledger in PostgreSQL, without the password. */
  path: Schema.String,
  /** The process that holds the lock, if it is known. */
  holder: Schema.optionalKey(LockHolder),
}) {
  /** Always true, because the other process may release the lock. */
  get isRetryable() {
    return true
  }
  override get message() {
    const holder = this.holder
    return holder === undefined
      ? `${this.path} is in use by another process`
      : `${this.path} is in use by process ${holder.pid} on ${holder.host} since ${holder.since}`
  }
}

/** The lock file cannot be used. */
export class LockUnavailable extends Schema.TaggedError<LockUnavailable>()("LockUnavailable", {
  /** The file to lock. */
  path: Schema.String,
  /** The error of the system call. */
  cause: Schema.Defect(),
}) {
  /** Always false, because a retry would fail until the cause is removed. */
  get isRetryable() {
    return false
  }
  override get message() {
    return `cannot lock ${this.path}: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/** A file cannot be locked: another process holds the lock, or the lock file cannot be used. */
export class FileLockError extends Schema.TaggedError<FileLockError>()("FileLockError", {
  /** The error; its `_tag` names the case. */
  reason: Schema.Union([FileLocked, LockUnavailable]),
}) {
  override readonly cause = this.reason
  /** Whether a later attempt may succeed: true if another process holds the lock. */
  get isRetryable() {
    return this.reason.isRetryable
  }
  override get message() {
    return this.reason.message
  }
}

const readHolder = (file: string): Effect.Effect<Option.Option<LockHolder>> =>
  Effect.try(() => readFileSync(file, "utf8")).pipe(
    Effect.flatMap(Schema.decodeEffect(Schema.fromJsonString(LockHolder))),
    Effect.option,
  )

/** `acquire` waits up to this time, because `holder` in another process may lock the file for a moment. */
const maxWaitMillis = 500

const isBusy = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode) && (cause.errcode & 0xff) === 5

/** Holds the lock until the scope closes. Fails if the lock is not free within half a second. The folder must exist. */
export const acquire = Effect.fn("FileLock.acquire")(function* (
  path: string,
): Effect.fn.Return<void, FileLockError, Scope.Scope> {
  if (path === ":memory:") return
  const real = yield* Effect.try(() => realpathSync(path)).pipe(Effect.orElseSucceed(() => path))
  const holderFile = `${real}.lock.json`
  // Every user with access to the file must be able to lock it.
  const access = yield* Effect.try(() => statSync(real).mode & 0o666).pipe(Effect.orElseSucceed(() => PrivateFile.mode))

  const attempt = <A>(evaluate: () => A) =>
    Effect.try({
      try: evaluate,
      catch: (cause) =>
        new FileLockError({ reason: isBusy(cause) ? new FileLocked({ path }) : new LockUnavailable({ path, cause }) }),
    })
  const close = (db: DatabaseSync) => Effect.sync(() => db.close())

  yield* Effect.acquireRelease(
    attempt(() => {
      PrivateFile.create(`${real}.lock`, access)
      return new DatabaseSync(`${real}.lock`, { timeout: maxWaitMillis })
    }).pipe(
      Effect.tap((db) =>
        Effect.onError(
          attempt(() => db.exec("BEGIN EXCLUSIVE")),
          () => close(db),
        ),
      ),
    ),
    close,
  ).pipe(
    Effect.catchReason("FileLockError", "FileLocked", () =>
      Effect.flatMap(readHolder(holderFile), (holder) =>
        Effect.fail(
          new FileLockError({
            reason: new FileLocked({ path, ...(Option.isSome(holder) && { holder: holder.value }) }),
          }),
        ),
      ),
    ),
  )

  const holder: LockHolder = { pid: process.pid, host: hostname(), since: DateTime.formatIso(yield* DateTime.now) }
  yield* Effect.acquireRelease(
    attempt(() => writeFileSync(holderFile, `${JSON.stringify(holder)}\n`, { mode: access })),
    () => Effect.ignore(Effect.try(() => rmSync(holderFile, { force: true }))),
  )
})

const isAlive = (pid: number) =>
  Effect.try(() => process.kill(pid, 0)).pipe(
    Effect.as(true),
    Effect.catch(({ cause }) => Effect.succeed(!(Predicate.hasProperty(cause, "code") && cause.code === "ESRCH"))),
  )

export const holder = Effect.fn("FileLock.holder")(function* (
  path: string,
): Effect.fn.Return<Option.Option<LockHolder | "unknown">> {
  const real = yield* Effect.try(() => realpathSync(path)).pipe(Effect.orElseSucceed(() => path))
  const file = `${real}.lock.json`
  const named = yield* Effect.try(() => statSync(file)).pipe(Effect.option)
  if (Option.isNone(named)) return Option.none()
  const owner = yield* readHolder(file)
  if (Option.isSome(owner) && owner.value.host === hostname() && !(yield* isAlive(owner.value.pid)))
    return Option.none()
  const isHeld = yield* Effect.acquireUseRelease(
    Effect.try(() => new DatabaseSync(`${real}.lock`, { readOnly: true })),
    (db) => Effect.try(() => void db.prepare("SELECT * FROM sqlite_schema").all()),
    (db) => Effect.sync(() => db.close()),
  ).pipe(
    Effect.as(false),
    Effect.catch(({ cause }) => Effect.succeed(isBusy(cause))),
  )
  return isHeld ? Option.some(Option.getOrElse(owner, () => "unknown" as const)) : Option.none()
})

/** The location of a ledger: an SQLite file or a PostgreSQL database, and a job. `describe` omits the password. */
import { Config, Effect, FileSystem, Layer, Option, Predicate, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as FileLock from "../../node/FileLock.ts"
import * as PostgresClient from "../../node/PostgresClient.ts"
import * as PostgresLock from "../../node/PostgresLock.ts"
import * as PostgresUrl from "../../node/PostgresUrl.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import { defaultJob, Ledger, LedgerReader, type LedgerSharer } from "./Ledger.ts"
import * as Jobs from "./schema/Jobs.ts"
import { checkVersion, exists } from "./schema/Tables.ts"

export interface PostgresLocation {
  readonly _tag: "Postgres"
  /** `postgres://user@host/database`, perhaps with a password. */
  readonly url: Redacted.Redacted<string>
  readonly job: string
}

/** A ledger in an SQLite file or in PostgreSQL, and the job to use. */
export type LedgerLocation = { readonly _tag: "File"; readonly path: string; readonly job: string } | PostgresLocation

export interface LedgerSettings {
  /** A URL `postgres://…`, or a file path. Default: `ledger.db` in the job folder. */
  readonly ledger?: string | Redacted.Redacted<string> | LedgerLocation | undefined
  /** Name of the job, since several jobs may share a database. Default: `default`. */
  readonly job?: string | undefined
}

/** The path, URL, or job of a ledger is invalid. */
export class LedgerLocationError extends Schema.TaggedError<LedgerLocationError>()("LedgerLocationError", {
  /** The error and the expected value. The message never contains the password of a URL. */
  message: Schema.String,
}) {}

/** The location has no ledger. */
export class LedgerMissing extends Schema.TaggedError<LedgerMissing>()("LedgerMissing", {
  /** The file, or the URL without its password. */
  location: Schema.String,
  /** The requested job. */
  job: Schema.String,
  /** The jobs at the location. */
  jobs: Schema.Array(Schema.String),
  /** The content of the location: nothing, an empty file, incomplete tables, or other jobs. */
  found: Schema.Literals(["nothing", "empty file", "incomplete tables", "other jobs"]),
}) {
  override get message() {
    switch (this.found) {
      case "nothing":
        return `there is no ledger at ${this.location}`
      case "empty file":
        return `the ledger at ${this.location} is an empty file`
      case "incomplete tables":
        return `the ledger at ${this.location} is missing some of its tables`
      case "other jobs":
        return `the ledger at ${this.location} has no job ${this.job}; its jobs are ${this.jobs.join(", ")}`
    }
  }
}

const isPostgres = (text: string) => /^postgres(ql)?:/i.test(text)

export const of = Effect.fnUntraced(function* ({
  file,
  ledger: location = file,
  job = defaultJob,
}: LedgerSettings & { readonly file: string }): Effect.fn.Return<LedgerLocation, LedgerLocationError> {
  if (Predicate.hasProperty(location, "_tag")) return location
  const text = Redacted.isRedacted(location) ? Redacted.value(location) : location
  const refuse = (message: string) => new LedgerLocationError({ message })
  if (!/^[\w.-]{1,100}$/.test(job)) {
    return yield* refuse("a job name must have 1 to 100 letters, digits, dots, underscores, or hyphens")
  }
  if (isPostgres(text)) {
    if (URL.canParse(text)) {
      const problem = PostgresUrl.findProblem(new URL(text))
      if (Option.isSome(problem)) return yield* refuse(`the ledger's URL cannot be used: ${problem.value}`)
      return { _tag: "Postgres", url: Redacted.make(text), job }
    }
    return yield* refuse(
      "the ledger's URL is invalid: expected postgres://user@host/database; in a password, write @ : / as %40 %3A %2F",
    )
  }
  const [scheme] = /^[a-z][a-z0-9+.-]+:\/\//i.exec(text) ?? []
  if (scheme !== undefined)
    return yield* refuse(`ledger URLs with ${scheme} are not supported: expected a postgres:// URL or a file path`)
  if (text.trim() === "")
    return yield* refuse("the ledger's location is empty: expected a postgres:// URL or a file path")
  return { _tag: "File", path: text, job }
})

export const describe = (location: LedgerLocation): string => {
  const place = location._tag === "File" ? location.path : PostgresUrl.redact(location.url)
  return location.job === defaultJob ? place : `${place} (job ${location.job})`
}

/** The password for URLs that have none. It is read from `PGPASSWORD`, which PostgreSQL's own programs also read. */
export const password = Effect.map(Config.option(Config.Redacted("PGPASSWORD")), Option.getOrUndefined)

export const layer = (location: LedgerLocation) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { job } = location
      return location._tag === "File"
        ? Ledger.layerFile(location.path, { job })
        : Ledger.layerPostgres({ job, url: location.url, password: yield* password })
    }),
  )

const layerShared = ({ job, url }: PostgresLocation, shared: LedgerSharer, parts?: number) =>
  Layer.unwrap(Effect.map(password, (password) => Ledger.layerPostgres({ job, url, parts, password, shared })))

/** Opens the ledger for a worker. Creates the job if it is missing. `parts` is the number of parts of a new job. */
export const layerWorker = (location: PostgresLocation, name: string, parts?: number) =>
  layerShared(location, { by: "worker", name }, parts)

/** Opens the ledger for exclusive use. If workers use it, opens it shared. Creates the ledger if it is missing. */
export const layerAlongsideWorkers = (location: LedgerLocation) =>
  Layer.catchTag(layer(location), "FileLockError", (failure) =>
    location._tag === "Postgres"
      ? layerShared(location, { by: "command", name: "" })
      : Layer.effectContext(Effect.fail(failure)),
  )

const requireFile = Effect.fnUntraced(function* (location: Extract<LedgerLocation, { readonly _tag: "File" }>) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(location.path))) return yield* missing(location)
  const { size, type } = yield* fs.stat(location.path)
  if (type === "Directory") {
    return yield* new LedgerLocationError({
      message: `${location.path} is a folder: name the ledger file in the folder`,
    })
  }
  // An empty file: the process that creates it has not written to it yet, or was killed before its first write.
  if (type === "File" && size === 0n) return yield* missing(location, "empty file")
})

/** Connects to a ledger for reading, without a check whether the database has the job. */
export const readonlyClient = Effect.fnUntraced(function* (location: LedgerLocation) {
  if (location._tag === "Postgres") {
    return PostgresClient.layer({ url: location.url, password: yield* password, readonly: true })
  }
  yield* requireFile(location)
  return SqliteClient.layer({ filename: location.path, readonly: true })
}, Layer.unwrap)

const lockedClient = Effect.fnUntraced(function* (location: LedgerLocation) {
  if (location._tag === "Postgres") {
    return PostgresClient.layer({ url: location.url, password: yield* password, lock: location.job })
  }
  // A misspelled path must fail before the lock creates files there.
  yield* requireFile(location)
  return SqliteClient.layer({ filename: location.path }).pipe(
    Layer.provide(Layer.effectDiscard(FileLock.acquire(location.path))),
  )
}, Layer.unwrap)

const missing = (
  location: LedgerLocation,
  content: LedgerMissing["found"] = "nothing",
  jobs: ReadonlyArray<string> = [],
) =>
  new LedgerMissing({ location: describe({ ...location, job: defaultJob }), job: location.job, jobs, found: content })

const requireJob = Effect.fnUntraced(function* (location: LedgerLocation) {
  if (!(yield* exists)) return yield* missing(location)
  if ((yield* checkVersion).found === 0) return yield* missing(location, "incomplete tables")
  const jobs = yield* Jobs.names
  if (jobs.length > 0 && !jobs.includes(location.job)) return yield* missing(location, "other jobs", jobs)
})

const holding =
  (location: LedgerLocation) =>
  <E, R>(client: Layer.Layer<SqlClient.SqlClient, E, R>) =>
    Layer.effectDiscard(requireJob(location)).pipe(Layer.provideMerge(client))

/** Connects to a ledger for reading, even while a process runs the job. Fails if the ledger is missing. */
export const existingClient = (location: LedgerLocation) => readonlyClient(location).pipe(holding(location))

export const workingClient = (location: LedgerLocation) => lockedClient(location).pipe(holding(location))

export const layerReadonly = (location: LedgerLocation) =>
  LedgerReader.layer({ job: location.job }).pipe(Layer.provide(existingClient(location)))

export const recordOf = Effect.fn("LedgerLocation.recordOf")((location: LedgerLocation) =>
  Jobs.recordOf(location.job).pipe(
    Effect.provide(existingClient(location)),
    Effect.catchTag("LedgerMissing", () => Effect.succeed("nothing" as const)),
  ),
)

export const holder = Effect.fn("LedgerLocation.holder")(function* (location: LedgerLocation) {
  if (location._tag === "File") return yield* FileLock.holder(location.path)
  return yield* Effect.flatMap(SqlClient.SqlClient, (sql) => PostgresLock.holder(sql, location.job)).pipe(
    Effect.provide(readonlyClient(location)),
  )
})

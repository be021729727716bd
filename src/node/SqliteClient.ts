/**
 * Adapter: an Effect `SqlClient` over `node:sqlite`. All statements run on the main thread. A connection runs one
 * statement, stream, or transaction at a time. `reserve` opens an additional connection. A parameter that is NaN or an
 * object is refused, because SQLite or Node would change the value silently. Reading an integer beyond 2^53 fails,
 * unless `SqlClient.SafeIntegers` is set.
 */
import { accessSync, constants } from "node:fs"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { Array, Cache, Cause, Duration, Effect, Exit, Layer, type Scope, Semaphore, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import * as PrivateFile from "./PrivateFile.ts"
import * as SqliteSync from "./SqliteSync.ts"

export interface SqliteClientConfig {
  readonly filename: string
  readonly readonly?: boolean | undefined
  /** Durability of a commit: `full` survives a loss of power; `normal` may lose the last commits. Default `full`. */
  readonly synchronous?: "full" | "normal" | "off" | undefined
  /** Whether a `full` commit waits for the disk without blocking the main thread (`SqliteSync`). Default false. */
  readonly syncInBackground?: boolean | undefined
  /** Time that a statement waits for another process's lock before it fails. Default 5 seconds. */
  readonly busyTimeout?: Duration.Input | undefined
  /** Size of the page cache in bytes. Default: SQLite's own, 2 MB. */
  readonly cacheBytes?: number | undefined
  /** Size in bytes at which the write-ahead log is copied into the database. Default: SQLite's own, 1,000 pages. */
  readonly walBytes?: number | undefined
  /** Page size of a new file in bytes, a power of two from 512 to 65,536. Default: SQLite's own, 4,096. */
  readonly pageBytes?: number | undefined
}

type Values = ReadonlyArray<ReadonlyArray<unknown>>

const STREAM_CHUNK_ROWS = 128

const cachedStatements = 200

// SQLite has three error codes for a duplicate key. Effect recognizes only `UNIQUE`.
const PRIMARY_KEY = 1555
const ROWID = 2579
const UNIQUE = 2067

const sqlError = (path: string, cause: unknown, operation: string, failed: string): SqlError.SqlError => {
  const error = cause as Error & { readonly errcode?: number }
  const errno = error.errcode === PRIMARY_KEY || error.errcode === ROWID ? UNIQUE : error.errcode
  return new SqlError.SqlError({
    reason: SqlError.classifySqliteError(errno === undefined ? error : Object.assign(error, { errno, path }), {
      operation,
      message: `${failed}: ${error.message}`,
    }),
  })
}

const isFile = ({ filename }: SqliteClientConfig): boolean => filename !== "" && !/^(:memory:|file:)/.test(filename)

const open = Effect.fnUntraced(function* (config: SqliteClientConfig) {
  const opening = <A>(evaluate: () => A) =>
    Effect.try({
      try: evaluate,
      catch: (cause) =>
        sqlError(config.filename, cause, "open", `cannot open the SQLite database ${JSON.stringify(config.filename)}`),
    })
  if (isFile(config) && config.readonly !== true) yield* Effect.sync(() => PrivateFile.create(config.filename))
  const db = yield* Effect.acquireRelease(
    opening(
      () =>
        new DatabaseSync(config.readonly === true ? readable(config.filename) : config.filename, {
          readOnly: config.readonly ?? false,
          timeout: Duration.toMillis(config.busyTimeout ?? "5 seconds"),
          enableForeignKeyConstraints: true,
        }),
    ),
    (db) => Effect.sync(() => db.close()),
  )
  const { cacheBytes, pageBytes, walBytes } = config
  if (pageBytes !== undefined) yield* opening(() => db.exec(`PRAGMA page_size = ${pageBytes}`))
  // SQLite opens files lazily: only the next statement detects a file that is not a database.
  yield* opening(() => db.exec(config.readonly ? "PRAGMA schema_version" : "PRAGMA journal_mode = WAL"))
  yield* opening(() => db.exec(`PRAGMA synchronous = ${config.synchronous ?? "full"}`))
  if (cacheBytes !== undefined) yield* opening(() => db.exec(`PRAGMA cache_size = -${Math.ceil(cacheBytes / 1024)}`))
  if (walBytes !== undefined) {
    yield* opening(() => {
      const pageBytes = Number(db.prepare("PRAGMA page_size").get()!["page_size"])
      db.exec(`PRAGMA wal_autocheckpoint = ${Math.ceil(walBytes / pageBytes)}`)
    })
  }
  return db
})

/** On a read-only file system, SQLite can read a database only if it is marked as immutable. */
const readable = (filename: string): string | URL => {
  try {
    accessSync(filename, constants.W_OK)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EROFS") return new URL("?immutable=1", pathToFileURL(filename))
  }
  return filename
}

const cutsTextAtNul = (db: DatabaseSync): boolean => db.prepare("SELECT 'a' || char(0) AS text").get()?.text === "a"

const bind = (params: ReadonlyArray<unknown>, refuseNul: boolean): Array<SQLInputValue> =>
  params.map((param, i) => {
    const refuse = (actual: string) =>
      new TypeError(
        `parameter ${i + 1}: expected null, a boolean, number, bigint, string, or Uint8Array, found ${actual}`,
      )
    switch (typeof param) {
      case "string":
        if (refuseNul && param.includes("\0"))
          throw refuse("a string with a NUL character, which this version of Node truncates")
        return param
      case "number":
        if (Number.isNaN(param)) throw refuse("NaN")
        // Node binds every number as a float, so a text column or JSON would contain 5.0 instead of 5.
        return Number.isSafeInteger(param) && !Object.is(param, -0) ? BigInt(param) : param
      case "bigint":
        return param
      case "boolean":
        return param ? 1n : 0n
      case "undefined":
        return null
      case "object":
        if (param === null || param instanceof Uint8Array) return param
        throw refuse(`a ${param.constructor?.name ?? "object"}`)
      default:
        throw refuse(`a ${typeof param}`)
    }
  })

const knownNames = new WeakMap<StatementSync, ReadonlyArray<string>>()

/** The names are cached, except for a statement with `*`, because its columns can change when the table changes. */
const namesOf = (statement: StatementSync): ReadonlyArray<string> => {
  const cachedNames = knownNames.get(statement)
  if (cachedNames !== undefined) return cachedNames
  const names = statement.columns().map((column) => column.name)
  if (!statement.sourceSQL.includes("*")) knownNames.set(statement, names)
  return names
}

const toRows = (statement: StatementSync, values: Values): ReadonlyArray<object> => {
  if (values.length === 0) return []
  const names = namesOf(statement)
  return values.map((value) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = value[i]
    return row
  })
}

const makeConnection = Effect.fnUntraced(function* (
  db: DatabaseSync,
  config: SqliteClientConfig,
  prepareFor?: (statement: StatementSync) => void,
): Effect.fn.Return<SqlConnection.Connection> {
  const refuseNul = cutsTextAtNul(db)

  const prepare = (sql: string) =>
    Effect.try({
      try: () => {
        const statement = db.prepare(sql)
        const rest = sql.slice(statement.sourceSQL.length).trim()
        if (rest !== "") throw new SyntaxError(`expected one statement, found more after it: ${rest.slice(0, 60)}`)
        statement.setReturnArrays(true)
        return statement
      },
      catch: (cause) => sqlError(config.filename, cause, "prepare", "failed to prepare statement"),
    })

  const statements = yield* Cache.makeWith(prepare, {
    capacity: cachedStatements,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? "10 minutes" : Duration.zero),
  })
  const cached = (sql: string) => Cache.get(statements, sql)

  const attempt = <A>(evaluate: () => A) =>
    Effect.try({
      try: evaluate,
      catch: (cause) =>
        SqlError.isSqlError(cause) ? cause : sqlError(config.filename, cause, "execute", "failed to execute statement"),
    })

  const use = <A>(statement: StatementSync, run: () => A) =>
    Effect.withFiber<A, SqlError.SqlError>((fiber) => {
      statement.setReadBigInts(fiber.getRef(SqlClient.SafeIntegers))
      return attempt(() => {
        prepareFor?.(statement)
        return run()
      })
    })

  const all = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    statement.all(...bind(params, refuseNul)) as unknown as Values

  const values = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    use(statement, () => all(statement, params))

  const rows = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    use(statement, () => toRows(statement, all(statement, params)))

  const raw = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    use(statement, () =>
      statement.columns().length > 0
        ? toRows(statement, all(statement, params))
        : statement.run(...bind(params, refuseNul)),
    )

  const stream = Effect.fnUntraced(function* (sql: string, params: ReadonlyArray<unknown>) {
    // Not cached, because the same query may run again while this stream is read.
    const statement = yield* prepare(sql)
    const iterator = yield* Effect.acquireRelease(
      use(
        statement,
        () => statement.iterate(...bind(params, refuseNul)) as unknown as Iterator<ReadonlyArray<unknown>>,
      ),
      (iterator) => Effect.sync(() => iterator.return?.()),
    )
    let ended = false
    const next = attempt(() => {
      const chunk: Array<ReadonlyArray<unknown>> = []
      while (!ended && chunk.length < STREAM_CHUNK_ROWS) {
        const { done, value } = iterator.next()
        // Older versions of Node restart the query if `next` is called after the end.
        if (done) ended = true
        else chunk.push(value)
      }
      return toRows(statement, chunk)
    })
    const pull = Effect.filterOrElse(next, Array.isReadonlyArrayNonEmpty, () => Cause.done())
    return Stream.fromPull(Effect.succeed(pull))
  })

  return {
    execute: (sql, params) => Effect.flatMap(cached(sql), (it) => rows(it, params)),
    executeRaw: (sql, params) => Effect.flatMap(cached(sql), (it) => raw(it, params)),
    executeStream: (sql, params) => Stream.unwrap(stream(sql, params)),
    executeValues: (sql, params) => Effect.flatMap(cached(sql), (it) => values(it, params)),
    executeValuesUnprepared: (sql, params) => Effect.flatMap(prepare(sql), (it) => values(it, params)),
    executeUnprepared: (sql, params) => Effect.flatMap(prepare(sql), (it) => rows(it, params)),
  }
})

/** A streamed query holds the connection. Outside a transaction, running a statement per row causes a deadlock. */
export const make = Effect.fnUntraced(function* (
  config: SqliteClientConfig,
): Effect.fn.Return<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity> {
  const db = yield* open(config)
  const failed = (cause: Error) => sqlError(config.filename, cause, "sync", "failed to write to the disk")
  const isApart = config.syncInBackground === true && isFile(config) && SqliteSync.isPossible(db)
  const log = isApart ? yield* SqliteSync.make(db, failed) : undefined
  const connection = yield* makeConnection(db, config, log?.prepareFor)
  const client = yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: yield* Semaphore.make(1),
      isTransaction: () => db.isTransaction,
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    // BEGIN IMMEDIATE takes the write lock before the first read. After a plain BEGIN and a read, a write could fail.
    beginTransaction: SqliteSync.begin,
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]],
  })
  const reserve = Effect.flatMap(open(config), (db) => makeConnection(db, config))
  const withTransaction = log === undefined ? client.withTransaction : SqliteSync.withSync(client, log.sync)
  return isFile(config) ? Object.assign(client, { reserve, withTransaction }) : client
})

export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(config)).pipe(Layer.provide(Reactivity.layer))

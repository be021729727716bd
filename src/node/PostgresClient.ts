/**
 * Adapter: an Effect `SqlClient` over `@effect/sql-pg`. All transactions run in the session that holds `lock`. If the
 * session is lost, the server rolls back and releases the lock, and later transactions fail. No message contains the
 * password. A pooler must be in `session` mode. Text with a NUL character cannot be stored.
 */
import type { PgConnection, PgTypes } from "@effect/sql-pg"
import { Deferred, Effect, Layer, Queue, Redacted, Result, Schedule, Schema, type Scope, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import type { FileLockError } from "./FileLock.ts"
import * as PostgresLock from "./PostgresLock.ts"
import * as PostgresPooler from "./PostgresPooler.ts"
import * as PostgresUrl from "./PostgresUrl.ts"

export interface PostgresClientConfig extends PostgresUrl.Login {
  readonly readonly?: boolean | undefined
  /** The name of an advisory lock in this schema, which is held until the scope closes. Default: no lock. */
  readonly lock?: string | undefined
  /** If set, several workers and commands can hold the lock at the same time. Default: one process holds the lock. */
  readonly sharedBy?: "worker" | "command" | undefined
}

/** PostgreSQL's maximum size of a value. */
const maxMessageBytes = 2 ** 30 - 1

const named = (where: string) => (error: SqlError.SqlError) => {
  const { reason } = error
  const server = reason.cause
  const serverMessage = server instanceof Error && server.message !== "" ? server.message : error.message
  const fields = { cause: server, operation: reason.operation, message: `${where}: ${serverMessage}` }
  if (reason._tag === "UniqueViolation") {
    return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ ...fields, constraint: reason.constraint }) })
  }
  // oxlint-disable-next-line import/namespace -- a reason's tag is the name of its class
  const Reason = isSessionEnd(server) ? SqlError.ConnectionError : SqlError[reason._tag]
  return new SqlError.SqlError({ reason: new Reason(fields) })
}

const isSessionEnd = Schema.is(Schema.Struct({ code: Schema.String.check(Schema.isPattern(/^57P0/)) }))

const isProtocolViolation = Schema.is(Schema.Struct({ code: Schema.Literal("08P01") }))

const namedConnection = (
  name: (error: SqlError.SqlError) => SqlError.SqlError,
  connection: SqlConnection.Connection,
): SqlConnection.Connection => ({
  execute: (...of) => Effect.mapError(connection.execute(...of), name),
  executeRaw: (...of) => Effect.mapError(connection.executeRaw(...of), name),
  executeStream: (...of) => Stream.mapError(connection.executeStream(...of), name),
  executeValues: (...of) => Effect.mapError(connection.executeValues(...of), name),
  executeValuesUnprepared: (...of) => Effect.mapError(connection.executeValuesUnprepared(...of), name),
  executeUnprepared: (...of) => Effect.mapError(connection.executeUnprepared(...of), name),
})

/** A ROLLBACK in a lost session counts as success, because the server has already rolled back. */
const writerConnection = (connection: SqlConnection.Connection): SqlConnection.Connection => ({
  ...connection,
  execute: (sql, ...rest) =>
    sql === "ROLLBACK"
      ? Effect.catchReason(connection.execute(sql, ...rest), "SqlError", "ConnectionError", () => Effect.succeed([]))
      : connection.execute(sql, ...rest),
})

/** PostgreSQL answers the COMMIT of an aborted transaction with ROLLBACK and no error. */
const commit = Effect.fnUntraced(function* (connection: SqlConnection.Connection) {
  const answer = yield* connection.executeRaw("COMMIT", [])
  if ((answer as { readonly command: string }).command === "COMMIT") return
  return yield* new SqlError.SqlError({
    reason: new SqlError.UnknownError({
      cause: answer,
      message: "PostgreSQL rolled back the transaction instead of committing it",
      operation: "commit",
    }),
  })
})

/** @error `SqlError` if the server cannot be reached or refuses; `FileLockError` if another process holds the lock */
const make = Effect.fnUntraced(function* (
  config: PostgresClientConfig,
): Effect.fn.Return<SqlClient.SqlClient, SqlError.SqlError | FileLockError, Scope.Scope | Reactivity.Reactivity> {
  const { PgClient, PgTypes } = yield* Effect.promise(() => import("@effect/sql-pg"))
  const where = PostgresUrl.redact(config.url)
  const name = named(where)
  const connected = (acquirer: SqlConnection.Acquirer): SqlConnection.Acquirer =>
    Effect.map(Effect.mapError(acquirer, name), (connection) => namedConnection(name, connection))

  const settings = {
    ...PostgresUrl.credentials(config),
    applicationName: PostgresLock.sessionName(config.sharedBy === "worker"),
    connectTimeout: "10 seconds",
    keepAlive: "30 seconds",
    maxMessageSize: maxMessageBytes,
    types: numbersIn(PgTypes),
  } as const
  const isReadonly = config.readonly === true
  const startup = isReadonly ? { ...settings, startupParameters: { default_transaction_read_only: "on" } } : settings
  const writer = yield* PgClient.makeClient(startup).pipe(
    // PgBouncer refuses the startup parameter `default_transaction_read_only`. `configureSession` sets it later.
    Effect.catchIf(
      (error) => isReadonly && isProtocolViolation(error.reason.cause),
      () => PgClient.makeClient(settings),
    ),
    Effect.mapError(name),
  )
  const process = yield* Effect.mapError(PostgresPooler.processOf(writer), name)
  const settled = yield* Effect.mapError(configureSession(writer, { ...config, process }).unprepared, name)
  const isPooled = settled.length === 0
  const readers = yield* PgClient.make({
    ...(isPooled ? settings : startup),
    maxConnections: PostgresPooler.readConnections,
  })
  if (isPooled) {
    const count = PostgresPooler.readConnections + (config.sharedBy === "worker" ? PostgresPooler.workerConnections : 0)
    yield* PgClient.make({ ...settings, maxConnections: count }).pipe(
      Effect.flatMap((others) =>
        PostgresPooler.requireSessions(writer, others, { count, url: Redacted.value(config.url) }),
      ),
      Effect.scoped,
      Effect.andThen(configureSession(writer, config)),
      Effect.mapError(name),
    )
  }
  if (config.sharedBy === "worker") yield* Effect.mapError(requireVersion(writer), name)
  yield* Effect.mapError(PostgresLock.shareTables(writer), name)
  if (config.lock !== undefined)
    yield* PostgresLock.take(writer, config.lock, config.sharedBy !== undefined, where).pipe(
      Effect.mapError((error) => (error._tag === "SqlError" ? name(error) : error)),
    )

  const reserve = Effect.tap(readers.reserve, (connection) =>
    Effect.provideService(configureSession(readers, { readonly: isReadonly }), readers.transactionService, [
      connection,
      0,
    ] as const),
  )
  const client = yield* SqlClient.make({
    acquirer: connected(isPooled && isReadonly ? reserve : readers.reserve),
    transactionAcquirer: Effect.map(connected(writer.reserve), writerConnection),
    compiler: PgClient.makeCompiler(),
    commit,
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    driver: "pg",
    spanAttributes: [["db.system.name", "postgresql"]],
  })
  return Object.assign(client, { reserve: connected(reserve) })
})

/** Version 14 introduced `idle_session_timeout`, by which Effect Cluster frees the locks of a suspended worker. */
const oldestForWorkers = 14

const requireVersion = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const rows = yield* sql<{ version: string }>`SELECT current_setting('server_version') AS version`
  const { version } = rows[0]!
  if (Number.parseInt(version) >= oldestForWorkers) return
  const message = `workers need PostgreSQL ${oldestForWorkers} or newer, but this server has version ${version}`
  return yield* new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause: undefined, message, operation: "connect" }),
  })
})

/** Decodes BIGINT and NUMERIC as numbers, as in SQLite. prefstream writes no number above 2^53. */
const numbersIn = ({ decode, encode, makeRegistry, OID }: typeof PgTypes) => {
  const registry = makeRegistry()
  for (const oid of [OID.int8, OID.numeric]) {
    registry.register<unknown>(oid, {
      encode: (value) => encode(value, oid),
      decode: (bytes) => Result.map(decode(bytes, oid, 1), Number),
    })
  }
  return registry
}

/** If workers share a job, a transaction ends after 5 idle seconds, so that a suspended worker does not lock rows. */
const configureSession = (
  sql: SqlClient.SqlClient,
  {
    process,
    readonly = false,
    sharedBy,
  }: Pick<PostgresClientConfig, "readonly" | "sharedBy"> & {
    /** If this is not the id of the backend process, the query changes no settings, and returns no rows. */
    readonly process?: number | undefined
  } = {},
) => sql`
  SELECT set_config(wanted.name, wanted.setting, false)
  FROM (VALUES
    ('synchronous_commit', 'on'),
    ('default_transaction_isolation', 'read committed'),
    ${sql.literal(readonly ? "('default_transaction_read_only', 'on')," : "")}
    ('idle_session_timeout', '0'),
    ('idle_in_transaction_session_timeout', ${sharedBy === undefined ? "0" : "5s"}),
    ('transaction_timeout', '0'),
    ('statement_timeout', '0'),
    ('lock_timeout', '0'),
    ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3')
  ) AS wanted (name, setting)
  JOIN pg_settings USING (name)
  WHERE ${process === undefined ? sql.literal("true") : sql`pg_backend_pid() = ${process}`}`

/** Uses a connection of its own. Notifications are missed while a broken connection is reopened. */
export const listen = Effect.fnUntraced(function* (config: PostgresUrl.Login, channel: string) {
  const { PgClient } = yield* Effect.promise(() => import("@effect/sql-pg"))
  const name = named(PostgresUrl.redact(config.url))
  const begun = yield* Deferred.make<void, SqlError.SqlError>()
  const notifications = yield* Queue.unbounded<PgConnection.Notification>()
  yield* Effect.gen(function* () {
    const client = yield* PgClient.makeClient({
      ...PostgresUrl.credentials(config),
      applicationName: PostgresLock.sessionName(true),
      keepAlive: "30 seconds",
    })
    yield* configureSession(client)
    const messages = yield* client.listen(channel)
    yield* Deferred.succeed(begun, undefined)
    return yield* Effect.forever(
      Effect.flatMap(Queue.take(messages), (message) => Queue.offer(notifications, message)),
    ).pipe(
      Effect.tapError((failure) =>
        Effect.logWarning(
          `database notifications were interrupted; until they resume, changes by other processes are detected by polling: ${name(failure).message}`,
        ),
      ),
    )
  }).pipe(
    Effect.scoped,
    Effect.tapError((failure) => Deferred.fail(begun, name(failure))),
    Effect.retry(Schedule.spaced("2 seconds")),
    Effect.forkScoped,
  )
  yield* Deferred.await(begun)
  return notifications
}, Effect.provide(Reactivity.layer))

export const layer = (
  config: PostgresClientConfig,
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError | FileLockError> =>
  Layer.effect(SqlClient.SqlClient, make(config)).pipe(Layer.provide(Reactivity.layer))

/** Adapter: refuses a PostgreSQL pooler that runs two statements of one connection in different sessions. */
import { Effect, Option, Predicate } from "effect"
import { type SqlClient, type SqlConnection, SqlError } from "effect/sql"

const rounds = 16

export const readConnections = 4

export const clusterConnections = 4

export const workerConnections = clusterConnections + 1

const maxWait = "10 seconds"

/** The id of the server process, as received when the connection started. 0 if unknown. A pooler sends another id. */
export const processOf = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError.SqlError> =>
  Effect.scoped(
    Effect.map(sql.reserve, (connection) => {
      const session = Predicate.hasProperty(connection, "connection") ? connection.connection : undefined
      return Predicate.hasProperty(session, "processId") && Predicate.isNumber(session.processId)
        ? session.processId
        : 0
    }),
  )

const refuse = (message: string) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message, operation: "connect" }) })

const searchPathIn = (url: string): Option.Option<string> => {
  const options = URL.parse(url)?.searchParams.get("options") ?? ""
  const [, path] = /(?:^|\s)(?:-c\s*|--)search_path=((?:\\.|[^\s\\])*)/.exec(options) ?? []
  return Option.map(Option.fromUndefinedOr(path), (path) => path.replaceAll(/\\(.)/g, "$1"))
}

interface Session {
  readonly process: number
  readonly path: string
}

export const requireSessions = Effect.fnUntraced(function* (
  writer: SqlClient.SqlClient,
  others: SqlClient.SqlClient,
  { count, url }: { readonly count: number; readonly url: string },
) {
  const sessions = new Map<SqlConnection.Connection, Session>()
  const look = Effect.fnUntraced(function* (connection: SqlConnection.Connection) {
    // The query is not prepared, because some poolers do not support prepared statements.
    const rows = yield* connection.executeUnprepared(
      "SELECT pg_backend_pid() AS process, current_setting('search_path') AS path",
      [],
      undefined,
    )
    const session = rows[0] as Session
    for (const [other, { process }] of sessions) {
      if ((process === session.process) !== (other === connection)) {
        return yield* refuse(
          "the connection pooler does not keep a separate PostgreSQL session for each connection; it is probably in transaction or statement mode: connect directly to PostgreSQL, or use a pool in session mode",
        )
      }
    }
    sessions.set(connection, session)
    return connection
  })
  const opened = (client: SqlClient.SqlClient) =>
    Effect.flatMap(client.reserve, look).pipe(
      Effect.timeoutOrElse({
        duration: maxWait,
        orElse: () =>
          refuse(
            `the connection pooler provides only ${sessions.size} of the ${count + 1} connections that a process needs: increase the pool size (default_pool_size in PgBouncer), or connect directly to PostgreSQL`,
          ),
      }),
    )

  const first = yield* opened(writer)
  const second = yield* opened(others)
  for (let round = 0; round < rounds; round++) {
    for (const connection of [first, first, second, second]) yield* look(connection)
  }
  yield* Effect.all(
    Array.from({ length: count - 1 }, () => opened(others)),
    { concurrency: "unbounded", discard: true },
  )
  const path = Option.getOrUndefined(searchPathIn(url))
  if (path === undefined || sessions.get(first)?.path === path) return
  return yield* refuse(
    "the connection pooler ignores the schema in the URL's options: set the schema with ALTER ROLE ... SET search_path, or connect directly to PostgreSQL",
  )
}, Effect.scoped)

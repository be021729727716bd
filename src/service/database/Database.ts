/**
 * The service's one SQLite file: its tables brought up to date, its writes grouped.
 *
 * Guarantees: a write has been committed durably when its effect succeeds; a write is one
 * transaction or part of one, so that what it reads and changes belongs together. Writes
 * that are asked for at once share a commit; see `GroupCommit`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as GroupCommit from "../../sql/GroupCommit.ts"
import { migrate } from "./Schema.ts"

export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /** For changing. The statements must not wait for anything but the database. */
    readonly write: GroupCommit.Write
  }
>()("prefstream/service/Database") {
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* migrate
      return { sql, write: yield* GroupCommit.make(sql) }
    }),
  )
}

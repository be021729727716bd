/**
 * The service's SQLite file: runs migrations and groups writes.
 *
 * Guarantees: a write is one transaction, and it is committed durably when its effect succeeds. Concurrent writes share
 * a commit; see `GroupCommit`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Backoff from "../../io/Backoff.ts"
import * as GroupCommit from "../../sql/GroupCommit.ts"
import * as Migrations from "../../sql/Migrations.ts"
import * as Readiness from "../../telemetry/Readiness.ts"
import { Actor, createAuditTables } from "./Audit.ts"
import { createAccountTables } from "./AccountTables.ts"
import * as FullDisk from "./FullDisk.ts"
import { createDeskTables } from "./DeskTables.ts"
import { createGuidelineTables } from "./GuidelineTables.ts"
import { addLanes } from "./LaneTables.ts"
import { addOperatorRoles } from "./OperatorTables.ts"
import { createQualificationTables } from "./QualificationTables.ts"
import { createTaskTables } from "./TaskTables.ts"
import { createWebhookTables } from "./WebhookTables.ts"

const migrate = Migrations.run({
  what: "the service's database",
  table: "prefstream_service_migration",
  migrations: {
    "0001_service_tables": Effect.all([createTaskTables, createAccountTables, createWebhookTables], { discard: true }),
    "0002_operator_roles": addOperatorRoles,
    "0003_audit_log": createAuditTables,
    "0004_lanes": addLanes,
    "0005_desk": createDeskTables,
    "0006_qualification": createQualificationTables,
    "0007_guidelines": createGuidelineTables,
  },
})

/** Retries forever, because the database may come back and nothing else would do the waiting work. */
export const retryForever = Backoff.exponential("100 millis", "30 seconds")

export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /**
     * Runs statements that change the database; `Audit` records the actor. They must not wait for anything but the
     * database.
     */
    readonly write: GroupCommit.Write
  }
>()("prefstream/service/Database") {
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* migrate
      yield* Readiness.requireDatabase
      const write = yield* FullDisk.watch(yield* GroupCommit.make(sql))
      return {
        sql,
        write: (statements) =>
          Effect.flatMap(Actor, (actor) =>
            write(actor === undefined ? statements : Effect.provideService(statements, Actor, actor)),
          ),
      }
    }),
  )
}

/**
 * The tables of the annotation service, as numbered migrations. Each part of the service
 * makes its own; a table is written by the module that its file names, and by no other.
 */
import { Effect } from "effect"
import * as Migrations from "../../sql/Migrations.ts"

/** Creates the tables, or brings those of an older version up to date. */
export const migrate = Migrations.run({
  what: "the service's database",
  table: "prefstream_service_migration",
  migrations: {
    // createTaskTables (store/TaskTables.ts), createAccountTables (web/AccountTables.ts), createWebhookTables (webhook/WebhookTables.ts)
    "0001_create_tables": Effect.all([], { discard: true }),
  },
})

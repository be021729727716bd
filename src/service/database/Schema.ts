/**
 * The tables of the annotation service, as numbered migrations. Each part of the service
 * makes its own: `store` those of tasks, votes and experts, `web` those of accounts and tokens,
 * `webhook` those of deliveries. No part writes another's.
 */
import { Effect } from "effect"
import * as Migrations from "../../sql/Migrations.ts"
import { createAccountTables } from "./AccountTables.ts"
import { createWebhookTables } from "./WebhookTables.ts"
import { createTaskTables } from "./TaskTables.ts"

/** Creates the tables, or brings those of an older version up to date. */
export const migrate = Migrations.run({
  what: "the service's database",
  table: "prefstream_service_migration",
  migrations: {
    "0001_service_tables": Effect.all([createTaskTables, createAccountTables, createWebhookTables], { discard: true }),
  },
})

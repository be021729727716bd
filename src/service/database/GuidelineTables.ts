/**
 * Migration: versions of guidelines.
 *
 * Guarantees: version 1, the guidelines as they were sent, has no row; rows are for what a lead has changed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createGuidelineTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // base: a hash of the organization and the guidelines as they were sent. text: without the rubric. operator: a name.
  yield* sql`CREATE TABLE guidelines_version (
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (base, version)
  ) WITHOUT ROWID`
  // The version that a person was shown, or was told of, last.
  yield* sql`CREATE TABLE guidelines_seen (
    expert_no INTEGER NOT NULL,
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (expert_no, base)
  ) WITHOUT ROWID`
})

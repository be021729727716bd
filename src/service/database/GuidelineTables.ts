/**
 * Migration: versions of guidelines.
 *
 * Guarantees: version 1, the text that the client sent, has no row. Each edit by a lead has one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createGuidelineTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // base: a hash of the organization and the guidelines that the client sent. text: the version without the rubric.
  // operator: a name.
  yield* sql`CREATE TABLE guidelines_version (
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (base, version)
  ) WITHOUT ROWID`
  // The version that a person saw or acknowledged last.
  yield* sql`CREATE TABLE guidelines_seen (
    expert_no INTEGER NOT NULL,
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (expert_no, base)
  ) WITHOUT ROWID`
})

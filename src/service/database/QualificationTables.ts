/**
 * Migration: what people must judge before they get work, and how well.
 *
 * Guarantees: whether somebody gets work is not stored: it follows from these rows and the votes on gold items.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createQualificationTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // No row: nothing is required. pause_percent is null where nobody is paused.
  yield* sql`CREATE TABLE qualification_setting (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    items INTEGER NOT NULL,
    min_percent INTEGER NOT NULL,
    pause_percent INTEGER,
    guidelines TEXT NOT NULL
  )`
  // kind: item, a gold item that is or was shown; admit and requalify, what an operator decided. The rows of a person
  // after the last decision count. gold, shown_order, draft, correct and given_at are of items. last_vote is of
  // decisions: the number of the latest vote, of anybody, when it was made.
  yield* sql`CREATE TABLE qualification (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    expert_no INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    gold TEXT,
    shown_order TEXT,
    draft TEXT,
    choice INTEGER,
    correct INTEGER,
    given_at INTEGER,
    last_vote INTEGER
  )`
  yield* sql`CREATE INDEX qualification_of_expert ON qualification (expert_no, n)`
  yield* sql`CREATE INDEX vote_on_gold ON vote (expert_no) WHERE correct IS NOT NULL`
  yield* sql`CREATE INDEX voided_vote_on_gold ON voided_vote (expert_no) WHERE correct IS NOT NULL`
})

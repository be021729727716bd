/**
 * Migration: the gold items that people must judge before they get work, and the required share of right answers.
 *
 * Guarantees: no column says whether a person gets work. It follows from these rows and the votes on gold items.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createQualificationTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Without a row, nothing is required. pause_percent: null if nobody is paused.
  yield* sql`CREATE TABLE qualification_setting (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    items INTEGER NOT NULL,
    min_percent INTEGER NOT NULL,
    pause_percent INTEGER,
    guidelines TEXT NOT NULL
  )`
  // kind: `item` is a gold item that a person saw or sees; `admit` and `requalify` are decisions of an operator. The
  // rows of a person after the last decision count. gold, shown_order, draft, choice, correct, and given_at belong to
  // items. last_vote belongs to decisions: the number of the latest vote, by anybody, at the time of the decision.
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

/**
 * The tables for managers' searches and decisions: beginnings of prompts, disputed items, decisions, voided votes.
 *
 * Guarantees: voiding moves a vote, with its number, to `voided_vote`, so that `vote` contains only valid votes.
 * `disputed` contains the items that have all their votes and whose votes differ on the best completion.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { maxPrompts } from "./TaskTables.ts"

/** The number of characters of a prompt that can be searched. Requests are compressed, and too slow to search. */
export const maxSearchedChars = 500

export const createDeskTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE item_text (item_id INTEGER PRIMARY KEY, prompt TEXT NOT NULL)`
  yield* sql`CREATE TABLE disputed (item_id INTEGER PRIMARY KEY, agreement REAL NOT NULL)`
  // A lead's judgment, which is the item's result whatever its votes say. operator: a name. choice: null if the lead
  // withdrew the prompt; then `rationale` is the reason, and the result says that there is no judgment.
  yield* sql`CREATE TABLE decision (
    item_id INTEGER PRIMARY KEY,
    choice INTEGER,
    rationale TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL
  )`
  const recount = (itemId: string) =>
    sql.literal(`
    UPDATE task SET votes_spared = (SELECT COALESCE(SUM(task.votes_required + item.extra_votes - item.votes), 0)
      FROM decision CROSS JOIN item USING (item_id)
      WHERE decision.item_id BETWEEN task.seq * ${maxPrompts} AND task.seq * ${maxPrompts} + ${maxPrompts - 1})
    WHERE seq = ${itemId} / ${maxPrompts};`)
  yield* sql`CREATE TRIGGER item_decided AFTER INSERT ON decision BEGIN ${recount("NEW.item_id")} END`
  yield* sql`CREATE TRIGGER item_undecided AFTER DELETE ON decision BEGIN ${recount("OLD.item_id")} END`
  yield* sql`CREATE TRIGGER decided_item_changed AFTER UPDATE OF votes, extra_votes ON item
    WHEN OLD.votes - OLD.extra_votes <> NEW.votes - NEW.extra_votes
      AND EXISTS (SELECT 1 FROM decision WHERE decision.item_id = NEW.item_id)
    BEGIN ${recount("NEW.item_id")} END`
  yield* sql`CREATE TABLE voiding (
    voiding_id INTEGER PRIMARY KEY AUTOINCREMENT,
    expert_no INTEGER NOT NULL,
    reason TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL,
    undone_by TEXT,
    undone_at INTEGER
  )`
  yield* sql`CREATE INDEX voiding_of_expert ON voiding (expert_no)`
  // The columns of `vote` except `agreed`.
  yield* sql`CREATE TABLE voided_vote (
    n INTEGER PRIMARY KEY,
    voiding_id INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    choice INTEGER NOT NULL,
    body TEXT NOT NULL,
    shown_at INTEGER,
    given_at INTEGER NOT NULL,
    correct INTEGER
  )`
  yield* sql`CREATE INDEX voided_vote_on_item ON voided_vote (item_id, expert_no)`
  yield* sql`CREATE INDEX voided_vote_of ON voided_vote (voiding_id)`
})

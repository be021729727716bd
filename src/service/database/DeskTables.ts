/**
 * The tables for managers. A voided vote moves to `voided_vote`, and keeps its number `n`. If a person corrects a
 * vote, the earlier vote moves to `replaced_vote`. `disputed` lists items whose votes differ. An item is added to this
 * list when it has all its votes, or when a lead decides it.
 */
import { maxPrompts, voteColumns } from "./TaskTables.ts"

/** Number of characters at the start of a prompt that a search reads. */
export const maxSearchedChars = 500

const recount = (itemId: string) => `
    UPDATE task SET votes_spared = (SELECT COALESCE(SUM(task.votes_required + item.extra_votes - item.votes), 0)
      FROM decision CROSS JOIN item USING (item_id)
      WHERE decision.item_id BETWEEN task.seq * ${maxPrompts} AND task.seq * ${maxPrompts} + ${maxPrompts - 1})
    WHERE seq = ${itemId} / ${maxPrompts};`

export const deskTables: ReadonlyArray<string> = [
  `CREATE TABLE item_text (item_id INTEGER PRIMARY KEY, prompt TEXT NOT NULL)`,
  `CREATE TABLE disputed (item_id INTEGER PRIMARY KEY, agreement REAL NOT NULL)`,
  // A lead's judgment, which replaces the votes. If the lead withdrew the prompt, `choice` is null.
  `CREATE TABLE decision (
    item_id INTEGER PRIMARY KEY,
    choice INTEGER,
    rationale TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL
  )`,
  `CREATE TRIGGER item_decided AFTER INSERT ON decision BEGIN ${recount("NEW.item_id")} END`,
  `CREATE TRIGGER item_undecided AFTER DELETE ON decision BEGIN ${recount("OLD.item_id")} END`,
  `CREATE TRIGGER decided_item_changed AFTER UPDATE OF votes, extra_votes ON item
    WHEN OLD.votes - OLD.extra_votes <> NEW.votes - NEW.extra_votes
      AND EXISTS (SELECT 1 FROM decision WHERE decision.item_id = NEW.item_id)
    BEGIN ${recount("NEW.item_id")} END`,
  `CREATE TABLE voiding (
    voiding_id INTEGER PRIMARY KEY AUTOINCREMENT,
    expert_no INTEGER NOT NULL,
    reason TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL,
    undone_by TEXT,
    undone_at INTEGER
  )`,
  `CREATE INDEX voiding_of_expert ON voiding (expert_no)`,
  `CREATE TABLE voided_vote (
    n INTEGER PRIMARY KEY,
    voiding_id INTEGER NOT NULL,
    ${voteColumns}
  )`,
  `CREATE INDEX voided_vote_on_item ON voided_vote (item_id, expert_no)`,
  `CREATE INDEX voided_vote_of ON voided_vote (voiding_id)`,
  `CREATE TABLE replaced_vote (
    n INTEGER PRIMARY KEY,
    ${voteColumns},
    replaced_at INTEGER NOT NULL
  )`,
  `CREATE INDEX replaced_vote_on_item ON replaced_vote (item_id)`,

  // `base` is a hash of the organization's name and the original guidelines. `text` does not contain the rubric.
  `CREATE TABLE guidelines_version (
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    operator TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (base, version)
  ) WITHOUT ROWID`,
  `CREATE TABLE guidelines_seen (
    expert_no INTEGER NOT NULL,
    base TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (expert_no, base)
  ) WITHOUT ROWID`,

  // If there is no row, no qualification is required. If `pause_percent` is null, people are never paused.
  `CREATE TABLE qualification_setting (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    items INTEGER NOT NULL,
    min_percent INTEGER NOT NULL,
    pause_percent INTEGER,
    guidelines TEXT NOT NULL
  )`,
  // A row of kind `item` is a gold item that a person sees or has judged. A row of kind `admit` or `requalify` is an
  // operator's decision about a person. Its `last_vote` is the highest vote number at that time. Items before a
  // person's last decision no longer count.
  `CREATE TABLE qualification (
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
  )`,
  `CREATE INDEX qualification_of_expert ON qualification (expert_no, n)`,
  `CREATE INDEX vote_on_gold ON vote (expert_no) WHERE correct IS NOT NULL`,
  `CREATE INDEX voided_vote_on_gold ON voided_vote (expert_no) WHERE correct IS NOT NULL`,
]

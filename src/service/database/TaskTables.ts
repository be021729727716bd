/**
 * The tables of tasks, items, votes, experts, and lanes. A lane is a part of the queue (`Lanes`). Large requests and
 * results have their own tables, so that frequent queries read less data. A person's search for work has passed the
 * items up to `item_cursor`, and the rows of `returned_item` (items back in the queue) up to `returned_cursor`.
 */
import type { SqlClient } from "effect/sql"

/** The number of item ids reserved for each task, and thus the maximum number of prompts per task. */
export const maxPrompts = 2 ** 20

/** An item's id is the task's number times 2^20 plus the prompt's index, so that a task's ids are one range. */
export const itemIdOf = (seq: number, promptIndex: number): number => seq * maxPrompts + promptIndex
export const seqOf = (itemId: number): number => Math.floor(itemId / maxPrompts)
export const promptIndexOf = (itemId: number): number => itemId % maxPrompts
export const lastItemOf = (seq: number): number => itemIdOf(seq, maxPrompts - 1)

export const itemsOf = (sql: SqlClient.SqlClient, seq: number) =>
  sql`item_id BETWEEN ${itemIdOf(seq, 0)} AND ${lastItemOf(seq)}`

/** Replaces NUL and lone surrogates, which SQLite or some versions of Node would change. */
export const toStorableText = (text: string): string => text.replaceAll("\0", "\uFFFD").toWellFormed()

const openBy = (row: "NEW" | "OLD") => `(${row}.status IN ('pending', 'in_progress'))`
const keptBy = (row: "NEW" | "OLD") => `(${row}.status <> 'cancelled')`
const neededBy = (row: "NEW" | "OLD") =>
  `(${row}.prompts * ${row}.votes_required + ${row}.extra_votes - ${row}.votes_spared)`
/** The number of missing votes that only judges may give. */
const ofJudgesBy = (row: "NEW" | "OLD") => `((${row}.voters IS 'judges') * (${neededBy(row)} - ${row}.votes_given))`

export const voteColumns = `item_id INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    choice INTEGER NOT NULL,
    body TEXT NOT NULL,
    shown_at INTEGER,
    given_at INTEGER NOT NULL,
    correct INTEGER`

export const millisOfDay = 24 * 60 * 60 * 1000

const voteDays = (event: "INSERT" | "DELETE", sign: "1" | "-1", row: "NEW" | "OLD") =>
  `CREATE TRIGGER vote_day_${event.toLowerCase()} AFTER ${event} ON vote BEGIN
    INSERT INTO vote_day VALUES (${row}.given_at / ${millisOfDay}, ${row}.expert_no, ${sign},
      ${sign} * COALESCE(${row}.agreed, 0), ${sign} * (${row}.agreed IS NOT NULL))
    ON CONFLICT DO UPDATE SET votes = votes + excluded.votes, agreed = agreed + excluded.agreed,
      compared = compared + excluded.compared;
  END`

export const taskTables: ReadonlyArray<string> = [
  // `votes_spared` counts the votes that are not needed on items that a lead has decided or withdrawn. `voters` is
  // `judges` or `people` if nobody else may vote, and null otherwise. `unanswered` is 1 if the task was canceled
  // because no expert had an answer.
  `CREATE TABLE task (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL UNIQUE,
    organization TEXT NOT NULL,
    group_id TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    prompts INTEGER NOT NULL,
    votes_required INTEGER NOT NULL,
    voters TEXT,
    extra_votes INTEGER NOT NULL DEFAULT 0,
    votes_spared INTEGER NOT NULL DEFAULT 0,
    prompts_done INTEGER NOT NULL DEFAULT 0,
    votes_given INTEGER NOT NULL DEFAULT 0,
    unanswered INTEGER NOT NULL DEFAULT 0,
    has_equal_items INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    completes_at INTEGER,
    finished_at INTEGER
  )`,
  `CREATE INDEX task_status ON task (status, seq)`,
  `CREATE INDEX task_completes ON task (completes_at) WHERE completes_at IS NOT NULL`,
  `CREATE INDEX task_in_group ON task (organization, group_id, seq) WHERE group_id <> task_id`,
  `CREATE TABLE task_request (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)`,
  // `answer` is the complete response to a GET request, as plain text. Compression would reduce the throughput of GET
  // by a third. A BLOB would slow down garbage collection, because its memory is outside V8's heap.
  `CREATE TABLE task_result (seq INTEGER PRIMARY KEY, answer TEXT NOT NULL)`,

  // Groups that a client named. `votes` and `votes_needed` are sums over the open tasks. The columns from `items` to
  // `all_needed` are sums over the open and the completed tasks. `first_open` is the `seq` of the oldest open task.
  `CREATE TABLE task_group (
    organization TEXT NOT NULL,
    group_id TEXT NOT NULL,
    size INTEGER,
    tasks INTEGER NOT NULL,
    open INTEGER NOT NULL,
    votes INTEGER NOT NULL DEFAULT 0,
    votes_needed INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0,
    items_done INTEGER NOT NULL DEFAULT 0,
    all_votes INTEGER NOT NULL DEFAULT 0,
    all_needed INTEGER NOT NULL DEFAULT 0,
    first_open INTEGER,
    PRIMARY KEY (organization, group_id)
  ) WITHOUT ROWID`,
  `CREATE INDEX task_group_open ON task_group (first_open) WHERE first_open IS NOT NULL`,
  `CREATE INDEX task_open_in_group ON task (organization, group_id, seq)
    WHERE group_id <> task_id AND status IN ('pending', 'in_progress')`,
  `CREATE INDEX task_open_alone ON task (seq) WHERE group_id = task_id AND status IN ('pending', 'in_progress')`,

  `CREATE TABLE task_count (
    status TEXT PRIMARY KEY,
    tasks INTEGER NOT NULL DEFAULT 0,
    prompts INTEGER NOT NULL DEFAULT 0,
    prompts_done INTEGER NOT NULL DEFAULT 0,
    votes_given INTEGER NOT NULL DEFAULT 0,
    votes_required INTEGER NOT NULL DEFAULT 0,
    needed_of_judges INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID`,
  `INSERT INTO task_count (status) VALUES ('pending'), ('in_progress'), ('completed'), ('cancelled')`,
  `CREATE TRIGGER task_added AFTER INSERT ON task BEGIN
    UPDATE task_count SET tasks = tasks + 1, prompts = prompts + NEW.prompts, prompts_done = prompts_done + NEW.prompts_done,
      votes_given = votes_given + NEW.votes_given, votes_required = votes_required + ${neededBy("NEW")},
      needed_of_judges = needed_of_judges + ${ofJudgesBy("NEW")}
      WHERE status = NEW.status;
  END`,
  `CREATE TRIGGER task_moved AFTER UPDATE OF status ON task WHEN OLD.status <> NEW.status BEGIN
    UPDATE task_count SET tasks = tasks - 1, prompts = prompts - OLD.prompts, prompts_done = prompts_done - OLD.prompts_done,
      votes_given = votes_given - OLD.votes_given, votes_required = votes_required - ${neededBy("OLD")},
      needed_of_judges = needed_of_judges - ${ofJudgesBy("OLD")}
      WHERE status = OLD.status;
    UPDATE task_count SET tasks = tasks + 1, prompts = prompts + NEW.prompts, prompts_done = prompts_done + NEW.prompts_done,
      votes_given = votes_given + NEW.votes_given, votes_required = votes_required + ${neededBy("NEW")},
      needed_of_judges = needed_of_judges + ${ofJudgesBy("NEW")}
      WHERE status = NEW.status;
  END`,
  `CREATE TRIGGER task_voted AFTER UPDATE OF votes_given, prompts_done, extra_votes, votes_spared ON task
    WHEN OLD.status = NEW.status AND (OLD.votes_given <> NEW.votes_given OR OLD.prompts_done <> NEW.prompts_done OR ${neededBy("OLD")} <> ${neededBy("NEW")}) BEGIN
    UPDATE task_count SET prompts_done = prompts_done + NEW.prompts_done - OLD.prompts_done,
      votes_given = votes_given + NEW.votes_given - OLD.votes_given,
      votes_required = votes_required + ${neededBy("NEW")} - ${neededBy("OLD")},
      needed_of_judges = needed_of_judges + ${ofJudgesBy("NEW")} - ${ofJudgesBy("OLD")} WHERE status = NEW.status;
  END`,

  // `joinGroup` adds a new task to the counts of its group. This trigger adjusts the counts when the task changes.
  `CREATE TRIGGER task_of_group_changed AFTER UPDATE OF status, prompts_done, votes_given, extra_votes, votes_spared ON task
    WHEN NEW.group_id <> NEW.task_id BEGIN
    UPDATE task_group SET
      votes = votes + ${openBy("NEW")} * NEW.votes_given - ${openBy("OLD")} * OLD.votes_given,
      votes_needed = votes_needed + ${openBy("NEW")} * ${neededBy("NEW")}
        - ${openBy("OLD")} * ${neededBy("OLD")},
      items = items + ${keptBy("NEW")} * NEW.prompts - ${keptBy("OLD")} * OLD.prompts,
      items_done = items_done + ${keptBy("NEW")} * NEW.prompts_done - ${keptBy("OLD")} * OLD.prompts_done,
      all_votes = all_votes + ${keptBy("NEW")} * NEW.votes_given - ${keptBy("OLD")} * OLD.votes_given,
      all_needed = all_needed + ${keptBy("NEW")} * ${neededBy("NEW")} - ${keptBy("OLD")} * ${neededBy("OLD")},
      first_open = CASE WHEN ${openBy("NEW")} = ${openBy("OLD")} THEN first_open ELSE (
        SELECT MIN(seq) FROM task WHERE organization = NEW.organization AND group_id = NEW.group_id
          AND group_id <> task_id AND status IN ('pending', 'in_progress')) END
    WHERE organization = NEW.organization AND group_id = NEW.group_id;
  END`,

  // `open` is 0 if the item is closed. Otherwise, it is the number of votes for which an expert is still needed: the
  // task's `votes_required` + `extra_votes` − `votes` − `claimed` − people's active holds. `claimed` is the number of
  // votes that automatic experts have begun. A person judges several items with the same `content` only if `repeatable`
  // is 1 (gold items), or the service allows repeated votes.
  `CREATE TABLE item (
    item_id INTEGER PRIMARY KEY,
    open INTEGER NOT NULL,
    votes INTEGER NOT NULL DEFAULT 0,
    extra_votes INTEGER NOT NULL DEFAULT 0,
    claimed INTEGER NOT NULL DEFAULT 0,
    content INTEGER NOT NULL,
    lane INTEGER NOT NULL DEFAULT 0,
    repeatable INTEGER NOT NULL DEFAULT 0,
    for_judges INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX item_open ON item (item_id) WHERE open > 0`,
  `CREATE INDEX item_of_content ON item (content, item_id)`,
  `CREATE TABLE returned_item (n INTEGER PRIMARY KEY AUTOINCREMENT, item_id INTEGER NOT NULL UNIQUE)`,
  // Items that a person did not get, because this person had already seen equal items (with the same `content`). The
  // column `items` has the number of equal items that the person had seen. If several people did not get the item, the
  // column has the smallest number.
  `CREATE TABLE deferred_item (item_id INTEGER PRIMARY KEY, content INTEGER NOT NULL, items INTEGER NOT NULL)`,
  `CREATE INDEX deferred_item_of_content ON deferred_item (content)`,
  // `items` is the number of items with this content that the person has judged, holds, or has set aside.
  `CREATE TABLE seen_content (
    content INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (content, expert_no)
  ) WITHOUT ROWID`,
  // The tasks that automatic experts are judging, with the number of claimed items and the experts' ids (JSON).
  `CREATE TABLE claim (seq INTEGER PRIMARY KEY, items INTEGER NOT NULL, experts TEXT NOT NULL)`,

  // If `away` is 1, the expert was not seen for long, or cannot judge now. Items do not wait for a vote of this expert.
  `CREATE TABLE expert (
    expert_no INTEGER PRIMARY KEY,
    expert_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    away INTEGER NOT NULL DEFAULT 0,
    judged INTEGER NOT NULL DEFAULT 0,
    agreed INTEGER NOT NULL DEFAULT 0,
    compared INTEGER NOT NULL DEFAULT 0,
    gold_right INTEGER NOT NULL DEFAULT 0,
    gold_judged INTEGER NOT NULL DEFAULT 0,
    day INTEGER NOT NULL DEFAULT 0,
    judged_on_day INTEGER NOT NULL DEFAULT 0,
    item_cursor INTEGER NOT NULL DEFAULT 0,
    returned_cursor INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX expert_awaited ON expert (kind, expert_no) WHERE active = 1 AND away = 0`,
  // A hold reserves an item for a person until `held_until`, which is null after the hold has ended. The row stays,
  // with the order of the completions and the person's draft. Of a person's held items, the one with the highest `turn`
  // is shown first. If the person undid a vote on the item, `undone` is the vote's number; otherwise, `undone` is 0.
  `CREATE TABLE hold (
    item_id INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    held_until INTEGER,
    turn INTEGER NOT NULL,
    shown_at INTEGER NOT NULL,
    shown_order TEXT NOT NULL,
    draft TEXT,
    undone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (item_id, expert_no)
  ) WITHOUT ROWID`,
  `CREATE INDEX hold_of_expert ON hold (expert_no, turn) WHERE held_until IS NOT NULL`,
  `CREATE INDEX hold_until ON hold (held_until) WHERE held_until IS NOT NULL`,
  `CREATE TABLE set_aside (
    item_id INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (item_id, expert_no)
  ) WITHOUT ROWID`,
  // A flag is part of the result, and stays when the item returns to the queue.
  `CREATE TABLE flag (
    item_id INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    kind TEXT NOT NULL,
    comment TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (item_id, expert_no)
  ) WITHOUT ROWID`,
  // AUTOINCREMENT never reuses an `n` whose vote has moved to `voided_vote`. `shown_at` is null for automatic experts.
  `CREATE TABLE vote (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    ${voteColumns},
    agreed INTEGER
  )`,
  // Valid votes by day (UTC), so that reports need not read all votes.
  `CREATE TABLE vote_day (
    day INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    votes INTEGER NOT NULL,
    agreed INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    PRIMARY KEY (day, expert_no)
  ) WITHOUT ROWID`,
  `CREATE INDEX vote_day_of_expert ON vote_day (expert_no, day)`,
  voteDays("INSERT", "1", "NEW"),
  voteDays("DELETE", "-1", "OLD"),
  `CREATE TRIGGER vote_day_compared AFTER UPDATE OF agreed ON vote BEGIN
    UPDATE vote_day SET agreed = agreed + COALESCE(NEW.agreed, 0) - COALESCE(OLD.agreed, 0),
      compared = compared + (NEW.agreed IS NOT NULL) - (OLD.agreed IS NOT NULL)
    WHERE day = NEW.given_at / ${millisOfDay} AND expert_no = NEW.expert_no;
  END`,
  `CREATE UNIQUE INDEX vote_on_item ON vote (item_id, expert_no)`,
  `CREATE INDEX vote_with_flags ON vote (item_id) WHERE json_array_length(body, '$.flags') > 0`,
  `CREATE VIEW flagged_item AS SELECT item_id FROM flag
    UNION ALL SELECT item_id FROM vote WHERE json_array_length(body, '$.flags') > 0`,
  `CREATE INDEX vote_of_expert ON vote (expert_no)`,

  `CREATE INDEX item_open_in_lane ON item (lane, item_id) WHERE open > 0 AND lane > 0`,
  // If `assigned` is 1, only the experts in `lane_expert` may judge the group.
  `CREATE TABLE lane (
    lane INTEGER PRIMARY KEY AUTOINCREMENT,
    organization TEXT NOT NULL,
    group_id TEXT NOT NULL,
    priority INTEGER NOT NULL,
    assigned INTEGER NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    UNIQUE (organization, group_id)
  )`,
  `CREATE TABLE lane_expert (
    lane INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    PRIMARY KEY (lane, expert_no)
  ) WITHOUT ROWID`,
  // The cursors of lane 0 are in the table `expert`. This table has the cursors of all other lanes.
  `CREATE TABLE lane_cursor (
    expert_no INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    item_cursor INTEGER NOT NULL,
    returned_cursor INTEGER NOT NULL,
    PRIMARY KEY (expert_no, lane)
  ) WITHOUT ROWID`,
]

/**
 * Migration: lanes of the queue, one for each group of tasks that is paused, or has a priority or experts of its own.
 *
 * Guarantees: items of all other groups are in lane 0, which needs no rows and no index beyond those that it has.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const addLanes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE item ADD COLUMN lane INTEGER NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX item_open_in_lane ON item (lane, item_id) WHERE open > 0 AND lane > 0`
  // assigned: whether the group is for the experts of lane_expert alone. paused: whether nobody gets any of it.
  yield* sql`CREATE TABLE lane (
    lane INTEGER PRIMARY KEY AUTOINCREMENT,
    organization TEXT NOT NULL,
    group_id TEXT NOT NULL,
    priority INTEGER NOT NULL,
    assigned INTEGER NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    UNIQUE (organization, group_id)
  )`
  yield* sql`CREATE TABLE lane_expert (
    lane INTEGER NOT NULL,
    expert_no INTEGER NOT NULL,
    PRIMARY KEY (lane, expert_no)
  ) WITHOUT ROWID`
  // How far an expert got in a lane but lane 0, whose cursors are the expert's own.
  yield* sql`CREATE TABLE lane_cursor (
    expert_no INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    item_cursor INTEGER NOT NULL,
    returned_cursor INTEGER NOT NULL,
    PRIMARY KEY (expert_no, lane)
  ) WITHOUT ROWID`
})

/**
 * Migration: lanes of the queue. A group of tasks has its own lane if it is paused, has a priority other than normal,
 * or is for certain experts only.
 *
 * Guarantees: items of all other groups are in lane 0, which needs no rows here and no further index.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const addLanes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE item ADD COLUMN lane INTEGER NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX item_open_in_lane ON item (lane, item_id) WHERE open > 0 AND lane > 0`
  // assigned: whether only the experts in lane_expert may judge the group. paused: whether nobody gets items of the
  // group.
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
  // An expert's position in a lane other than 0. The row of the expert has the cursors of lane 0.
  yield* sql`CREATE TABLE lane_cursor (
    expert_no INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    item_cursor INTEGER NOT NULL,
    returned_cursor INTEGER NOT NULL,
    PRIMARY KEY (expert_no, lane)
  ) WITHOUT ROWID`
})

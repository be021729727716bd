/**
 * Lanes, the parts of the queue. A group has its own lane if it is paused, has a priority, or has assigned experts. All
 * other groups share lane 0. People get items of higher priority first, then the oldest. Lanes do not order the work of
 * automatic experts. Finding an expert's lanes takes time in proportion to the number of lanes.
 */
import { Effect, Struct } from "effect"
import { Database } from "../database/Database.ts"
import type * as EqualItems from "./EqualItems.ts"
import { itemIdOf, itemsOf } from "../database/TaskTables.ts"
import type { GroupQuery, GroupSummary, Priority } from "../pageApi/GroupsApi.ts"
import { priorities } from "../pageApi/PageConstants.ts"

export interface Lane {
  readonly lane: number
  readonly priority: number
  readonly item_cursor: number
  readonly returned_cursor: number
}

export interface GroupSettings {
  readonly groupId: string
  readonly priority: Priority
  readonly experts: ReadonlyArray<string> | undefined
}

const maxListed = 200
const maxAlone = 50

const normal = priorities.indexOf("normal")
const numberOf = (priority: Priority): number => normal - priorities.indexOf(priority)
const priorityOf = (n: number): Priority => priorities[normal - n]!

/** A group, or a task without a group. `lane` is null for lane 0, which has no row in the table `lane`. */
export interface LaneRow extends Omit<GroupSummary, "priority" | "assigned" | "paused" | "waiting"> {
  readonly lane: number | null
  readonly priority: number
  readonly assigned: number
  readonly paused: number
}

/** Callers run a change inside one `Database.write`, together with the reads on which the change depends. */
export const make = Effect.fnUntraced(function* ({ waiting }: Pick<Effect.Success<typeof EqualItems.make>, "waiting">) {
  const { sql } = yield* Database

  const openTo = (expertNo: number) => sql<Lane>`
    SELECT lane.lane, priority, COALESCE(item_cursor, 0) AS item_cursor, COALESCE(returned_cursor, 0) AS returned_cursor
    FROM lane LEFT JOIN lane_cursor ON lane_cursor.lane = lane.lane AND lane_cursor.expert_no = ${expertNo}
    WHERE paused = 0 AND (assigned = 0 OR EXISTS (
        SELECT 1 FROM lane_expert WHERE lane_expert.lane = lane.lane AND lane_expert.expert_no = ${expertNo}))
      AND EXISTS (SELECT 1 FROM item INDEXED BY item_open_in_lane
        WHERE item.lane = lane.lane AND item.lane > 0 AND item.open > 0)`

  const laneOf = (organization: string, groupId: string) =>
    Effect.map(
      sql<{ lane: number; priority: number; assigned: number; paused: number }>`
        SELECT lane, priority, assigned, paused FROM lane WHERE organization = ${organization} AND group_id = ${groupId}`,
      ([lane]) => lane,
    )

  /** Returns the numbers of the experts who may judge the group, or undefined if all experts may. */
  const assignedTo = Effect.fnUntraced(function* (organization: string, groupId: string) {
    const lane = yield* laneOf(organization, groupId)
    if (lane?.paused === 1) return new Set<number>()
    if (lane === undefined || lane.assigned === 0) return undefined
    const rows = yield* sql<{ expert_no: number }>`SELECT expert_no FROM lane_expert WHERE lane = ${lane.lane}`
    return new Set(rows.map((row) => row.expert_no))
  })

  const tasksOf = Effect.fnUntraced(function* (groupId: string) {
    const [group] = yield* sql<{ organization: string }>`
      SELECT organization FROM task_group WHERE group_id = ${groupId}
      UNION ALL SELECT organization FROM task WHERE task_id = ${groupId} AND group_id = ${groupId} LIMIT 1`
    if (group === undefined) return undefined
    const { organization } = group
    const rows = yield* sql<{ seq: number }>`
      SELECT seq FROM task WHERE organization = ${organization} AND group_id = ${groupId} AND group_id <> task_id
        AND status IN ('pending', 'in_progress')
      UNION ALL SELECT seq FROM task WHERE task_id = ${groupId} AND group_id = ${groupId}
        AND status IN ('pending', 'in_progress')`
    return { organization, tasks: rows.map(({ seq }) => seq) }
  })

  const move = Effect.fnUntraced(function* (tasks: ReadonlyArray<number>, lane: number) {
    for (const seq of tasks) {
      yield* sql`UPDATE item SET lane = ${lane} WHERE ${itemsOf(sql, seq)}`
    }
    // In lane 0, the cursors of people may already be past these items. `returned_item` offers the items again.
    if (lane > 0) return
    for (const seq of tasks) {
      yield* sql`INSERT OR REPLACE INTO returned_item (item_id) SELECT item_id FROM item
        WHERE ${itemsOf(sql, seq)} AND open > 0 ORDER BY item_id`
    }
  })

  /** Moves a reopened task to its group's current lane. The lane may have changed while the task was closed. */
  const rejoin = Effect.fnUntraced(function* (task: {
    readonly organization: string
    readonly group_id: string
    readonly seq: number
  }) {
    const lane = yield* laneOf(task.organization, task.group_id)
    yield* sql`UPDATE item SET lane = ${lane?.lane ?? 0}
      WHERE ${itemsOf(sql, task.seq)}`
  })

  const leave = Effect.fnUntraced(function* (lane: number, tasks: ReadonlyArray<number>) {
    yield* sql`DELETE FROM lane WHERE lane = ${lane}`
    yield* sql`DELETE FROM lane_cursor WHERE lane = ${lane}`
    yield* move(tasks, 0)
  })

  const pause = Effect.fnUntraced(function* (
    group_id: string,
    { organization, tasks }: { readonly organization: string; readonly tasks: ReadonlyArray<number> },
    isPaused: boolean,
  ) {
    const before = yield* laneOf(organization, group_id)
    if ((before?.paused === 1) === isPaused) return false
    const paused = isPaused ? 1 : 0
    if (before === undefined) {
      const row = { organization, group_id, priority: numberOf("normal"), assigned: 0, paused }
      const [lane] = yield* sql<{ lane: number }>`INSERT INTO lane ${sql.insert(row)} RETURNING lane`
      yield* move(tasks, lane!.lane)
    } else if (!isPaused && before.priority === numberOf("normal") && before.assigned === 0) {
      yield* leave(before.lane, tasks)
    } else {
      yield* sql`UPDATE lane SET paused = ${paused} WHERE lane = ${before.lane}`
    }
    return true
  })

  const set = Effect.fnUntraced(function* (
    { groupId: group_id, priority }: GroupSettings,
    { organization, tasks }: { readonly organization: string; readonly tasks: ReadonlyArray<number> },
    experts: ReadonlyArray<number> | undefined,
  ) {
    const before = yield* laneOf(organization, group_id)
    if (before !== undefined) yield* sql`DELETE FROM lane_expert WHERE lane = ${before.lane}`
    if (priority === "normal" && experts === undefined && before?.paused !== 1) {
      if (before !== undefined) yield* leave(before.lane, tasks)
      return
    }
    const row = { organization, group_id, priority: numberOf(priority), assigned: experts === undefined ? 0 : 1 }
    const [lane] = yield* sql<{ lane: number }>`INSERT INTO lane ${sql.insert(row)}
      ON CONFLICT (organization, group_id) DO UPDATE SET priority = excluded.priority, assigned = excluded.assigned
      RETURNING lane`
    for (const expert_no of experts ?? []) {
      yield* sql`INSERT INTO lane_expert ${sql.insert({ lane: lane!.lane, expert_no })}`
    }
    if (before === undefined) yield* move(tasks, lane!.lane)
  })

  const summarize = Effect.fnUntraced(function* <A extends LaneRow>(rows: ReadonlyArray<A>) {
    const lanes = JSON.stringify(rows.flatMap(({ assigned, lane }) => (assigned === 1 && lane !== null ? [lane] : [])))
    const experts = yield* sql<{ lane: number; expert_id: string; name: string }>`
      SELECT lane, expert_id, name FROM lane_expert JOIN expert USING (expert_no)
      WHERE lane IN (SELECT value FROM json_each(${lanes})) ORDER BY lane, expert_no`
    const waitingByTask = [...(yield* waiting)]
    const tasks = yield* sql<{
      seq: number
      group_id: string
      voters: string | null
    }>`SELECT seq, group_id, voters FROM task
      WHERE seq IN (SELECT value FROM json_each(${JSON.stringify(waitingByTask.map(([seq]) => seq))}))`
    const taskOf = new Map(tasks.map((task) => [task.seq, task]))
    const waitingIn = (group: string, forJudges: boolean) =>
      waitingByTask.reduce((sum, [seq, items]) => {
        const task = taskOf.get(seq)
        return task?.group_id === group && (task.voters === "judges") === forJudges ? sum + items : sum
      }, 0)
    return rows.map(({ assigned, lane, paused, priority, ...group }) => ({
      ...group,
      waiting: waitingIn(group.group_id, false),
      waiting_for_judges: waitingIn(group.group_id, true),
      priority: priorityOf(priority),
      paused: paused === 1,
      assigned:
        assigned === 0
          ? null
          : experts.flatMap((expert) =>
              expert.lane === lane ? [{ expert_id: expert.expert_id, name: expert.name }] : [],
            ),
    }))
  })

  const ofLane = sql.literal(`lane.lane, COALESCE(priority, 0) AS priority, COALESCE(assigned, 0) AS assigned,
    COALESCE(paused, 0) AS paused`)

  const list = Effect.fnUntraced(function* ({ after = 0 }: GroupQuery = {}) {
    const groups = yield* sql<LaneRow>`
      SELECT task_group.group_id, ${ofLane}, open AS tasks, votes, votes_needed,
        (SELECT created_at FROM task WHERE seq = first_open) AS created_at
      FROM (SELECT organization, group_id FROM lane UNION
          SELECT * FROM (SELECT organization, group_id FROM task_group INDEXED BY task_group_open
            WHERE first_open IS NOT NULL ORDER BY first_open LIMIT ${maxListed})) AS listed
        CROSS JOIN task_group USING (organization, group_id) LEFT JOIN lane USING (organization, group_id)
      WHERE first_open IS NOT NULL ORDER BY priority DESC, first_open LIMIT ${maxListed}`
    const alone = yield* sql<LaneRow & { readonly seq: number; readonly prompt: string }>`
      SELECT task.seq, task.group_id, ${ofLane}, 1 AS tasks, votes_given AS votes,
        prompts * votes_required + extra_votes - votes_spared AS votes_needed, created_at,
        COALESCE((SELECT prompt FROM item_text WHERE item_id = task.seq * ${itemIdOf(1, 0)}), '') AS prompt
      FROM (SELECT task.seq FROM lane CROSS JOIN task ON task_id = lane.group_id AND task.group_id = task_id
            AND task.organization = lane.organization AND status IN ('pending', 'in_progress')
          WHERE ${after} = 0
          UNION SELECT * FROM (SELECT seq FROM task INDEXED BY task_open_alone
            WHERE group_id = task_id AND status IN ('pending', 'in_progress') AND seq > ${after}
              AND NOT EXISTS (SELECT 1 FROM lane WHERE lane.organization = task.organization AND lane.group_id = task.group_id)
            ORDER BY seq LIMIT ${maxAlone + 1})) AS listed
        CROSS JOIN task USING (seq)
        LEFT JOIN lane ON lane.organization = task.organization AND lane.group_id = task.group_id
      ORDER BY priority DESC, seq`
    const others = alone.filter(({ lane }) => lane === null)
    const next = others.length > maxAlone ? others[maxAlone - 1]!.seq : null
    const tasks = alone.filter(({ lane, seq }) => lane !== null || next === null || seq <= next)
    return {
      groups: yield* summarize(groups),
      tasks: (yield* summarize(tasks)).map(Struct.omit(["seq"])),
      next,
    }
  }, Effect.withSpan("VoteQueue.groups"))

  return { openTo, laneOf, assignedTo, tasksOf, set, pause, rejoin, list }
})

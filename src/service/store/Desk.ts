/**
 * Changes that managers make: decisions, withdrawn prompts, additional votes, and voided votes. For each task, one
 * commit stores the change, the new published result, and the webhook event. If a prompt then has neither a vote nor
 * a decision, the published result is deleted. Votes are never deleted. If a crash interrupts voiding or restoring the
 * votes of an expert, a manager can repeat the action for the remaining votes.
 */
/* oxlint-disable max-lines -- one state machine: each change of votes or decisions completes or reopens tasks by the same rules */
import { Clock, Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Webhooks } from "../webhook/Webhooks.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { itemIdOf, itemsOf, seqOf, toStorableText } from "../database/TaskTables.ts"
import { type Conflict, type NotFound, conflict, notFound } from "../pageApi/WebProblems.ts"
import * as DeskReports from "./DeskReports.ts"
import * as VoteExport from "./VoteExport.ts"
import { TaskRequests } from "./TaskRequests.ts"
import { VoteQueue } from "./VoteQueue.ts"
import * as Voting from "./Voting.ts"

export interface Judgment {
  readonly taskId: string
  readonly promptIndex: number
  readonly choice: number
  readonly rationale: string
  readonly operator: string
  /** If true, `decide` fails if the prompt already has a decision. Otherwise, `decide` replaces the decision. */
  readonly undecided?: boolean
}

const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const queue = yield* VoteQueue
  const requests = yield* TaskRequests
  const voting = yield* Voting.make({})

  const { taskBy } = voting

  const recountItem = (task: Voting.Task, itemId: number) => {
    const votes = sql`(SELECT COUNT(*) FROM vote WHERE vote.item_id = item.item_id)`
    const holds = sql`(SELECT COUNT(*) FROM hold WHERE hold.item_id = item.item_id AND held_until IS NOT NULL)`
    const isClosed = sql`(${task.status === "cancelled" ? 1 : 0} OR
      EXISTS (SELECT 1 FROM decision WHERE decision.item_id = item.item_id))`
    const required = sql`${task.votes_required} + extra_votes`
    return sql<{ open: number; votes: number; isDone: number }>`UPDATE item SET votes = ${votes},
      open = CASE WHEN ${isClosed} THEN 0 ELSE MAX(0, ${required} - ${votes} - claimed - ${holds}) END
      WHERE item_id = ${itemId} RETURNING open, votes, votes = ${required} OR
      EXISTS (SELECT 1 FROM decision WHERE decision.item_id = item.item_id AND choice IS NOT NULL) AS "isDone"`
  }

  const reopen = Effect.fnUntraced(function* ({ group_id, organization, seq, task_id }: Voting.Task) {
    yield* sql`UPDATE task SET status = 'in_progress', finished_at = NULL WHERE seq = ${seq}`
    yield* voting.lanes.rejoin({ organization, group_id, seq })
    if (group_id === task_id) return
    yield* sql`UPDATE task_group SET open = open + 1 WHERE organization = ${organization} AND group_id = ${group_id}`
    yield* voting.withdraw(organization, group_id)
  })

  /** Call `voting.uncompare` for each of `itemIds` first. Otherwise, the agreement on these items is counted twice. */
  const settle = Effect.fnUntraced(function* (
    task: Voting.Task,
    itemIds: ReadonlyArray<number>,
    now: number,
    /** Set this if only the number of required votes changed. `settle` then keeps the published result. */
    asksOnly = false,
  ) {
    const { seq, status } = task
    const open: Array<number> = []
    for (const itemId of itemIds) {
      const [item] = yield* recountItem(task, itemId)
      if (item!.open > 0) open.push(itemId)
      // The votes on an unfinished item are compared later, when `voting.give` stores the item's last vote.
      if (item!.votes > 1 && item!.isDone === 1) yield* voting.compare(task, itemId)
    }
    if (open.length > 0) {
      yield* voting.putBack(open)
      queue.reconsider(open)
    }
    const [counts] = yield* sql<{ done: number; votes: number; answered: number; decided: number }>`
      SELECT COUNT(*) FILTER (WHERE votes = ${task.votes_required} + extra_votes OR decision.item_id IS NOT NULL) AS done,
        SUM(votes) AS votes, COUNT(*) FILTER (WHERE votes > 0 OR votes = ${task.votes_required} + extra_votes
          OR decision.item_id IS NOT NULL) AS answered,
        COUNT(decision.item_id) AS decided
      FROM item LEFT JOIN decision USING (item_id) WHERE ${itemsOf(sql, seq)}`
    const { answered, decided, done, votes } = counts!
    yield* sql`UPDATE task SET votes_given = ${votes}, prompts_done = ${done} WHERE seq = ${seq}`
    if (status === "cancelled") return "same" as const
    const results = yield* sql`SELECT 1 FROM task_result WHERE seq = ${seq}`
    const event = { organization: task.organization, groupId: task.group_id, taskIds: [task.task_id] }

    if (done === task.prompts && status !== "completed") {
      // Until `completes_at`, people can undo votes. At that time, `VoteQueue` completes the task.
      if (task.completes_at !== null) return "same" as const
      const whole = yield* voting.openTask(seq)
      yield* voting.complete(whole!, sql`status = 'completed'`, now)
      return "completed" as const
    }
    if (done < task.prompts) {
      if (status === "completed") yield* reopen(task)
      else if (status === "pending" && votes + decided > 0) {
        yield* sql`UPDATE task SET status = 'in_progress' WHERE seq = ${seq}`
      }
      yield* sql`UPDATE task SET completes_at = NULL WHERE seq = ${seq}`
    }
    if (results.length === 0 || asksOnly) return "same" as const
    if (answered === task.prompts) {
      yield* voting.writeAnswer(task)
      yield* voting.enqueue(event)
    } else {
      yield* sql`DELETE FROM task_result WHERE seq = ${seq}`
      yield* voting.enqueue({ ...event, type: "task_group.reopened" })
    }
    return done < task.prompts ? ("reopened" as const) : ("changed" as const)
  })

  const change = <A, E = never>(statements: Effect.Effect<A, E | SqlError>) =>
    voting.writeEnding(statements, () => true)

  type Change<A> = Effect.fn.Return<A, NotFound | Conflict | SqlError>

  const changeTask = <A>(taskId: string, statements: (task: Voting.Task, now: number) => Change<A>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      change(
        Effect.gen(function* (): Change<A> {
          const task = yield* taskBy(sql`task_id = ${taskId}`)
          if (task === undefined) return yield* notFound(`There is no task ${taskId}.`)
          return yield* statements(task, now)
        }),
      ),
    )

  const changeDecision = (
    taskId: string,
    promptIndex: number,
    action: string,
    statements: (task: Voting.Task, itemId: number, now: number) => Change<Audit.Details>,
  ) =>
    changeTask(taskId, function* (task, now) {
      if (promptIndex < 0 || promptIndex >= task.prompts) {
        return yield* notFound(`The task has no prompt ${promptIndex}.`)
      }
      const itemId = itemIdOf(task.seq, promptIndex)
      const details = yield* statements(task, itemId, now)
      yield* voting.uncompare(itemId)
      yield* settle(task, [itemId], now)
      return yield* Audit.record(sql, action, taskId, { prompt: promptIndex + 1, ...details })
    })

  const decisionOn = (itemId: number) =>
    Effect.map(
      sql<{ choice: number | null; operator: string }>`SELECT choice, operator FROM decision WHERE item_id = ${itemId}`,
      (rows) => rows[0],
    )

  const decide = Effect.fn("Desk.decide")(({ choice, operator, promptIndex, rationale, taskId, undecided }: Judgment) =>
    changeDecision(taskId, promptIndex, "item.decide", function* (task, itemId, now) {
      const { prompts } = yield* requests.of(task.seq)
      if (choice < 0 || choice >= prompts[promptIndex]!.completions.length) {
        return yield* notFound(`The prompt has no completion ${choice}.`)
      }
      if (task.status === "cancelled") return yield* conflict("The task is cancelled.")
      const earlier = yield* decisionOn(itemId)
      if (earlier?.choice === null) return yield* conflict("The prompt is withdrawn. Restore it first.")
      if (earlier !== undefined && undecided === true) {
        return yield* conflict(`${earlier.operator} has already decided this prompt.`)
      }
      const busy = yield* sql`SELECT 1 FROM item WHERE item_id = ${itemId} AND (claimed > 0 OR EXISTS
          (SELECT 1 FROM hold WHERE hold.item_id = item.item_id AND held_until IS NOT NULL))`
      if (busy.length > 0) return yield* conflict("An expert is judging this prompt now. Decide it later.")
      const values = { item_id: itemId, choice, rationale: toStorableText(rationale), operator, at: now }
      yield* sql`INSERT OR REPLACE INTO decision ${sql.insert(values)}`
      return { completion: choice + 1, rationale }
    }),
  )

  const withdrawPrompt = Effect.fn("Desk.withdrawPrompt")(
    (taskId: string, promptIndex: number, reason: string, operator: string) =>
      changeDecision(taskId, promptIndex, "item.withdraw", function* (task, itemId, now) {
        if (task.status === "cancelled") return yield* conflict("The task is cancelled.")
        const decision = yield* decisionOn(itemId)
        if (decision !== undefined) {
          return yield* conflict(
            decision.choice === null
              ? "The prompt is already withdrawn."
              : "A lead has decided this prompt. Withdraw the decision first.",
          )
        }
        const claimed = yield* sql`SELECT 1 FROM item WHERE item_id = ${itemId} AND claimed > 0`
        if (claimed.length > 0) {
          return yield* conflict("An automatic expert is judging this prompt now. Withdraw the prompt later.")
        }
        const holds = yield* sql<{ item_id: number; expert_no: number }>`UPDATE hold SET held_until = NULL
            WHERE item_id = ${itemId} AND held_until IS NOT NULL RETURNING item_id, expert_no`
        yield* voting.equalItems.unmarkSeen(holds)
        const values = { item_id: itemId, choice: null, rationale: toStorableText(reason), operator, at: now }
        yield* sql`INSERT INTO decision ${sql.insert(values)}`
        return { reason }
      }),
  )

  const deleteDecision = (
    taskId: string,
    promptIndex: number,
    action: string,
    condition: Statement.Fragment,
    problem: string,
  ) =>
    changeDecision(taskId, promptIndex, action, function* (_task, itemId) {
      const deleted = yield* sql`DELETE FROM decision WHERE item_id = ${itemId} AND ${condition} RETURNING item_id`
      return deleted.length === 0 ? yield* conflict(problem) : {}
    })

  const withdrawDecision = Effect.fn("Desk.withdrawDecision")(
    (taskId: string, promptIndex: number, operator?: string) =>
      deleteDecision(
        taskId,
        promptIndex,
        "item.withdraw-decision",
        operator === undefined ? sql`choice IS NOT NULL` : sql`choice IS NOT NULL AND operator = ${operator}`,
        operator === undefined
          ? "Nobody has decided this prompt."
          : "Your decision on this prompt no longer exists: another lead has replaced or withdrawn it.",
      ),
  )

  const restorePrompt = Effect.fn("Desk.restorePrompt")((taskId: string, promptIndex: number) =>
    deleteDecision(taskId, promptIndex, "item.restore", sql`choice IS NULL`, "The prompt is not withdrawn."),
  )

  /** Changes the number of votes that each item needs. A negative `votes` means that an item needs fewer votes. */
  const changeNeeds = (
    taskId: string,
    action: string,
    needs: (task: Voting.Task) => Change<ReadonlyArray<{ item_id: number; votes: number }>>,
  ) =>
    changeTask(taskId, function* (task, now) {
      const items = yield* needs(task)
      const votes = items.reduce((sum, item) => sum + item.votes, 0)
      const itemIds = items.map(({ item_id }) => item_id)
      for (const itemId of itemIds) yield* voting.uncompare(itemId)
      yield* sql`UPDATE task SET extra_votes = extra_votes + ${votes} WHERE seq = ${task.seq}`
      yield* settle({ ...task, extra_votes: task.extra_votes + votes }, itemIds, now, true)
      yield* Audit.record(sql, action, taskId, { prompts: items.length, votes: Math.abs(votes) })
      return items.length
    })

  /** The published result stays until the task has all the additional votes. */
  const reopenTask = Effect.fn("Desk.reopen")(
    (taskId: string, votes: number, promptIndices: ReadonlyArray<number> | undefined) =>
      changeNeeds(taskId, "task.reopen", function* ({ seq, status }) {
        if (status === "cancelled") return yield* conflict("The task is cancelled.")
        // For a `pending` task, `AutomaticQueue` ignores `extra_votes`, so a `pending` task must not have extra votes.
        if (status === "pending")
          return yield* conflict("Nobody has judged the task yet: all its votes are still open.")
        const chosen = JSON.stringify(promptIndices?.map((index) => itemIdOf(seq, index)) ?? [])
        const items = yield* sql<{
          item_id: number
          votes: number
        }>`UPDATE item SET extra_votes = extra_votes + ${votes}
            WHERE ${itemsOf(sql, seq)}
            AND (${promptIndices === undefined ? 1 : 0} OR item_id IN (SELECT value FROM json_each(${chosen})))
            AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.item_id = item.item_id)
            RETURNING item_id, ${votes} AS votes`
        if (items.length > 0) return items
        return yield* conflict(
          "No votes can be requested: each of these prompts has a decision, is withdrawn, or does not exist.",
        )
      }),
  )

  const endReopening = Effect.fn("Desk.endReopening")((taskId: string) =>
    changeNeeds(taskId, "task.end-reopening", function* ({ seq, status }) {
      const open = sql`${itemsOf(sql, seq)} AND extra_votes > 0 AND open > 0`
      const items = yield* sql<{ item_id: number; votes: number }>`
          SELECT item_id, -MIN(extra_votes, open) AS votes FROM item WHERE ${open}`
      if (status !== "in_progress" || items.length === 0) {
        return yield* conflict("The task is not waiting for any additional vote.")
      }
      yield* sql`UPDATE item SET extra_votes = extra_votes - MIN(extra_votes, open) WHERE ${open}`
      return items
    }),
  )

  const changeTasks = Effect.fnUntraced(function* (
    itemIds: ReadonlyArray<number>,
    move: (task: Voting.Task, itemIds: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<number>, SqlError>,
    now: number,
  ) {
    const counts = { votes: 0, tasks: 0, reopened: 0 }
    for (const [seq, items] of Map.groupBy(itemIds, seqOf)) {
      const outcome = yield* change(
        Effect.gen(function* () {
          const task = (yield* taskBy(sql`seq = ${seq}`))!
          const moved = yield* move(task, items)
          return moved.length === 0 ? undefined : { moved, state: yield* settle(task, moved, now) }
        }),
      )
      if (outcome === undefined) continue
      counts.votes += outcome.moved.length
      counts.tasks++
      if (outcome.state === "reopened") counts.reopened++
    }
    return counts
  })

  const count = (
    expertNo: number,
    votes: ReadonlyArray<{ readonly correct: number | null; readonly given_at: number }>,
    sign: number,
  ) => {
    const gold = votes.filter(({ correct }) => correct !== null)
    const right = gold.filter(({ correct }) => correct === 1)
    const days = JSON.stringify(votes.map(({ given_at }) => Voting.dayOf(given_at)))
    return sql`UPDATE expert SET judged = judged + ${sign * votes.length},
      gold_judged = gold_judged + ${sign * gold.length}, gold_right = gold_right + ${sign * right.length},
      judged_on_day = judged_on_day + ${sign} * (SELECT COUNT(*) FROM json_each(${days}) WHERE value = day)
      WHERE expert_no = ${expertNo}`
  }

  const columns = sql.literal("n, item_id, expert_no, choice, body, shown_at, given_at, correct")

  /** Moves votes between `vote` and `voided_vote`. `copy` is the INSERT statement without its FROM clause. */
  const transfer = Effect.fnUntraced(function* (
    expertNo: number,
    from: "vote" | "voided_vote",
    mine: Statement.Fragment,
    copy: Statement.Fragment,
    sign: 1 | -1,
  ) {
    const votes = yield* sql<{ item_id: number; correct: number | null; given_at: number }>`
      SELECT item_id, correct, given_at FROM ${sql(from)} WHERE ${mine}`
    for (const { item_id } of votes) yield* voting.uncompare(item_id)
    yield* sql`${copy} FROM ${sql(from)} WHERE ${mine}`
    yield* sql`DELETE FROM ${sql(from)} WHERE ${mine}`
    yield* count(expertNo, votes, sign)
    return votes.map(({ item_id }) => item_id)
  })

  const voidVotes = Effect.fn("Desk.voidVotes")(function* (expertId: string, reason: string, operator: string) {
    const now = yield* Clock.currentTimeMillis
    const { expertNo, items, voidingId } = yield* change(
      Effect.gen(function* () {
        const [expert] = yield* sql<{ expert_no: number; name: string }>`
          SELECT expert_no, name FROM expert WHERE expert_id = ${expertId}`
        if (expert === undefined) return yield* notFound("There is no such expert.")
        const { expert_no, name } = expert
        const items = yield* sql<{ item_id: number }>`
          SELECT item_id FROM vote INDEXED BY vote_of_expert WHERE expert_no = ${expert_no} ORDER BY item_id`
        if (items.length === 0) return yield* conflict("The expert has no valid votes.")
        const [voiding] = yield* sql<{ voiding_id: number }>`INSERT INTO voiding
          ${sql.insert({ expert_no, reason: toStorableText(reason), operator, at: now })} RETURNING voiding_id`
        yield* Audit.record(sql, "expert.void-votes", expertId, { name, votes: items.length, reason })
        return { expertNo: expert_no, items: items.map(({ item_id }) => item_id), voidingId: voiding!.voiding_id }
      }),
    )
    const move = (_task: Voting.Task, itemIds: ReadonlyArray<number>) => {
      const mine = sql`expert_no = ${expertNo} AND ${sql.in("item_id", itemIds)}`
      const copy = sql`INSERT INTO voided_vote (voiding_id, ${columns}) SELECT ${voidingId}, ${columns}`
      return transfer(expertNo, "vote", mine, copy, -1)
    }
    return { voiding_id: voidingId, ...(yield* changeTasks(items, move, now)) }
  }, Effect.uninterruptible)

  const restoreVotes = Effect.fn("Desk.restoreVotes")(function* (voidingId: number, operator: string) {
    const now = yield* Clock.currentTimeMillis
    const { expertNo, items } = yield* change(
      Effect.gen(function* () {
        const [voiding] = yield* sql<{ expert_no: number; expert_id: string; name: string }>`
          SELECT expert_no, expert_id, name FROM voiding JOIN expert USING (expert_no) WHERE voiding_id = ${voidingId}`
        if (voiding === undefined) return yield* notFound("There are no such void votes.")
        const items = yield* sql<{ item_id: number }>`
          SELECT item_id FROM voided_vote WHERE voiding_id = ${voidingId} ORDER BY item_id`
        if (items.length === 0) return yield* conflict("These votes have already been restored.")
        yield* sql`UPDATE voiding SET undone_by = ${operator}, undone_at = ${now} WHERE voiding_id = ${voidingId}`
        yield* Audit.record(sql, "expert.restore-votes", voiding.expert_id, { name: voiding.name, votes: items.length })
        return { expertNo: voiding.expert_no, items: items.map(({ item_id }) => item_id) }
      }),
    )
    const move = (task: Voting.Task, itemIds: ReadonlyArray<number>) => {
      // A vote stays void if the item has enough votes, or if enough other experts are judging the item now.
      const mine = sql`voiding_id = ${voidingId} AND item_id IN (
        SELECT item.item_id FROM item WHERE ${sql.in("item.item_id", itemIds)} AND (open > 0 OR (claimed = 0
          AND votes < ${task.votes_required} + extra_votes
          AND NOT EXISTS (SELECT 1 FROM hold WHERE hold.item_id = item.item_id AND held_until IS NOT NULL))))`
      return transfer(expertNo, "voided_vote", mine, sql`INSERT INTO vote (${columns}) SELECT ${columns}`, 1)
    }
    return { voiding_id: voidingId, ...(yield* changeTasks(items, move, now)) }
  }, Effect.uninterruptible)

  const { edit: editGuidelines, history: guidelines } = voting.guidelines
  return {
    decide,
    withdrawDecision,
    withdrawPrompt,
    restorePrompt,
    reopen: reopenTask,
    endReopening,
    voidVotes,
    restoreVotes,
    guidelines,
    editGuidelines,
    ...(yield* DeskReports.make),
    ...(yield* VoteExport.make),
  }
})

export class Desk extends Context.Service<Desk, Effect.Success<typeof make>>()("prefstream/service/Desk") {
  static readonly layer: Layer.Layer<Desk, SqlError, Database | VoteQueue | Webhooks> = Layer.effect(Desk, make).pipe(
    Layer.provide(TaskRequests.layer),
  )
}

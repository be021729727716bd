/**
 * Statements for votes, used inside one `Database.write`. Counters always match the stored votes. A completed task has
 * one result per prompt, in order. A group is complete if it has at least `size` tasks, and all its tasks have ended.
 * Each time a group becomes complete, the group's event is stored.
 */
/* oxlint-disable max-lines -- one state machine, whose transitions share their statements */
import { Cause, Duration, Effect, Latch, Option } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as FullDisk from "../database/FullDisk.ts"
import type { ServiceTaskResult, TaskStatus } from "../../api/AnnotationApi.ts"
import type { Flag, FlagKind } from "../../domain/Flag.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { Voters } from "../../domain/Voters.ts"
import * as Tally from "../../domain/Tally.ts"
import * as VotedResult from "../../domain/VotedResult.ts"
import { Webhooks } from "../webhook/Webhooks.ts"
import * as EqualItems from "./EqualItems.ts"
import * as Decisions from "./Decisions.ts"
import * as GuidelineVersions from "./GuidelineVersions.ts"
import { Database } from "../database/Database.ts"
import * as Lanes from "./Lanes.ts"
import { type RequestedPrompt, TaskRequests } from "./TaskRequests.ts"
import { itemIdOf, itemsOf, lastItemOf, millisOfDay, promptIndexOf, toStorableText } from "../database/TaskTables.ts"

export interface Task {
  readonly seq: number
  readonly task_id: string
  readonly organization: string
  readonly group_id: string
  readonly status: TaskStatus
  readonly prompts: number
  readonly votes_required: number
  readonly voters: Voters | null
  readonly extra_votes: number
  readonly prompts_done: number
  readonly votes_given: number
  readonly has_equal_items: number
  readonly created_at: number
  readonly completes_at: number | null
}

export interface NewVote {
  readonly itemId: number
  readonly expertNo: number
  readonly prompt: TaskPrompt
  readonly vote: Vote
  readonly shownAt: number | null
  /** The time of the vote that this vote corrects, in epoch milliseconds. Absent for a new vote. */
  readonly givenAt?: number
}

export type VoteBody = Omit<Vote, "expert" | "kind" | "choice">

export interface StoredVote {
  readonly n: number
  readonly item_id: number
  readonly expert_no: number
  readonly expert_id: string
  readonly name: string
  readonly expert_kind: string
  readonly choice: number
  readonly body: string
}

const maxCompletedPerWrite = 32

export interface FlagRow {
  readonly item_id: number
  readonly expert_id: string
  readonly name: string
  readonly kind: FlagKind
  readonly comment: string | null
}

export const dayOf = (millis: number): number => Math.floor(millis / millisOfDay)

export const voteOf = ({
  body,
  choice,
  expert_id,
  expert_kind,
}: Pick<StoredVote, "body" | "choice" | "expert_id" | "expert_kind">): Vote => ({
  expert: expert_id,
  kind: expert_kind,
  choice,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `give`
  ...(JSON.parse(body) as VoteBody),
})

export const flagOf = ({ comment, expert_id, kind }: Omit<FlagRow, "name">): Flag => ({
  expert: expert_id,
  kind,
  ...(comment !== null && { comment }),
})

export const storableVote = (vote: Vote): Vote =>
  vote.rationale === undefined && vote.edited === undefined
    ? vote
    : {
        ...vote,
        ...(vote.rationale !== undefined && { rationale: toStorableText(vote.rationale) }),
        ...(vote.edited !== undefined && { edited: toStorableText(vote.edited) }),
      }

export const resultOf = (
  { completions, metadata, prompt }: RequestedPrompt,
  votes: ReadonlyArray<Vote>,
  flags: ReadonlyArray<Flag>,
) => ({
  ...VotedResult.of({ prompt, completions }, votes, flags),
  ...(metadata !== undefined && { metadata }),
})

export interface VotingOptions {
  readonly goldAnswer?: ((prompt: TaskPrompt) => Option.Option<number>) | undefined
  /** How long people can undo the last vote that a task needs. Default 0. */
  readonly undoGrace?: Duration.Input | undefined
}

export const make = Effect.fnUntraced(function* ({ goldAnswer = () => Option.none(), undoGrace }: VotingOptions) {
  const graceMillis = Duration.toMillis(undoGrace ?? 0)
  const completing = yield* Latch.make(false)
  const { sql, write } = yield* Database
  const requests = yield* TaskRequests
  const webhooks = yield* Webhooks
  const equalItems = yield* EqualItems.make
  const lanes = yield* Lanes.make(equalItems)
  const guidelines = yield* GuidelineVersions.make

  /** Runs statements that may end tasks. If a task ends, wakes the webhooks, even if the caller is interrupted. */
  const writeEnding = <A, E = never>(statements: Effect.Effect<A, E | SqlError>, hasEnded: (value: A) => boolean) =>
    Effect.uninterruptible(Effect.tap(write(statements), (value) => (hasEnded(value) ? webhooks.wake : Effect.void)))

  const taskBy = Effect.fnUntraced(function* (condition: Statement.Fragment) {
    const [task] =
      yield* sql<Task>`SELECT seq, task_id, organization, group_id, status, prompts, votes_required, voters,
      extra_votes, prompts_done, votes_given, has_equal_items, created_at, completes_at FROM task WHERE ${condition}`
    return task
  })

  const openTask = (seq: number) => taskBy(sql`seq = ${seq} AND status IN ('pending', 'in_progress')`)

  const votesIn = (table: "vote" | "voided_vote" | "replaced_vote") => (from: number, to: number) =>
    sql<StoredVote>`
    SELECT n, item_id, expert_no, expert_id, name, kind AS expert_kind, choice, body
    FROM ${sql(table)} JOIN expert USING (expert_no) WHERE item_id BETWEEN ${from} AND ${to} ORDER BY item_id, n`
  const votesOn = votesIn("vote")

  const flagsOn = (from: number, to: number) => sql<FlagRow>`
    SELECT flag.item_id, expert.expert_id, expert.name, flag.kind, flag.comment
    FROM flag JOIN expert USING (expert_no) WHERE flag.item_id BETWEEN ${from} AND ${to} ORDER BY flag.item_id, flag.at`

  const decisionsOn = Decisions.readFrom(sql)

  const isCorrect = ({ prompt, vote }: NewVote) =>
    Option.match(goldAnswer(prompt), {
      onNone: () => null,
      // Two completions may have the same text. If one is the gold answer, a vote for the other is also correct.
      onSome: (right) => (prompt.completions[vote.choice] === prompt.completions[right] ? 1 : 0),
    })

  /** Update `item` before this call. `done` lists the items that now have all votes. Returns whether the task ended. */
  const give = Effect.fnUntraced(function* (
    task: Task,
    votes: ReadonlyArray<NewVote>,
    done: ReadonlyArray<number>,
    now: number,
  ) {
    if (votes.length === 0) return false
    const day = dayOf(now)
    const counts = new Map<number, { judged: number; today: number; gold: number; right: number }>()
    const rows = votes.map((newVote) => {
      const { choice, expert: _expert, kind: _kind, ...body } = newVote.vote
      const correct = isCorrect(newVote)
      const count = counts.get(newVote.expertNo) ?? { judged: 0, today: 0, gold: 0, right: 0 }
      const { givenAt = now } = newVote
      counts.set(newVote.expertNo, {
        judged: count.judged + 1,
        today: count.today + (dayOf(givenAt) === day ? 1 : 0),
        gold: count.gold + (correct === null ? 0 : 1),
        right: count.right + (correct ?? 0),
      })
      return [newVote.itemId, newVote.expertNo, choice, newVote.shownAt, givenAt, correct, body]
    })
    yield* sql`
      INSERT INTO vote (item_id, expert_no, choice, shown_at, given_at, correct, body)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value -> 6
      FROM json_each(${JSON.stringify(rows)})`
    for (const [expertNo, { gold, judged, right, today }] of counts) {
      yield* sql`UPDATE expert SET judged = judged + ${judged},
        gold_judged = gold_judged + ${gold}, gold_right = gold_right + ${right},
        day = ${day}, judged_on_day = ${today} + CASE day WHEN ${day} THEN judged_on_day ELSE 0 END
        WHERE expert_no = ${expertNo}`
    }
    if (task.votes_required + task.extra_votes > 1) for (const itemId of done) yield* compare(task, itemId)

    const prompts_done = task.prompts_done + done.length
    const votes_given = task.votes_given + votes.length
    if (prompts_done < task.prompts) {
      yield* sql`UPDATE task SET votes_given = ${votes_given}, prompts_done = ${prompts_done} WHERE seq = ${task.seq}`
      return false
    }
    const counted = sql`votes_given = ${votes_given}, prompts_done = ${prompts_done}`
    const completesAt = (yield* lastPersonAt(task, votes, now)) + graceMillis
    if (completesAt > now) {
      yield* sql`UPDATE task SET ${counted}, completes_at = ${completesAt} WHERE seq = ${task.seq}`
      yield* completing.open
      return false
    }
    // If the task had no votes before, `votes` are all its votes, so they need not be read again.
    yield* complete(task, sql`status = 'completed', ${counted}`, now, task.votes_given === 0 ? votes : undefined)
    return true
  })

  /** Closes items on which nobody can vote anymore. The items keep their votes. Returns whether the task ended. */
  const closeUnanswered = Effect.fnUntraced(function* (seq: number, itemIds: ReadonlyArray<number>, now: number) {
    const task = (yield* openTask(seq))!
    const items = yield* sql<{
      item_id: number
      votes: number
    }>`UPDATE item SET open = 0, extra_votes = extra_votes - open
      WHERE item_id IN (SELECT value FROM json_each(${JSON.stringify(itemIds)})) RETURNING item_id, votes`
    for (const { item_id, votes } of items) if (votes > 1) yield* compare(task, item_id)
    const prompts_done = task.prompts_done + items.length
    const extra = sql`(SELECT SUM(extra_votes) FROM item WHERE ${itemsOf(sql, seq)})`
    const counted = sql`prompts_done = ${prompts_done}, extra_votes = ${extra}`
    if (prompts_done === task.prompts) yield* complete(task, sql`status = 'completed', ${counted}`, now)
    else yield* sql`UPDATE task SET status = 'in_progress', ${counted} WHERE seq = ${seq}`
    return prompts_done === task.prompts
  })

  /** When a person last voted on the task. Only people can undo votes, so automatic experts do not count. */
  const lastPersonAt = Effect.fnUntraced(function* (task: Task, votes: ReadonlyArray<NewVote>, now: number) {
    if (graceMillis === 0) return -Infinity
    if (votes.some(({ shownAt }) => shownAt !== null)) return now
    if (task.votes_given === 0) return -Infinity
    const [last] = yield* sql<{ at: number | null }>`SELECT MAX(given_at) AS at FROM vote INDEXED BY vote_on_item
      WHERE ${itemsOf(sql, task.seq)} AND shown_at IS NOT NULL`
    return last?.at ?? -Infinity
  })

  const complete = Effect.fnUntraced(function* (
    task: Task,
    changes: Statement.Fragment,
    now: number,
    votes?: ReadonlyArray<NewVote>,
  ) {
    const { seq } = task
    yield* writeAnswer(task, votes)
    yield* sql`DELETE FROM hold WHERE ${itemsOf(sql, seq)}`
    yield* finish(task, changes, now)
  })

  const writeAnswer = Effect.fnUntraced(function* (
    task: Pick<Task, "seq" | "task_id">,
    votes?: ReadonlyArray<NewVote>,
  ) {
    const { seq, task_id } = task
    const { metadata } = yield* requests.of(seq)
    const answer: ServiceTaskResult = {
      task_id,
      status: "completed",
      ...(metadata !== undefined && { metadata }),
      results: yield* resultsOf(task, votes),
    }
    yield* sql`INSERT OR REPLACE INTO task_result ${sql.insert({ seq, answer: JSON.stringify(answer) })}`
  })

  /** Completes tasks whose grace time ended. A task that fails is retried later, and does not block the others. */
  const completeDue = Effect.fnUntraced(function* (now: number) {
    const due = yield* sql<{ seq: number }>`
      SELECT seq FROM task INDEXED BY task_completes WHERE completes_at <= ${now}
      ORDER BY completes_at LIMIT ${maxCompletedPerWrite}`
    for (const { seq } of due) {
      const task = yield* openTask(seq)
      if (task === undefined) {
        yield* sql`UPDATE task SET completes_at = NULL WHERE seq = ${seq}`
        continue
      }
      // The transaction is nested, so that a failure rolls back only this task.
      yield* sql.withTransaction(complete(task, sql`status = 'completed'`, now)).pipe(
        Effect.catchCauseIf(
          (cause) => !Cause.hasInterrupts(cause),
          (cause) =>
            Effect.andThen(
              FullDisk.logError(`Task ${task.task_id} could not be completed; trying again in 10 minutes`, cause),
              sql`UPDATE task SET completes_at = ${now + Duration.toMillis("10 minutes")} WHERE seq = ${seq}`,
            ),
        ),
      )
    }
    return due.length
  })

  const nextCompletion = Effect.map(
    sql<{ completes_at: number }>`
      SELECT completes_at FROM task INDEXED BY task_completes WHERE completes_at IS NOT NULL
      ORDER BY completes_at LIMIT 1`,
    (rows) => rows[0]?.completes_at,
  )

  const votersOf = Effect.fnUntraced(function* (seq: number) {
    const [task] = yield* sql<Pick<Task, "voters" | "votes_required">>`
      SELECT voters, votes_required FROM task WHERE seq = ${seq}`
    const { voters, votes_required } = task!
    const kinds =
      voters === null
        ? yield* sql<{ kind: string }>`SELECT DISTINCT kind FROM expert WHERE active = 1 AND away = 0 LIMIT 2`
        : [{ kind: voters === "judges" ? "judge" : "person" }]
    return { votesRequired: votes_required, kind: kinds.length === 1 ? kinds[0]!.kind : undefined }
  })

  const resultsOf = Effect.fnUntraced(function* (
    { seq }: Pick<Task, "seq">,
    all: ReadonlyArray<Pick<NewVote, "itemId" | "vote">> | undefined,
  ) {
    const { prompts } = yield* requests.of(seq)
    const votes: Array<Array<Vote>> = prompts.map(() => [])
    const taskVotes =
      all ??
      (yield* votesOn(itemIdOf(seq, 0), lastItemOf(seq))).map((row) => ({ itemId: row.item_id, vote: voteOf(row) }))
    for (const { itemId, vote } of taskVotes) votes[promptIndexOf(itemId)]!.push(vote)
    const flags: Array<Array<Flag>> = prompts.map(() => [])
    for (const row of yield* flagsOn(itemIdOf(seq, 0), lastItemOf(seq))) {
      flags[promptIndexOf(row.item_id)]!.push(flagOf(row))
    }
    const decisions = yield* decisionsOn(itemIdOf(seq, 0), lastItemOf(seq))
    const { kind, votesRequired } = yield* votersOf(seq)
    return prompts.map((prompt, i) => {
      const decision = decisions.get(itemIdOf(seq, i))
      if (decision === undefined) {
        if (votes[i]!.length === 0) return Decisions.unanswered(prompt, flags[i]!, kind)
        const result = resultOf(prompt, votes[i]!, flags[i]!)
        return votes[i]!.length >= votesRequired || kind === undefined
          ? result
          : { ...result, annotations: { ...result.annotations, kind } }
      }
      if (!Decisions.isChosen(decision)) return Decisions.withdrawn(prompt, decision, flags[i]!)
      return votes[i]!.length === 0
        ? Decisions.resultWithoutVotes(prompt, decision, flags[i]!)
        : Decisions.decided(resultOf(prompt, votes[i]!, flags[i]!), prompt, votes[i]!, decision)
    })
  })

  const compare = Effect.fnUntraced(function* (task: Pick<Task, "seq">, itemId: number) {
    const { prompts } = yield* requests.of(task.seq)
    const rows = yield* votesOn(itemId, itemId)
    const ballots = rows.map(voteOf)
    const { completions } = prompts[promptIndexOf(itemId)]!
    const { agreement } = Tally.tally(completions, ballots)
    if (agreement < 1) yield* sql`INSERT OR REPLACE INTO disputed ${sql.insert({ item_id: itemId, agreement })}`
    for (const [i, agrees] of Tally.agreesWithOthers(completions, ballots).entries()) {
      if (agrees === undefined) continue
      const agreed = agrees ? 1 : 0
      const { expert_no, n } = rows[i]!
      yield* sql`UPDATE vote SET agreed = ${agreed} WHERE n = ${n}`
      yield* sql`UPDATE expert SET compared = compared + 1, agreed = agreed + ${agreed} WHERE expert_no = ${expert_no}`
    }
  })

  const uncompare = Effect.fnUntraced(function* (itemId: number) {
    yield* sql`UPDATE expert SET compared = compared - 1, agreed = expert.agreed - vote.agreed
      FROM vote WHERE vote.expert_no = expert.expert_no AND vote.item_id = ${itemId} AND vote.agreed IS NOT NULL`
    yield* sql`UPDATE vote SET agreed = NULL WHERE item_id = ${itemId}`
    yield* sql`DELETE FROM disputed WHERE item_id = ${itemId}`
  })

  /** Ends a task. If its group is then complete, stores the group's event. The caller releases held items. */
  const finish = Effect.fnUntraced(function* (
    task: Pick<Task, "seq" | "task_id" | "organization" | "group_id">,
    changes: Statement.Fragment,
    now: number,
  ) {
    const { group_id: groupId, organization, seq, task_id } = task
    yield* sql`UPDATE task SET ${changes}, completes_at = NULL, finished_at = ${now} WHERE seq = ${seq}`
    yield* sql`DELETE FROM returned_item WHERE ${itemsOf(sql, seq)}`
    yield* sql`DELETE FROM deferred_item WHERE ${itemsOf(sql, seq)}`
    yield* sql`DELETE FROM claim WHERE seq = ${seq}`
    if (groupId === task_id) return yield* webhooks.enqueue({ organization, groupId, taskIds: [task_id] })

    const groups = yield* sql<{ complete: number; mayGrow: number }>`
      UPDATE task_group SET open = open - 1 WHERE organization = ${organization} AND group_id = ${groupId}
      RETURNING open = 0 AND tasks >= COALESCE(size, 0) AS complete, tasks IS NOT size AS mayGrow`
    // Without a webhook, nobody needs the ids of the group's tasks. Reading them is slow for a large group.
    if (groups[0]?.complete !== 1 || !(yield* webhooks.exists)) return
    const tasks = yield* sql<{ task_id: string }>`
      SELECT task_id FROM task WHERE organization = ${organization} AND group_id = ${groupId} AND group_id <> task_id
      ORDER BY seq`
    const taskIds = tasks.map((row) => row.task_id)
    yield* webhooks.enqueue({ organization, groupId, taskIds, mayGrow: groups[0].mayGrow === 1 })
  })

  const cancel = Effect.fnUntraced(function* (task: Task, unanswered: boolean, now: number) {
    yield* finish(task, sql`status = 'cancelled', unanswered = ${unanswered ? 1 : 0}`, now)
    // A task that was completed and reopened still has its earlier result.
    yield* sql`DELETE FROM task_result WHERE seq = ${task.seq}`
    const items = itemsOf(sql, task.seq)
    yield* sql`UPDATE item SET open = 0, claimed = 0 WHERE ${items}`
    const holds = yield* sql<{ item_id: number; expert_no: number }>`
      UPDATE hold SET held_until = NULL WHERE ${items} AND held_until IS NOT NULL
      RETURNING item_id, expert_no`
    yield* equalItems.unmarkSeen(holds)
    // After the cancellation, people who judged the task's items may judge equal items. For an `unanswered` task, they
    // may not, because the next start of the service reopens the task with their votes.
    if (!unanswered) {
      yield* equalItems.unmarkSeen(
        yield* sql<{ item_id: number; expert_no: number }>`SELECT item_id, expert_no FROM vote WHERE ${items}
          UNION SELECT item_id, expert_no FROM voided_vote WHERE ${items}
          UNION SELECT item_id, expert_no FROM set_aside WHERE ${items}`,
      )
    }
    // An unanswered task keeps its holds. If the task is opened again, people see the completions in the same order.
    if (!unanswered) yield* sql`DELETE FROM hold WHERE ${items}`
  })

  const putBack = (itemIds: ReadonlyArray<number>): Effect.Effect<void, SqlError> =>
    Effect.asVoid(
      sql`INSERT OR REPLACE INTO returned_item (item_id) SELECT value FROM json_each(${JSON.stringify(itemIds)})`,
    )

  return {
    taskBy,
    openTask,
    votesOn,
    voidedOn: votesIn("voided_vote"),
    replacedOn: votesIn("replaced_vote"),
    flagsOn,
    decisionsOn,
    give,
    closeUnanswered,
    compare,
    uncompare,
    complete,
    writeAnswer,
    enqueue: webhooks.enqueue,
    cancel,
    completeDue,
    completing,
    nextCompletion,
    putBack,
    equalItems,
    lanes,
    guidelines,
    requests,
    writeEnding,
    withdraw: webhooks.withdraw,
  }
})

export type Voting = Effect.Success<ReturnType<typeof make>>

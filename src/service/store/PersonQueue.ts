/**
 * The queue for people. Usually, a person holds one item. If the person takes back a vote, the person also holds the
 * item of this vote, and sees this item first. After a hold expires, the person can still vote until `releaseExpired`
 * returns the item to the queue. If the person gets the item again, the draft and the order of completions are kept.
 */
/* oxlint-disable max-lines -- all SQL statements of the queue share conditions */
import { Clock, Duration, Effect, Option, Random, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Guidelines from "../../api/Guidelines.ts"
import * as Conversation from "../../domain/Conversation.ts"
import { none } from "../../domain/Rubric.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { itemIdOf, itemsOf, millisOfDay, promptIndexOf, seqOf, toStorableText } from "../database/TaskTables.ts"
import { Draft, type GivenJudgment, type HeldItem, type Progress, type Submission } from "../pageApi/AnnotateApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import type { GroupSettings } from "./Lanes.ts"
import * as NextItem from "./NextItem.ts"
import * as PersonVotes from "./PersonVotes.ts"
import { Qualification } from "./Qualification.ts"
import type { Standing } from "./Standings.ts"
import { notHeld, type SetAside } from "./VoteQueueModel.ts"
import { dayOf, type Voting } from "./Voting.ts"

interface HoldRow {
  readonly item_id: number
  readonly expert_no: number
  readonly held_until: number
  readonly shown_at: number
  readonly shown_order: string
  readonly draft: string | null
  readonly undone: number
}

const maxReleasedPerWrite = 500
const maxShown = 20

const DraftText = Schema.fromJsonString(Draft)
const encodeDraft = Schema.encodeSync(DraftText)
const decodeDraft = Schema.decodeOption(DraftText)

const turnsOf = (text: string) =>
  Option.getOrNull(
    Option.filter(Conversation.parse(text), (messages) => messages.some(({ tool_calls }) => tool_calls !== undefined)),
  )

const shownOf = ({ completions, prompt }: TaskPrompt, order: ReadonlyArray<number>, draft: string | null) => ({
  prompt,
  turns: Option.getOrNull(Conversation.parse(prompt)),
  completions: order.map((index) => completions[index]!),
  completion_turns: order.map((index) => turnsOf(completions[index]!)),
  draft: draft === null ? null : Option.getOrNull(decodeDraft(draft)),
})

const defaultHold: Duration.Input = "30 minutes"

export const make = Effect.fnUntraced(function* (options: {
  readonly voting: Voting
  readonly hold: Duration.Input | undefined
  /** `PersonQueue` calls this inside the `Database.write` that returns items to the queue. */
  readonly onReturned: (itemIds: Iterable<number>) => void
  /** `PersonQueue` calls this inside the `Database.write` that changes which experts may judge a group. */
  readonly onAssigned: () => void
}) {
  const { sql, write } = yield* Database
  const { voting } = options
  const qualification = yield* Qualification
  const nextOpen = yield* NextItem.make(voting)
  const votes = yield* PersonVotes.make(voting)
  const holdMillis = Duration.toMillis(options.hold ?? defaultHold)

  const giveBack = Effect.fnUntraced(function* (itemIds: ReadonlyArray<number>) {
    if (itemIds.length === 0) return
    for (const itemId of itemIds) yield* sql`UPDATE item SET open = open + 1 WHERE item_id = ${itemId}`
    yield* voting.putBack(itemIds)
    options.onReturned(itemIds)
  })

  const activeExpert = Effect.fnUntraced(function* (expertId: string) {
    const rows = yield* sql<NextItem.ExpertCursors>`
      SELECT expert_no, item_cursor, returned_cursor FROM expert WHERE expert_id = ${expertId} AND active = 1`
    return rows[0]
  })

  const columns = sql.literal("hold.item_id, hold.expert_no, held_until, shown_at, shown_order, draft, undone")

  const heldBy = (expertNo: number) =>
    Effect.map(
      sql<HoldRow>`SELECT ${columns} FROM hold WHERE expert_no = ${expertNo} AND held_until IS NOT NULL
        ORDER BY turn DESC LIMIT 1`,
      (rows) => rows[0],
    )

  const heldItem = Effect.fnUntraced(function* (expertId: string, itemId: number) {
    const [hold] = yield* sql<HoldRow>`SELECT ${columns} FROM hold JOIN expert USING (expert_no)
      WHERE expert_id = ${expertId} AND item_id = ${itemId} AND held_until IS NOT NULL`
    if (hold === undefined) return yield* notHeld()
    return (yield* qualification.standing(hold.expert_no)).state === "working" ? hold : yield* notHeld()
  })

  /** Gives the item to the expert. If the expert has held it before, the earlier order and draft are kept. */
  const take = Effect.fnUntraced(function* (expertNo: number, itemId: number, now: number, random: Random.Random) {
    const seq = seqOf(itemId)
    const { prompts } = yield* voting.requests.of(seq)
    const indices = prompts[promptIndexOf(itemId)]!.completions.keys()
    const order = yield* Effect.provideService(Random.shuffle(indices), Random.Random, random)
    yield* sql`UPDATE item SET open = open - 1 WHERE item_id = ${itemId}`
    yield* sql`UPDATE task SET status = 'in_progress' WHERE seq = ${seq} AND status = 'pending'`
    const rows = yield* sql<HoldRow>`
      INSERT INTO hold ${sql.insert({
        item_id: itemId,
        expert_no: expertNo,
        held_until: now + holdMillis,
        turn: 0,
        shown_at: now,
        shown_order: JSON.stringify(order),
      })}
      ON CONFLICT DO UPDATE SET held_until = excluded.held_until, turn = 0 RETURNING ${columns}`
    yield* voting.equalItems.markSeen(itemId, expertNo)
    const [task] = yield* sql<{ organization: string }>`SELECT organization FROM task WHERE seq = ${seq}`
    yield* voting.guidelines.meet(expertNo, yield* voting.guidelines.current({ ...task!, seq }))
    return rows[0]!
  })

  const show = Effect.fnUntraced(function* (hold: HoldRow) {
    const seq = seqOf(hold.item_id)
    const { prompts } = yield* voting.requests.of(seq)
    const rows = yield* sql<{ task_id: string; organization: string; judged: number }>`
      SELECT task_id, organization, (SELECT COUNT(*) FROM vote INDEXED BY vote_on_item WHERE expert_no = ${hold.expert_no}
        AND ${itemsOf(sql, seq)}) AS judged
      FROM task WHERE seq = ${seq}`
    const promptIndex = promptIndexOf(hold.item_id)
    const { judged, organization, task_id } = rows[0]!
    const guidelines = yield* voting.guidelines.current({ organization, seq })
    return {
      item_id: hold.item_id,
      guidelines: guidelines.text ?? null,
      guidelines_version: guidelines.version,
      guidelines_change: (yield* voting.guidelines.changedFor(hold.expert_no, guidelines)) ?? null,
      rubric: Guidelines.rubricOf(guidelines.sent),
      ...shownOf(prompts[promptIndex]!, orderOf(hold), hold.draft),
      undone: hold.undone > 0,
      corrects: null,
      held_until: hold.held_until,
      qualification: false,
      task: { task_id, prompts: prompts.length, judged, number: promptIndex + 1 },
    } satisfies HeldItem
  })

  const withoutWork = Effect.fnUntraced(function* (
    expertNo: number,
    standing: Standing,
    now: number,
    random: Random.Random,
  ) {
    yield* releaseHolds(sql`expert_no = ${expertNo} AND held_until IS NOT NULL`)
    // A person who cannot judge is marked as away, so that no item waits for that person.
    const away = yield* sql`UPDATE expert SET away = 1 WHERE expert_no = ${expertNo} AND away = 0 RETURNING expert_no`
    if (away.length > 0) yield* voting.equalItems.awaitFewer
    if (standing.state !== "qualifying") return undefined
    const { draft, guidelines, item, n, order, prompts } = yield* qualification.next(expertNo, now, random)
    const { judged } = standing
    return {
      item_id: -n,
      guidelines,
      guidelines_version: 1,
      guidelines_change: null,
      rubric: none,
      ...shownOf(item, order, draft),
      undone: false,
      corrects: null,
      held_until: now + holdMillis,
      qualification: true,
      task: { task_id: "", prompts, judged, number: judged + 1 },
    } satisfies HeldItem
  })

  /** Renews the current hold, or takes the next item. If the item is a qualification item, its id is negative. */
  const next = Effect.fn("VoteQueue.next")(function* (expertId: string) {
    const now = yield* Clock.currentTimeMillis
    const random = yield* Random.Random
    const held = yield* write(
      Effect.gen(function* () {
        const expert = yield* activeExpert(expertId)
        if (expert === undefined) return undefined
        const standing = yield* qualification.standing(expert.expert_no)
        if (standing.state !== "working") return yield* withoutWork(expert.expert_no, standing, now, random)
        const current = yield* heldBy(expert.expert_no)
        if (current !== undefined) {
          const held_until = now + holdMillis
          yield* sql`UPDATE hold SET held_until = ${held_until}
            WHERE item_id = ${current.item_id} AND expert_no = ${expert.expert_no}`
          return { ...current, held_until }
        }
        const itemId = yield* nextOpen(expert)
        return itemId === undefined ? undefined : yield* take(expert.expert_no, itemId, now, random)
      }),
    )
    if (held === undefined) return Option.none()
    return Option.some("qualification" in held ? held : yield* show(held))
  })

  const saveDraft = Effect.fn("VoteQueue.saveDraft")(function* (expertId: string, itemId: number, entry: Draft) {
    const draft = encodeDraft(entry)
    const heldUntil = (yield* Clock.currentTimeMillis) + holdMillis
    const expert = yield* activeExpert(expertId)
    if (expert === undefined) return yield* notHeld()
    const { expert_no } = expert
    if (itemId < 0) return yield* qualification.saveDraft(expert_no, -itemId, draft)
    yield* heldItem(expertId, itemId)
    yield* sql`UPDATE hold SET draft = ${draft}, held_until = ${heldUntil}
      WHERE item_id = ${itemId} AND expert_no = ${expert_no}`
  }, write)

  const vote = Effect.fn("VoteQueue.vote")(function* (expertId: string, itemId: number, submission: Submission) {
    const now = yield* Clock.currentTimeMillis
    let ended = false
    yield* voting.writeEnding(
      Effect.gen(function* () {
        const expert = yield* activeExpert(expertId)
        if (expert === undefined) return yield* notHeld()
        if (itemId < 0) return yield* qualification.answer(expert.expert_no, -itemId, submission, now)
        const hold = yield* heldItem(expertId, itemId)
        const task = yield* voting.openTask(seqOf(itemId))
        if (task === undefined) return yield* notHeld()
        const isRepeated = yield* voting.equalItems.hasJudged(itemId, hold.expert_no)
        const subject = { expertId, expertNo: hold.expert_no, itemId, order: orderOf(hold), shownAt: hold.shown_at }
        const vote = yield* votes.voteOf(task, { ...subject, isRepeated }, submission, now)
        yield* sql`DELETE FROM hold WHERE item_id = ${itemId} AND expert_no = ${hold.expert_no}`
        ended = yield* votes.give(task, vote, now)
      }),
      () => ended,
    )
  })

  const acknowledge = Effect.fn("VoteQueue.acknowledge")(function* (expertId: string, itemId: number, version: number) {
    const hold = yield* Effect.catchTag(heldItem(expertId, itemId), "Conflict", () => Effect.undefined)
    const task = hold && (yield* voting.openTask(seqOf(itemId)))
    if (hold === undefined || task === undefined) return
    yield* voting.guidelines.acknowledge(hold.expert_no, yield* voting.guidelines.current(task), version)
  }, write)

  const setAside = Effect.fn("VoteQueue.setAside")(function* (expertId: string, itemId: number, why: SetAside) {
    const at = yield* Clock.currentTimeMillis
    const { expert_no } = yield* heldItem(expertId, itemId)
    const { kind } = why
    const row = { item_id: itemId, expert_no, at }
    const reason = kind === "skip" ? toStorableText(why.reason) : ""
    yield* sql`INSERT OR REPLACE INTO set_aside ${sql.insert({ ...row, kind, reason })}`
    if (kind === "flag") {
      const comment = why.comment.trim() === "" ? null : toStorableText(why.comment)
      yield* sql`INSERT OR REPLACE INTO flag ${sql.insert({ ...row, kind: why.problem, comment })}`
    }
    yield* sql`UPDATE hold SET held_until = NULL WHERE item_id = ${itemId} AND expert_no = ${expert_no}`
    yield* giveBack([itemId])
  }, write)

  const undo = Effect.fn("VoteQueue.undo")(function* (expertId: string) {
    const now = yield* Clock.currentTimeMillis
    const hold = yield* write(
      Effect.gen(function* () {
        const expert = yield* activeExpert(expertId)
        const [vote] = expert === undefined ? [] : yield* votes.latest(expert.expert_no, 1)
        const task = vote && (yield* votes.openTaskOf(vote))
        if (vote === undefined || task === undefined) return yield* nothingToUndo
        const { expert_no, item_id } = vote
        // Paused people cannot undo votes, because they could correct wrong votes and so end the pause.
        if ((yield* qualification.standing(expert_no)).state !== "working") return yield* nothingToUndo

        yield* votes.takeBack(vote, task)
        const rows = yield* sql<HoldRow>`
          INSERT INTO hold ${sql.insert({
            item_id,
            expert_no,
            held_until: now + holdMillis,
            turn: 0,
            shown_at: vote.shown_at,
            shown_order: JSON.stringify(PersonVotes.bodyOf(vote).order),
            draft: encodeDraft(PersonVotes.draftOf(vote)),
            undone: vote.n,
          })} RETURNING ${columns}`
        yield* sql`UPDATE hold SET turn = 1 + (SELECT MAX(turn) FROM hold WHERE expert_no = ${expert_no}
          AND held_until IS NOT NULL) WHERE item_id = ${item_id} AND expert_no = ${expert_no}`
        return rows[0]!
      }),
    )
    return yield* show(hold)
  })

  const judgments = Effect.fn("VoteQueue.judgments")(function* (expertId: string) {
    const expert = yield* activeExpert(expertId)
    return yield* Effect.forEach(expert === undefined ? [] : yield* votes.latest(expert.expert_no, maxShown), (vote) =>
      Effect.gen(function* () {
        const { prompts } = yield* voting.requests.of(seqOf(vote.item_id))
        const { prompt } = prompts[promptIndexOf(vote.item_id)]!
        const text = Option.match(Conversation.parse(prompt), {
          onNone: () => prompt,
          onSome: (turns) => turns.at(-1)?.content ?? "",
        })
        const { best, mode, ranking } = PersonVotes.draftOf(vote)
        return {
          item_id: vote.item_id,
          given_at: vote.given_at,
          prompt: text.trim().slice(0, 200).toWellFormed(),
          ranking: mode === "rank" ? ranking : [[best ?? 0]],
          is_open: (yield* votes.openTaskOf(vote)) !== undefined,
        } satisfies GivenJudgment
      }),
    )
  })

  /** Returns a recent vote of the person, and its task. Fails with `Conflict` if the vote can no longer be changed. */
  const changeable = Effect.fnUntraced(function* (expertId: string, itemId: number) {
    const expert = yield* activeExpert(expertId)
    const latest = expert === undefined ? [] : yield* votes.latest(expert.expert_no, maxShown)
    const vote = latest.find(({ item_id }) => item_id === itemId)
    const task = vote && (yield* votes.openTaskOf(vote))
    if (vote === undefined || task === undefined) return yield* notChangeable
    if ((yield* qualification.standing(vote.expert_no)).state !== "working") return yield* notChangeable
    return { vote, task }
  })

  /** Returns the item of a vote, with the vote as its draft. The vote counts until `correct` replaces it. */
  const judgment = Effect.fn("VoteQueue.judgment")(function* (expertId: string, itemId: number) {
    const { vote } = yield* changeable(expertId, itemId)
    const shown_order = JSON.stringify(PersonVotes.bodyOf(vote).order)
    const draft = encodeDraft(PersonVotes.draftOf(vote))
    const held_until = (yield* Clock.currentTimeMillis) + holdMillis
    const shown = yield* show({ ...vote, shown_order, draft, held_until, undone: 0 })
    return { ...shown, guidelines_change: null, corrects: vote.given_at } satisfies HeldItem
  })

  const correct = Effect.fn("VoteQueue.correct")(function* (expertId: string, itemId: number, submission: Submission) {
    const now = yield* Clock.currentTimeMillis
    const statements = Effect.gen(function* () {
      const { task, vote } = yield* changeable(expertId, itemId)
      return yield* votes.replace(vote, task, expertId, submission, now)
    })
    yield* voting.writeEnding(statements, (ended) => ended)
  })

  const progress = Effect.fn("VoteQueue.progress")(function* (expertId: string): Effect.fn.Return<Progress, SqlError> {
    const today = dayOf(yield* Clock.currentTimeMillis)
    const [expert] = yield* sql<{ expert_no: number; judged: number; today: number }>`
      SELECT expert_no, judged, CASE day WHEN ${today} THEN judged_on_day ELSE 0 END AS today
      FROM expert WHERE expert_id = ${expertId}`
    const [open] = yield* sql<{ needed: number }>`
      SELECT SUM(votes_required - votes_given - needed_of_judges) AS needed FROM task_count WHERE status IN ('pending', 'in_progress')`
    const { needed } = open!
    if (expert === undefined) return { judged: 0, judged_today: 0, needed, undoable: false, stopped: null }
    const [last] = yield* votes.latest(expert.expert_no, 1)
    const { reason, state } = yield* qualification.standing(expert.expert_no)
    const { ever, since } = yield* qualification.judgedBy(expert.expert_no, today * millisOfDay)
    return {
      judged: expert.judged + ever,
      judged_today: expert.today + since,
      needed,
      undoable: state === "working" && last !== undefined && (yield* votes.openTaskOf(last)) !== undefined,
      stopped: reason ?? null,
    }
  })

  /** Ends at most `maxReleasedPerWrite` of the holds that match, and returns their number. Call this inside `write`. */
  const releaseHolds = Effect.fnUntraced(function* (condition: Statement.Fragment) {
    const holds = yield* sql<{ item_id: number; expert_no: number }>`
      UPDATE hold SET held_until = NULL WHERE (item_id, expert_no) IN (
        SELECT item_id, expert_no FROM hold WHERE ${condition} LIMIT ${maxReleasedPerWrite}
      ) RETURNING item_id, expert_no`
    yield* voting.equalItems.unmarkSeen(holds)
    yield* giveBack(holds.map((hold) => hold.item_id))
    return holds.length
  })

  const releaseAll = (condition: Statement.Fragment) =>
    Effect.repeat(releaseHolds(condition), { until: (released) => released < maxReleasedPerWrite })

  const releaseWhere = (condition: Statement.Fragment) =>
    write(releaseHolds(condition)).pipe(
      Effect.repeat({ until: (released) => released < maxReleasedPerWrite }),
      Effect.asVoid,
    )

  const release = Effect.fn("VoteQueue.release")((expertId: string) =>
    releaseWhere(
      sql`expert_no = (SELECT expert_no FROM expert WHERE expert_id = ${expertId}) AND held_until IS NOT NULL`,
    ),
  )

  const releaseExpired = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* releaseWhere(sql`held_until IS NOT NULL AND held_until <= ${now}`)
    yield* write(voting.equalItems.awaitNoLonger(now))
  }).pipe(Effect.withSpan("VoteQueue.releaseExpired"))

  /** Offers the item to all experts again, including experts who flagged or skipped it. The item's flags stay. */
  const returnItem = Effect.fn("VoteQueue.returnItem")(function* (taskId: string, promptIndex: number) {
    const [task] = yield* sql<{ seq: number }>`
      SELECT seq FROM task WHERE task_id = ${taskId} AND ${promptIndex} BETWEEN 0 AND prompts - 1
        AND (status <> 'cancelled' OR unanswered = 1)`
    if (task === undefined) return
    yield* Audit.record(sql, "item.return", taskId, { prompt: promptIndex + 1 })
    const itemId = itemIdOf(task.seq, promptIndex)
    const setAside = yield* sql<{ item_id: number; expert_no: number }>`
      DELETE FROM set_aside WHERE item_id = ${itemId} RETURNING item_id, expert_no`
    yield* voting.equalItems.unmarkSeen(setAside)
    const open = yield* sql`SELECT 1 FROM item WHERE item_id = ${itemId} AND open > 0`
    if (open.length === 0) return
    yield* voting.putBack([itemId])
    options.onReturned([itemId])
  }, write)

  /** Sets a group's priority and experts. If other experts hold items of the group, these items return to the queue. */
  const setGroup = Effect.fn("VoteQueue.setGroup")(function* (settings: GroupSettings) {
    const { experts: ids, groupId, priority } = settings
    const group = yield* voting.lanes.tasksOf(groupId)
    if (group === undefined) return yield* noGroup(groupId)
    const rows = yield* sql<{ expert_id: string; expert_no: number; name: string }>`
      SELECT expert_id, expert_no, name FROM expert
      WHERE expert_id IN (SELECT value FROM json_each(${JSON.stringify(ids ?? [])}))`
    const missing = ids?.find((id) => rows.every(({ expert_id }) => expert_id !== id))
    if (missing !== undefined) return yield* notFound(`There is no expert ${missing}.`)
    const assigned = ids && rows.map(({ expert_no }) => expert_no)
    yield* voting.lanes.set(settings, group, assigned)
    for (const seq of assigned === undefined ? [] : group.tasks) {
      yield* releaseAll(sql`${itemsOf(sql, seq)} AND held_until IS NOT NULL
        AND expert_no NOT IN (SELECT value FROM json_each(${JSON.stringify(assigned)}))`)
    }
    yield* voting.equalItems.awaitFewer
    options.onAssigned()
    const experts = ids === undefined ? "all" : rows.map(({ name }) => name)
    yield* Audit.record(sql, "group.set", groupId, { priority, experts })
  }, write)

  const pauseGroup = Effect.fn("VoteQueue.pauseGroup")(function* (groupId: string, isPaused: boolean) {
    const group = yield* voting.lanes.tasksOf(groupId)
    if (group === undefined) return yield* noGroup(groupId)
    if (!(yield* voting.lanes.pause(groupId, group, isPaused))) return
    for (const seq of isPaused ? group.tasks : []) {
      yield* releaseAll(sql`${itemsOf(sql, seq)} AND held_until IS NOT NULL`)
    }
    yield* voting.equalItems.awaitFewer
    options.onAssigned()
    yield* Audit.record(sql, isPaused ? "group.pause" : "group.resume", groupId)
  }, write)

  return {
    holdMillis,
    next,
    saveDraft,
    acknowledge,
    vote,
    setAside,
    undo,
    judgments,
    judgment,
    correct,
    progress,
    release,
    releaseExpired,
    returnItem,
    setGroup,
    pauseGroup,
    groups: voting.lanes.list,
  }
})

const nothingToUndo = conflict("You have no vote that can still be taken back.")
const notChangeable = conflict(
  "This judgment can no longer be changed: its task is completed or paused, or a manager has decided or withdrawn the item.",
)
const noGroup = (groupId: string) => notFound(`No task is in group ${groupId}.`)

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `take`
const orderOf = (hold: HoldRow) => JSON.parse(hold.shown_order) as ReadonlyArray<number>

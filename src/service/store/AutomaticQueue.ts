/**
 * The queue for automatic experts. A claim reserves items of one task until the experts' votes are recorded. Each
 * expert has a cursor in memory. Cursors only save work: the database decides whether an expert may judge an item.
 */
/* oxlint-disable max-lines -- claims and records, which share their statements */
import { Clock, Effect, Latch, Result } from "effect"
import * as Guidelines from "../../api/Guidelines.ts"
import { Database } from "../database/Database.ts"
import { itemIdOf, itemsOf, lastItemOf, promptIndexOf, seqOf, toStorableText } from "../database/TaskTables.ts"
import * as ExpertOrder from "./ExpertOrder.ts"
import * as Interrupted from "./Interrupted.ts"
import type { ClaimRequest, Claim, Claims, Judged } from "./VoteQueueModel.ts"
import { type NewVote, type Task, storableVote, type Voting } from "./Voting.ts"

/** For this expert, `claim` must still search the tasks in `tasks`, and all open items with an id above `itemId`. */
interface Cursor {
  itemId: number
  readonly tasks: Set<number>
}

interface ItemRow {
  readonly item_id: number
  readonly votes: number
  readonly extra_votes: number
  readonly open: number
}

interface AutomaticExpert {
  readonly expert_no: number
  readonly expert_id: string
  readonly kind: string
}

/** The maximum number of tasks checked in one transaction. More would make other writes wait long. */
const maxTasksPerWrite = 100
const maxRememberedTasks = 1_000

const noClaim = { claim: undefined, lacking: 0, closed: [] }

export const make = Effect.fnUntraced(function* (voting: Voting) {
  const { sql, write } = yield* Database
  const cursors = new Map<string, Cursor>()
  const { expected, orderFor } = ExpertOrder.make(sql)
  const work = yield* Latch.make(true)

  const cursorOf = (expert: string): Cursor => {
    const existingCursor = cursors.get(expert)
    if (existingCursor !== undefined) return existingCursor
    const cursor = { itemId: 0, tasks: new Set<number>() }
    cursors.set(expert, cursor)
    return cursor
  }

  const goBack = (cursor: Cursor) => {
    cursor.itemId = Math.min(cursor.itemId, itemIdOf(Math.min(...cursor.tasks), 0) - 1)
    cursor.tasks.clear()
  }

  const checkAgain = (cursor: Cursor, seq: number) => {
    if (cursor.tasks.add(seq).size > maxRememberedTasks) goBack(cursor)
  }

  const reconsider = (itemIds: Iterable<number>) => {
    for (const itemId of itemIds) for (const cursor of cursors.values()) checkAgain(cursor, seqOf(itemId))
    work.openUnsafe()
  }

  /** Unavailable experts must check the item again later, because their cursors may already be past it. */
  const awaitAgain = (itemId: number, experts: ReadonlyArray<AutomaticExpert>, { isAvailable }: ClaimRequest) => {
    for (const { expert_id } of experts) {
      const cursor = isAvailable(expert_id) ? undefined : cursors.get(expert_id)
      if (cursor !== undefined && cursor.itemId >= itemId) checkAgain(cursor, seqOf(itemId))
    }
  }

  /** Makes all experts check all items again. Call it inside the `write` that changes which experts may judge. */
  const reconsiderAll = () => {
    cursors.clear()
    work.openUnsafe()
  }

  const candidateOf = Effect.fnUntraced(function* ({ itemId, tasks }: Cursor) {
    const rows = yield* sql<{ item_id: number }>`
      SELECT item_id FROM item INDEXED BY item_open WHERE open > 0 AND item_id > ${itemId} ORDER BY item_id LIMIT 1`
    const returned = Math.min(...tasks)
    const next = rows.length === 0 ? Infinity : seqOf(rows[0]!.item_id)
    return Math.min(returned, next)
  })

  /** Moves the cursor past a task. The caller has checked that no open item lies between the cursor and the task. */
  const pass = (cursor: Cursor, seq: number) => {
    cursor.tasks.delete(seq)
    cursor.itemId = Math.max(cursor.itemId, lastItemOf(seq))
  }

  const claimOf = Effect.fnUntraced(function* (
    task: Task,
    activeExperts: ReadonlyArray<AutomaticExpert>,
    request: ClaimRequest,
  ) {
    const { voters } = task
    if (voters === "people" || (voters === null && activeExperts.length === 0)) return noClaim
    const assigned = yield* voting.lanes.assignedTo(task.organization, task.group_id)
    const allowed =
      assigned === undefined ? activeExperts : activeExperts.filter(({ expert_no }) => assigned.has(expert_no))
    if (allowed.length === 0 && activeExperts.length > 0) return noClaim
    const experts = voters === "judges" ? allowed.filter(({ kind }) => kind === "judge") : allowed
    const items = itemsOf(sql, task.seq)
    const answered = new Set<string>()
    const setAside = new Set<number>()
    let open: ReadonlyArray<{ readonly item_id: number; readonly open: number }>
    if (task.status === "pending") {
      open = Array.from({ length: task.prompts }, (_, i) => ({
        item_id: itemIdOf(task.seq, i),
        open: task.votes_required,
      }))
    } else {
      open = yield* sql<{ item_id: number; open: number }>`
        SELECT item_id, open FROM item WHERE ${items} AND open > 0 AND claimed = 0`
      if (open.length === 0) return noClaim
      const rows = yield* sql<{ item_id: number; expert_no: number; isSetAside: number }>`
        SELECT item_id, expert_no, 0 AS "isSetAside" FROM vote WHERE ${items}
        UNION ALL SELECT item_id, expert_no, 0 FROM voided_vote WHERE ${items}
        UNION ALL SELECT item_id, expert_no, 1 FROM set_aside WHERE ${items}`
      for (const { expert_no, isSetAside, item_id } of rows) {
        answered.add(`${item_id} ${expert_no}`)
        if (isSetAside === 1 && experts.some((expert) => expert.expert_no === expert_no)) setAside.add(item_id)
      }
    }

    let lacking = 0
    const closed: Array<number> = []
    const isShared = task.group_id !== task.task_id && activeExperts.length > 1
    const isOrdered = isShared && task.has_equal_items === 1 && open.some(({ open }) => open < experts.length)
    const inOrder = isOrdered ? yield* orderFor(task.seq) : undefined
    const claimed = open.flatMap(({ item_id, open }) => {
      const unasked = experts.filter(({ expert_no }) => !answered.has(`${item_id} ${expert_no}`))
      const eligible = inOrder?.(item_id, unasked) ?? unasked
      if (eligible.length === 0) {
        if (voters === "judges" && setAside.has(item_id)) closed.push(item_id)
        else lacking++
      }
      const first = eligible.slice(0, open)
      if (!first.some(({ expert_id }) => request.isAvailable(expert_id, item_id))) {
        if (isShared) awaitAgain(item_id, first, request)
        return []
      }
      if (isShared) {
        expected.set(
          item_id,
          first.map(({ expert_no }) => expert_no),
        )
      }
      return [{ item_id, open, held: Math.min(open, eligible.length), experts: eligible.map((row) => row.expert_id) }]
    })
    if (claimed.length === 0) {
      // While other items of the task are claimed, `lacking` is 0. When these claims end, experts check the task again.
      const atWork = lacking === 0 ? [] : yield* sql`SELECT 1 FROM claim WHERE seq = ${task.seq}`
      return { claim: undefined, lacking: atWork.length > 0 ? 0 : lacking, closed }
    }

    const { held } = claimed[0]!
    const wholeTask = claimed.length === task.prompts && claimed.every((item) => item.held === held)
    yield* wholeTask
      ? sql`UPDATE item SET open = open - ${held}, claimed = ${held} WHERE ${items}`
      : sql`UPDATE item SET open = open - (value ->> 1), claimed = value ->> 1
          FROM json_each(${JSON.stringify(claimed.map((item) => [item.item_id, item.held]))}) WHERE item_id = value ->> 0`
    if (task.status === "pending") yield* sql`UPDATE task SET status = 'in_progress' WHERE seq = ${task.seq}`
    yield* sql`INSERT INTO claim ${sql.insert({
      seq: task.seq,
      items: claimed.length,
      experts: JSON.stringify(experts.map((expert) => expert.expert_id)),
    })} ON CONFLICT DO UPDATE SET items = items + excluded.items`
    const { prompts } = yield* voting.requests.of(task.seq)
    const { sent, text, version } = yield* voting.guidelines.current(task)
    const claim: Claim = {
      taskId: task.task_id,
      voters,
      guidelines: text,
      rubric: Guidelines.rubricOf(sent),
      guidelinesVersion: version === 1 ? undefined : version,
      prompts: task.prompts,
      items: claimed.map(({ experts, held, item_id, open }) => ({
        itemId: item_id,
        promptIndex: promptIndexOf(item_id),
        prompt: prompts[promptIndexOf(item_id)]!,
        experts,
        held,
        missing: open,
      })),
    }
    return { claim, lacking: 0, closed }
  })

  const activeOf = (names: ReadonlyArray<string>) => sql<AutomaticExpert>`
    SELECT expert_no, expert_id, kind FROM expert
    WHERE active = 1 AND expert_id IN (SELECT value FROM json_each(${JSON.stringify(names)}))`

  const claimOnce = (asking: ClaimRequest) =>
    voting
      .writeEnding(
        Effect.gen(function* () {
          const rows = yield* activeOf(asking.experts)
          const experts = asking.experts.flatMap((name) => rows.find((row) => row.expert_id === name) ?? [])
          // Even without experts, the tasks are searched, because tasks for judges must be reported as `unanswered`.
          const looking =
            experts.length === 0
              ? [cursorOf("")]
              : experts.flatMap(({ expert_id }) => (asking.isAvailable(expert_id) ? [cursorOf(expert_id)] : []))

          const claims: Array<Claim> = []
          const unanswered: Array<Claims["unanswered"][number]> = []
          const shortened: Array<Claims["shortened"][number]> = []
          let hasEnded = false
          let claimedItems = 0
          const ended = (idle: Claims["idle"]) => ({ claims: { claims, unanswered, shortened, idle }, hasEnded })
          for (
            let looked = 0;
            looked < maxTasksPerWrite && claims.length < asking.tasks && claimedItems < (asking.items ?? Infinity);
            looked++
          ) {
            const candidates: Array<number> = []
            for (const cursor of looking) candidates.push(yield* candidateOf(cursor))
            const seq = Math.min(...candidates)
            if (seq === Infinity) return ended({ createdAt: undefined })
            const task = yield* voting.openTask(seq)
            if (task !== undefined && task.created_at > asking.createdBefore)
              return ended({ createdAt: task.created_at })
            const { claim, closed, lacking } = task === undefined ? noClaim : yield* claimOf(task, experts, asking)
            looking.forEach((cursor, i) => candidates[i] === seq && pass(cursor, seq))
            if (claim !== undefined) {
              claims.push(claim)
              claimedItems += claim.items.length
            }
            if (task === undefined) continue
            const of = { taskId: task.task_id, voters: task.voters, prompts: task.prompts }
            if (lacking > 0) unanswered.push({ ...of, lacking })
            if (closed.length === 0) continue
            shortened.push({ ...of, lacking: closed.length })
            hasEnded = (yield* voting.closeUnanswered(seq, closed, yield* Clock.currentTimeMillis)) || hasEnded
          }
          return ended(undefined)
        }),
        ({ hasEnded }) => hasEnded,
      )
      .pipe(Effect.map(({ claims }): Claims => claims))

  const claim = (asking: ClaimRequest) =>
    work.close.pipe(
      Effect.andThen(claimOnce(asking)),
      Effect.repeat({
        until: ({ claims, idle, shortened, unanswered }) =>
          [claims, shortened, unanswered].some((tasks) => tasks.length > 0) || idle !== undefined,
      }),
      // The transaction is rolled back, but cursors may have moved. So all experts search again from the first item.
      Effect.onError(() => Effect.sync(reconsiderAll)),
    )

  const recordTask = Effect.fnUntraced(function* (
    seq: number,
    judged: ReadonlyArray<Judged>,
    active: ReadonlyMap<string, AutomaticExpert>,
    now: number,
  ) {
    for (const { itemId } of judged) expected.delete(itemId)
    const task = yield* voting.openTask(seq)
    if (task === undefined) return false
    const { prompts } = yield* voting.requests.of(seq)
    const votes: Array<NewVote> = []
    const setAside: Array<readonly [number, number, string]> = []
    const changes = judged.map(({ answers, guidelinesVersion, itemId }) => {
      let voteCount = 0
      for (const { expert, vote } of answers) {
        const row = active.get(expert)
        if (row === undefined) continue
        const { expert_no: expertNo, kind } = row
        if (Result.isFailure(vote)) {
          setAside.push([itemId, expertNo, toStorableText(vote.failure)])
          continue
        }
        voteCount++
        votes.push({
          itemId,
          expertNo,
          prompt: prompts[promptIndexOf(itemId)]!,
          vote: storableVote({
            expert,
            kind,
            ...vote.success,
            ...(guidelinesVersion !== undefined && { guidelines_version: guidelinesVersion }),
          }),
          shownAt: null,
        })
      }
      return [itemId, voteCount] as const
    })
    if (setAside.length > 0) {
      yield* sql`INSERT OR REPLACE INTO set_aside (item_id, expert_no, kind, reason, at)
        SELECT value ->> 0, value ->> 1, 'skip', value ->> 2, ${now} FROM json_each(${JSON.stringify(setAside)})`
    }
    const [, voteCount] = changes[0]!
    const wholeTask = judged.length === task.prompts && changes.every((change) => change[1] === voteCount)
    const items = yield* wholeTask
      ? sql<ItemRow>`UPDATE item SET votes = votes + ${voteCount}, open = open + claimed - ${voteCount}, claimed = 0
          WHERE ${itemsOf(sql, seq)} RETURNING item_id, votes, extra_votes, open`
      : sql<ItemRow>`UPDATE item SET votes = votes + (value ->> 1), open = open + claimed - (value ->> 1), claimed = 0
          FROM json_each(${JSON.stringify(changes)}) WHERE item_id = value ->> 0 RETURNING item_id, votes, extra_votes, open`
    const open = items.flatMap((item) => (item.open > 0 ? [item.item_id] : []))
    if (open.length > 0) {
      yield* voting.putBack(open)
      reconsider(open)
    }
    const done = items.flatMap(({ extra_votes, item_id, votes }) =>
      votes === task.votes_required + extra_votes ? [item_id] : [],
    )
    if (yield* voting.give(task, votes, done, now)) return true
    yield* sql`UPDATE claim SET items = items - ${judged.length} WHERE seq = ${seq}`
    const over = yield* sql`DELETE FROM claim WHERE seq = ${seq} AND items = 0 RETURNING seq`
    if (over.length > 0) reconsider([itemIdOf(seq, 0)])
    return false
  })

  const record = Effect.fnUntraced(function* (judged: ReadonlyArray<Judged>) {
    const now = yield* Clock.currentTimeMillis
    const tasks = Map.groupBy(judged, ({ itemId }) => seqOf(itemId))
    const names = new Set(judged.flatMap(({ answers }) => answers.map(({ expert }) => expert)))
    yield* voting.writeEnding(
      Effect.gen(function* () {
        const rows = yield* activeOf([...names])
        const active = new Map(rows.map((row) => [row.expert_id, row]))
        return yield* Effect.forEach(tasks, ([seq, items]) => recordTask(seq, items, active, now))
      }),
      (ended) => ended.includes(true),
    )
  })

  yield* write(Interrupted.release(sql, voting))

  return {
    claim,
    record,
    reconsider,
    reconsiderAll,
    /** Waits for `wake`, `reconsider`, or `reconsiderAll`. Calls since the start of the last `claim` count, too. */
    awaitWork: work.await,
    /** Announces a new task. Call it inside the `Database.write` that creates the task. */
    wake: Effect.asVoid(work.open),
  }
})

/**
 * The queue under any sequence of what experts, managers, time and restarts may do: after
 * each step holds what must always hold, and in the end enough experts finish every task, though
 * the same content is asked for again and again. Nobody gets work of a paused group, on a withdrawn
 * or decided prompt, or while not qualified.
 */
import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Option, Random, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import type { GoldItem } from "../../../src/service/store/Qualification.ts"
import type { Draft, Submission } from "../../../src/service/pageApi/AnnotateApi.ts"
import type { Claim } from "../../../src/service/store/VoteQueueModel.ts"
import { assertCountersWith, meetings } from "./recount.ts"
import { create, crew, draftOf, makeEvents, person, storeOver } from "./support.ts"
import { cases } from "../../support/cases.ts"

const step = fc.record({
  kind: fc.constantFrom(
    ...([
      "create",
      "next",
      "vote",
      "vote",
      "vote",
      "rank",
      "rank",
      "draft",
      "skip",
      "flag",
      "undo",
      "correct",
    ] as const),
    ...(["wait", "leave", "come", "deactivate", "activate", "activate", "return", "claim", "claim", "claim"] as const),
    ...(["record", "record", "record", "cancel", "restart"] as const),
    ...(["pause", "resume", "withdraw", "restore", "reopen", "end-reopening", "decide", "undecide"] as const),
    ...(["void", "unvoid", "require", "admit", "requalify"] as const),
  ),
  who: fc.nat(3),
  n: fc.nat(1_000),
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** Two tasks to begin with, of the same three prompts and three votes. */
const steps = fc
  .array(step, { maxLength: 120, size: "max" })
  .map((steps): ReadonlyArray<Step> => [{ kind: "create", who: 2, n: 5 }, { kind: "create", who: 2, n: 11 }, ...steps])

const robots = ["first-of-all", "seldom"]
const manager = "Lea"
const isGold = (prompt: string) => prompt.endsWith("0")

const goldItems = ["a", "b", "c"].map((key): GoldItem => ({
  key,
  prompt: `gold ${key}`,
  completions: ["other", "right"],
  best: 1,
}))
const noQualification = { items: 0, min_percent: 50, pause_percent: null, guidelines: "" }

/** What is open for the expert, by looking at everything. */
const openFor = Effect.fnUntraced(function* (expertId: string, paused: ReadonlySet<string>, unclaimed = false) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ item_id: number }>`
    SELECT item_id FROM item JOIN task ON seq = item_id / 1048576 JOIN expert ON expert_id = ${expertId} WHERE open > 0 AND (${!unclaimed} OR claimed = 0)
    AND group_id NOT IN (SELECT value FROM json_each(${JSON.stringify([...paused])}))
    AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.item_id = item.item_id AND vote.expert_no = expert.expert_no)
    AND NOT EXISTS (SELECT 1 FROM voided_vote WHERE voided_vote.item_id = item.item_id AND voided_vote.expert_no = expert.expert_no)
    AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.item_id = item.item_id AND set_aside.expert_no = expert.expert_no)`
  return rows.map((row) => row.item_id)
})

/**
 * The people who were here lately, and what each of them has judged, holds or has set aside: `expert item`.
 *
 * @param stopped people who were told that they get no work: they are awaited when they come again
 */
const everybody = Effect.fnUntraced(function* (stopped: ReadonlySet<string>) {
  const sql = yield* SqlClient.SqlClient
  const awaited = yield* sql<{ expert_id: string }>`SELECT expert_id FROM expert
    WHERE kind = 'person' AND active = 1 AND COALESCE(last_seen_at, created_at) > ${yield* weekAgo}
      AND (away = 0 OR expert_id NOT IN (SELECT value FROM json_each(${JSON.stringify([...stopped])})))`
  const met = yield* sql<{ item_id: number; expert_id: string }>`
    SELECT item_id, expert_id FROM expert JOIN (
      ${sql.literal(meetings)}) USING (expert_no) WHERE kind = 'person'`
  return { awaited: awaited.map((row) => row.expert_id), met }
})

const weekAgo = Effect.map(Clock.currentTimeMillis, (now) => now - Duration.toMillis("7 days"))

const placeVote = (places: number, n: number, ranked: boolean): Submission => {
  const order = Array.from({ length: places }, (_, i) => (i + n) % places)
  const [head, ...rest] = order
  return {
    best: ranked ? null : head!,
    ranking: !ranked
      ? null
      : n % 2 === 0
        ? order.map((place) => [place] as const)
        : rest.length === 1
          ? [[head!, rest[0]!]]
          : [[head!, rest[0]!], ...rest.slice(1).map((place) => [place] as const)],
    rationale: n % 3 === 0 ? `because of ${n}` : "",
    seconds: n,
  }
}

const run = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, allowRepeatedVotes: boolean) {
  const { events, layer: webhooks } = makeEvents()
  const options = {
    webhooks,
    undoGrace: "10 minutes" as const,
    allowRepeatedVotes,
    goldItems,
    goldAnswer: ({ prompt }: { readonly prompt: string }) => (isGold(prompt) ? Option.some(0) : Option.none()),
  }
  // What each expert has seen of an item, in all its appearances.
  const orders = new Map<string, string>()
  const drafts = new Map<string, Draft>()
  // By task and prompt, told apart by what experts read.
  const contents: Array<ReadonlyArray<string>> = []
  const contentOf = (itemId: number) => contents[Math.floor(itemId / 1048576) - 1]![itemId % 1048576]!
  let people: ReadonlyArray<string> = []
  let tasks: Array<string> = []
  const groups: Array<string> = []
  const paused = new Set<string>()
  const withdrawn = new Set<number>()
  /** Gold items of the service, which people may judge again. */
  const repeatable = new Set<number>()
  const stopped = new Set<string>()
  let rest = steps

  /** Until the next restart. */
  const session = Effect.gen(function* () {
    const { desk, experts, qualification, queue, sql, taskStore: store } = yield* crew()
    if (people.length === 0) people = yield* Effect.forEach(["Ann", "Bob", "Cem"], person)
    yield* Effect.forEach(robots, (name) => experts.ensure(name), { discard: true })
    const claims: Array<Claim> = []

    /** The items that a person may be shown: nobody who may judge them, too, has seen their content less often. */
    const shownTo = Effect.fnUntraced(function* (expertId: string) {
      const { awaited, met } = yield* everybody(stopped)
      const items = new Set(met.map((row) => `${row.expert_id} ${row.item_id}`))
      const seen = Map.groupBy(met, (row) => `${row.expert_id} ${contentOf(row.item_id)}`)
      return (yield* openFor(expertId, paused)).filter((itemId) => {
        const times = (person: string) => seen.get(`${person} ${contentOf(itemId)}`)?.length ?? 0
        if (!allowRepeatedVotes && !repeatable.has(itemId)) return times(expertId) === 0
        return !awaited.some((other) => times(other) < times(expertId) && !items.has(`${other} ${itemId}`))
      })
    })

    const nextOf = Effect.fnUntraced(function* (expertId: string) {
      const { met } = yield* everybody(stopped)
      const { settings, standings } = yield* qualification.summary
      const standing = settings === null ? "working" : standings.find(({ expert_id }) => expert_id === expertId)!.state
      const active = Option.exists(yield* experts.find(expertId), (row) => row.active)
      const before = yield* shownTo(expertId)
      const held = yield* queue.next(expertId)
      assert.strictEqual(
        Option.exists(held, ({ qualification }) => qualification),
        active && standing === "qualifying",
      )
      if (active && standing !== "working") {
        stopped.add(expertId)
        const holds = yield* sql`SELECT 1 FROM hold JOIN expert USING (expert_no)
          WHERE expert_id = ${expertId} AND held_until IS NOT NULL`
        assert.lengthOf(holds, 0, "who is stopped holds an item")
        if (standing !== "qualifying") assert.isTrue(Option.isNone(held), "who is stopped got work")
      }
      if (Option.isNone(held)) {
        assert.isFalse(before.length > 0 && active && standing === "working", "there was work, and none was given")
        return undefined
      }
      const { item_id: itemId } = held.value
      const isNew = !met.some((row) => row.expert_id === expertId && row.item_id === itemId)
      if (isNew && itemId > 0) assert.include(before, itemId, "it was for others first, or for nobody")
      if (itemId > 0) {
        assert.isFalse(withdrawn.has(itemId), "it is withdrawn")
        assert.isFalse(paused.has(groups[tasks.indexOf(held.value.task.task_id)]!), "it is paused")
      }
      const key = `${expertId} ${itemId}`
      const order = held.value.completions.join()
      assert.strictEqual(orders.get(key) ?? order, order, "the order changed")
      orders.set(key, order)
      if (!held.value.undone) assert.deepStrictEqual(held.value.draft ?? undefined, drafts.get(key))
      return held.value
    })

    const perform = Effect.fnUntraced(function* ({ kind, n, who }: Step) {
      const person = people[who % people.length]!
      switch (kind) {
        case "create": {
          const prompts = Array.from({ length: 1 + (n % 3) }, (_, i) => {
            const completions = ["a", "b", "c", "d"].slice(0, 2 + (n % 3))
            // Half of them come again, as each task happens to order them.
            const prompt = n % 2 === 0 ? `p${tasks.length}.${i}` : `again ${i}`
            return [prompt, ...completions.slice(who), ...completions.slice(0, who)] as const
          })
          const group = n % 4 === 0 ? `g${n % 3}` : undefined
          contents.push(prompts.map(([prompt, ...completions]) => [group, prompt, ...completions.toSorted()].join()))
          prompts.forEach(([prompt], i) => isGold(prompt) && repeatable.add(contents.length * 1048576 + i))
          const named = group !== undefined && { group, ...(n % 5 === 0 && { groupSize: 2 }) }
          const task = yield* create(prompts, { votes: 1 + (who % 3), ...named })
          tasks.push(task)
          groups.push(group ?? task)
          return
        }
        case "next":
          return yield* nextOf(person)
        case "vote":
        case "rank": {
          const item = yield* nextOf(person)
          if (item === undefined) return
          drafts.delete(`${person} ${item.item_id}`)
          return yield* queue.vote(person, item.item_id, placeVote(item.completions.length, n, kind === "rank"))
        }
        case "draft": {
          const item = yield* nextOf(person)
          if (item === undefined) return
          yield* queue.saveDraft(person, item.item_id, draftOf(`draft ${n}`))
          drafts.set(`${person} ${item.item_id}`, draftOf(`draft ${n}`))
          return
        }
        case "skip":
        case "flag": {
          const item = yield* nextOf(person)
          if (item === undefined || item.qualification) return
          const reason = `reason ${n}`
          const why = kind === "skip" ? { kind, reason } : ({ kind, problem: "other", comment: reason } as const)
          return yield* queue.setAside(person, item.item_id, why)
        }
        case "undo": {
          const undone = yield* Effect.result(queue.undo(person))
          if (Result.isFailure(undone)) return
          const { item_id: itemId } = undone.success
          assert.strictEqual((yield* nextOf(person))?.item_id, itemId)
          drafts.set(`${person} ${itemId}`, undone.success.draft!)
          return
        }
        case "correct": {
          const open = (yield* queue.judgments(person)).filter(({ is_open }) => is_open)
          const chosen = open[n % Math.max(open.length, 1)]
          const opened = yield* Effect.result(queue.judgment(person, chosen?.item_id ?? n))
          if (Result.isFailure(opened)) return
          const { completions, item_id } = opened.success
          return yield* queue.correct(person, item_id, placeVote(completions.length, n, n % 2 === 0))
        }
        case "wait":
          return yield* TestClock.adjust(`${n % 45} minutes`)
        case "leave":
          yield* sql`UPDATE expert SET last_seen_at = ${yield* weekAgo} WHERE expert_id = ${person}`
          return yield* queue.releaseExpired
        case "come":
          return yield* experts.touch(person)
        case "deactivate":
        case "activate":
          return yield* experts.setActive([...people, ...robots][n % 5]!, kind === "activate")
        case "return": {
          const task = tasks[n % Math.max(tasks.length, 1)]
          if (task !== undefined) yield* queue.returnItem(task, who)
          return
        }
        case "claim": {
          const asking = { experts: robots, tasks: 1 + (n % 3), createdBefore: Infinity }
          const taken = yield* queue.claim({
            ...asking,
            isAvailable: (expert) => n % 3 === 2 || expert === robots[n % 3],
          })
          claims.push(...taken.claims)
          for (const { items, taskId } of taken.claims) {
            assert.isFalse(paused.has(groups[tasks.indexOf(taskId)]!), "it is paused")
            assert.isFalse(
              items.some(({ itemId }) => withdrawn.has(itemId)),
              "it is withdrawn",
            )
          }
          if (n % 3 < 2 || taken.idle === undefined) return
          for (const robot of robots) {
            const active = Option.exists(yield* experts.find(robot), (row) => row.active)
            const work = yield* openFor(robot, paused, true)
            assert.isFalse(active && work.length > 0, "there was work, and none was claimed")
          }
          return
        }
        case "record": {
          const claim = claims.shift()
          if (claim === undefined) return
          const judged = claim.items.map((item) => ({
            itemId: item.itemId,
            answers: item.experts.slice(0, item.held).flatMap((expert, i) => {
              if ((n + i) % 4 === 0) return []
              const { completions } = item.prompt
              const vote = { choice: (n + i) % completions.length, order: completions.map((_, i) => i), seconds: 0 }
              return [{ expert, vote: (n + i) % 4 === 1 ? Result.fail("has no answer") : Result.succeed(vote) }]
            }),
          }))
          return yield* queue.record(judged)
        }
        case "cancel": {
          const task = tasks[n % Math.max(tasks.length, 1)]
          if (task === undefined || n % 3 > 0) return
          yield* who === 0 ? store.cancelUnanswered(task) : store.cancel(task)
          return
        }
        case "pause":
        case "resume": {
          const [group] = [...paused]
          const chosen = kind === "resume" && group !== undefined ? group : groups[n % groups.length]!
          yield* queue.pauseGroup(chosen, kind === "pause")
          return void (kind === "pause" ? paused.add(chosen) : paused.delete(chosen))
        }
        case "withdraw":
        case "restore": {
          const [itemId = n] = withdrawn
          const index = kind === "restore" ? Math.floor(itemId / 1048576) - 1 : n % tasks.length
          const prompt = kind === "restore" ? itemId % 1048576 : who % 3
          const task = tasks[index] ?? "none"
          const done = yield* Effect.result(
            kind === "withdraw"
              ? desk.withdrawPrompt(task, prompt, "no use", manager)
              : desk.restorePrompt(task, prompt),
          )
          if (Result.isFailure(done)) return
          const item = (index + 1) * 1048576 + prompt
          return void (kind === "withdraw" ? withdrawn.add(item) : withdrawn.delete(item))
        }
        case "reopen":
          return yield* Effect.ignore(desk.reopen(tasks[n % tasks.length]!, 1, who === 0 ? undefined : [who - 1]))
        case "end-reopening":
          return yield* Effect.ignore(desk.endReopening(tasks[n % tasks.length]!))
        case "decide": {
          const place = { taskId: tasks[n % tasks.length]!, promptIndex: who % 3 }
          const judgment = { ...place, choice: n % 2, rationale: "", operator: manager }
          return yield* Effect.ignore(desk.decide(judgment))
        }
        case "undecide": {
          const decided = yield* sql<{ item_id: number }>`SELECT item_id FROM decision WHERE choice IS NOT NULL`
          const itemId = decided[n % Math.max(decided.length, 1)]?.item_id
          if (itemId === undefined) return
          return yield* desk.withdrawDecision(tasks[Math.floor(itemId / 1048576) - 1]!, itemId % 1048576)
        }
        case "void":
          return yield* Effect.ignore(desk.voidVotes([...people, ...robots][n % 5]!, "careless", manager))
        case "unvoid": {
          const [voiding] = yield* sql<{ id: number }>`SELECT MIN(voiding_id) AS id FROM voided_vote`
          if (voiding === undefined) return
          return yield* Effect.ignore(desk.restoreVotes(voiding.id, manager))
        }
        case "require": {
          const required = { items: [0, 1, 2][who % 3]!, min_percent: 50, pause_percent: n % 2 === 0 ? 50 : null }
          return yield* qualification.set({ ...noQualification, ...(n % 3 > 0 && required) })
        }
        case "admit":
          return yield* qualification.admit(person)
        case "requalify":
          return yield* Effect.ignore(qualification.requalify(person))
      }
    })

    while (rest.length > 0) {
      const [head, ...tail] = rest
      rest = tail
      if (head!.kind === "restart") return
      yield* perform(head!)
      yield* assertCountersWith(withdrawn)
      // With a completed task goes what people saw of it and did not judge, should it be opened again.
      const over = yield* sql<{ seq: number }>`SELECT seq FROM task WHERE status = 'completed'`
      for (const memory of [orders, drafts]) {
        for (const key of memory.keys()) {
          if (over.some(({ seq }) => seq === Math.floor(Number(key.split(" ")[1]) / 1048576))) memory.delete(key)
        }
      }
    }

    // In the end: enough people for every vote, and all of them work until nothing is left.
    yield* qualification.set(noQualification)
    for (const group of paused) yield* queue.pauseGroup(group, false)
    paused.clear()
    yield* Effect.forEach(claims, (claim) => queue.record(claim.items.map(({ itemId }) => ({ itemId, answers: [] }))))
    yield* Effect.forEach([...people, ...robots], (expert) => experts.setActive(expert, false))
    const [most] = yield* sql<{ votes: number }>`
      SELECT MAX(votes) AS votes FROM (SELECT SUM(votes_required + item.extra_votes) AS votes
        FROM item JOIN task ON seq = item_id / 1048576 GROUP BY content)`
    const crowd = yield* Effect.forEach(Array.from({ length: most!.votes }), (_, i) => person(`${i}`))
    let given: number
    do {
      given = 0
      for (const expertId of crowd) {
        let item = yield* nextOf(expertId)
        while (item !== undefined) {
          yield* queue.vote(expertId, item.item_id, placeVote(item.completions.length, item.item_id, true))
          given++
          item = yield* nextOf(expertId)
        }
      }
    } while (given > 0)
    yield* assertCountersWith(withdrawn)
    yield* TestClock.adjust("10 minutes")
    const overview = yield* store.overview.pipe(
      Effect.repeat({ until: ({ tasks }) => tasks.in_progress === 0, times: 100 }),
    )
    assert.deepInclude(overview.tasks, { pending: 0, in_progress: 0 })
    const { tasks: listed } = yield* store.list({ limit: 200 })
    assert.lengthOf(listed, tasks.length)
    for (const { group_id, task_id } of listed) {
      const size = (yield* (yield* SqlClient.SqlClient)<{ size: number | null; tasks: number }>`
        SELECT size, tasks FROM task_group WHERE group_id = ${group_id}`)[0]
      // A result that changes afterwards is announced by itself.
      const last = events.findLast(
        (event) => event.groupId === group_id && (size === undefined || event.mayGrow !== undefined),
      )
      const announced = size === undefined || size.tasks >= (size.size ?? 0)
      assert.strictEqual(last?.taskIds.includes(task_id) ?? false, announced)
    }
  })

  const sql = yield* SqlClient.SqlClient
  const over = storeOver(options).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)))
  do {
    yield* session.pipe(Effect.provide(over, { local: true }))
  } while (rest.length > 0)
})

// oxlint-disable-next-line vitest/expect-expect -- `run` asserts
it("any sequence of steps keeps what must hold, and every task is finished in the end", async () => {
  const property = fc.asyncProperty(steps, fc.nat(), fc.boolean(), (steps, seed, allowRepeatedVotes) =>
    Effect.runPromise(
      run(steps, allowRepeatedVotes).pipe(
        Random.withSeed(seed),
        Effect.provide(Layer.merge(SqliteClient.layer({ filename: ":memory:" }), TestClock.layer())),
        Effect.scoped,
      ),
    ),
  )
  await fc.assert(property, { numRuns: cases(10, 100) })
})

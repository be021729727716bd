/**
 * Plans further votes item by item. An item gets another vote when none of its tasks is open and the budget allows it.
 * The transaction that plans a vote checks both conditions, so no vote is planned twice, even if a process is killed.
 */
import { Array as Arr, Effect, type Latch, Option } from "effect"
import { boundOf, type Voters } from "../../../domain/Voters.ts"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import type { BatchPlace, LedgerContext, NewTask, StoredRequest, TaskState } from "../schema/Model.ts"
import { votesOfTask } from "../reads/Charges.ts"
import type { Parts } from "./Parts.ts"
import { batchColumns, insertTasks, setSetting, settingOf, withPayload } from "../schema/Rows.ts"
import {
  endedVotesSeen,
  furtherVoters,
  furtherVotesLeft,
  peopleWhenSetting,
  votesLeft,
  wantedVotes,
} from "./Spending.ts"
import type { readTasks } from "./Tasks.ts"

export interface ItemPlace {
  readonly seq: number
  readonly batch: number
}

export interface FurtherTerms {
  /** An item at or above this confidence gets no further votes. */
  readonly confidence: number
  /** People vote if the judges' certainty is below this share. Undefined if the job has no such rule. */
  readonly bound: number | undefined
}

export interface VoteCourse {
  /** Whether a task of the item is open (`openStates`). If so, no further vote on the item is planned now. */
  readonly isWaiting: boolean
  /** Whether the item waits for a vote in addition to the votes that were planned at first. */
  readonly waitsForFurther: boolean
  readonly waitsForPeople: boolean
  /** Number of the next vote. None if the item has its maximum number of votes. */
  readonly next: Option.Option<number>
  readonly left: number
}

interface TaskOfBatch extends BatchPlace {
  readonly seq: number
  readonly items: number
  readonly state: TaskState
  readonly leastVotes: number
}

const openStates: ReadonlyArray<TaskState> = ["planned", "submitting", "submitted", "in_doubt", "superseded"]

const rowColumns = `seq, item_count AS items, state, least_votes AS "leastVotes", ${batchColumns}`

const courseOf = (place: number, rows: ReadonlyArray<TaskOfBatch>): VoteCourse => {
  const own = rows.filter(({ batch, batchItems, items, seq, vote }) => {
    const first = seq - batch - (vote - 1) * batchItems
    return first <= place && place < first + items
  })
  const open = own.filter(({ state }) => openStates.includes(state))
  const last = Math.max(0, ...own.map(({ asks, vote }) => vote + asks - 1))
  const left = Math.max(0, (rows[0]?.votes ?? 0) - last)
  return {
    isWaiting: open.length > 0,
    waitsForFurther: open.some(({ leastVotes, vote }) => vote > leastVotes),
    waitsForPeople: open.some(({ voters }) => voters === "people"),
    next: left > 0 ? Option.some(last + 1) : Option.none(),
    left,
  }
}

export const readFurtherVotes = ({ job, sql }: LedgerContext) => {
  const here = sql`job = ${job}`

  const furtherTerms = Effect.gen(function* () {
    const confidence = Option.fromUndefinedOr(yield* settingOf({ job, sql }, "confidence"))
    const bound = Option.flatMap(Option.fromUndefinedOr(yield* settingOf({ job, sql }, peopleWhenSetting)), boundOf)
    return Option.map(confidence, (confidence): FurtherTerms => ({
      confidence: Number(confidence),
      bound: Option.getOrUndefined(bound),
    }))
  })

  const endedVotes = Effect.map(
    sql<{ votes: number }>`SELECT COALESCE(SUM(${sql.literal(votesOfTask)}), 0) AS votes FROM task
      WHERE ${here} AND seq >= 0 AND NOT (${sql.in("state", openStates)})`,
    (rows) => rows[0]!.votes,
  )

  const asksFurther = Effect.map(settingOf({ job, sql }, "confidence"), (text) => text !== undefined)

  /** Whether tasks have ended since this or another process last chose items for further votes. */
  const hasUnseenVotes = Effect.gen(function* () {
    if (!(yield* asksFurther)) return false
    return (yield* settingOf({ job, sql }, endedVotesSeen)) !== String(yield* endedVotes)
  })

  const isChoiceDue = Effect.gen(function* () {
    if (!(yield* asksFurther)) return false
    const awaited = yield* sql`SELECT 1 FROM task
      WHERE ${here} AND ${sql.in("state", ["planned", "submitting", "submitted"])} LIMIT 1`
    return awaited.length === 0 && (yield* hasUnseenVotes)
  }).pipe(Effect.withSpan("Ledger.isChoiceDue"))

  const voteCourses = Effect.fn("Ledger.voteCourses")(function* (campaign: number) {
    const rows = yield* sql<TaskOfBatch>`SELECT ${sql.literal(rowColumns)} FROM task
      WHERE ${here} AND seq >= 0 AND campaign = ${campaign} AND least_votes IS NOT NULL ORDER BY seq`
    const courses = new Map<number, VoteCourse>()
    for (const [batch, of] of Map.groupBy(rows, ({ batch }) => batch)) {
      for (let place = 0; place < of[0]!.batchItems; place++) courses.set(batch + place, courseOf(place, of))
    }
    return courses
  })

  return { furtherTerms, endedVotes, hasUnseenVotes, isChoiceDue, voteCourses }
}

const itemsPerStep = 512

type NewVote = Pick<NewTask, "idempotencyKey"> & StoredRequest

export interface FurtherVotesOptions {
  readonly atOnce?: number | undefined
  readonly ended: number
  readonly request: (
    question: StoredRequest,
    of: { readonly first: number; readonly count: number; readonly vote: number; readonly voters: Voters | null },
  ) => NewVote
}

export const writeFurtherVotes = (
  { job, sql, tell, write }: LedgerContext & Pick<Parts, "tell">,
  planned: Latch.Latch,
  { storedRequest }: Pick<ReturnType<typeof readTasks>, "storedRequest">,
) => {
  const here = sql`job = ${job}`

  const tasksOf = Effect.fnUntraced(function* (
    batch: number,
    places: ReadonlyArray<ItemPlace>,
    voters: Voters | null,
    { request }: FurtherVotesOptions,
  ) {
    const now = yield* SteadyClock.now
    const rows = yield* sql<TaskOfBatch & { readonly campaign: number; readonly part: number }>`
      SELECT ${sql.literal(rowColumns)}, campaign, part FROM task
      WHERE ${here} AND batch = ${batch} AND seq >= ${batch} AND seq < ${batch} + (
        SELECT votes * batch_items FROM task WHERE ${here} AND seq = ${batch}) ORDER BY seq`
    const wanted = places.flatMap(({ seq }) => {
      const { isWaiting, next } = courseOf(seq - batch, rows)
      const origin = rows.find(({ items, seq: first, vote }) => vote === 1 && first <= seq && seq < first + items)
      return isWaiting || Option.isNone(next) || origin === undefined ? [] : [{ seq, vote: next.value, origin }]
    })
    const together = Arr.chop(wanted, (rest) => {
      const [{ origin, seq, vote }] = rest
      const end = rest.findIndex((other, i) => other.origin !== origin || other.vote !== vote || other.seq !== seq + i)
      return Arr.splitAt(rest, end === -1 ? rest.length : end)
    })
    return yield* Effect.forEach(together, ([{ origin, seq, vote } = wanted[0]!, ...rest]) =>
      Effect.map(
        storedRequest(origin.seq),
        Option.map((question) => {
          const { batchItems, campaign, leastVotes, part, votes } = origin
          const newVote = request(question, { first: seq - origin.seq, count: 1 + rest.length, vote, voters })
          const place = { batch, batchItems, vote, votes, asks: 1, voters, leastVotes }
          return {
            ...withPayload(newVote),
            ...place,
            seq: seq + (vote - 1) * batchItems,
            campaign,
            part,
            plannedAt: now,
          }
        }),
      ),
    ).pipe(Effect.map(Arr.getSomes))
  })

  const noteWanted = (items: number, ended: number) =>
    write(
      Effect.andThen(
        setSetting({ job, sql }, wantedVotes, String(items)),
        setSetting({ job, sql }, endedVotesSeen, String(ended)),
      ),
    )

  /** Plans one more vote on each item. In the result, `beyond` is the number of items that the budget left out. */
  const planFurther = Effect.fn("Ledger.planFurther")(function* (
    places: ReadonlyArray<ItemPlace>,
    options: FurtherVotesOptions,
  ) {
    const { atOnce = Infinity, ended } = options
    let votes = 0
    for (const some of Arr.chunksOf(places.slice(0, atOnce), itemsPerStep)) {
      const step = yield* write(
        Effect.gen(function* () {
          const voters = yield* furtherVoters({ job, sql })
          const within = some.slice(0, yield* votesLeft({ job, sql }, voters)).toSorted((a, b) => a.seq - b.seq)
          const tasks = (yield* Effect.forEach(
            Map.groupBy(within, ({ batch }) => batch),
            ([batch, of]) => tasksOf(batch, of, voters, options),
          )).flat()
          yield* insertTasks({ job, sql }, tasks)
          if (tasks.length > 0) yield* tell("again")
          return tasks.reduce((sum, { items }) => sum + items.length, 0)
        }),
      )
      votes += step
    }
    const wanted = places.length - votes
    yield* noteWanted(wanted, ended)
    const beyond = Math.max(0, wanted - (yield* furtherVotesLeft({ job, sql })))
    if (votes > 0) yield* planned.open
    return { votes, beyond }
  })

  return { planFurther, noteWanted }
}

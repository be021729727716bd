/**
 * What the job's votes cost, and how many its budget allows.
 *
 * A vote is an item in a task. It counts once it is planned: while it is sent, outstanding, or in doubt, and when it was
 * given. It does not count if the service refused its task or canceled it, if it was never sent and will not be, or if it was
 * imported.
 *
 * Guarantees: price and budget of the last run that set them hold for the job; votes are counted from the rows of tasks
 * and attempts, never from a running total, so that a count inside a transaction is exact at each kill.
 */
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Cost from "../../domain/Cost.ts"
import type { BatchItem, Issue, LedgerContext, NewTask } from "./Model.ts"
import { setSetting, settingOf } from "./Rows.ts"

/** The setting that counts the items that want another vote that is not planned, as it was last known. */
export const wantedVotes = "votes_wanted"

/** The setting that counts the votes that had ended when that was last known. */
export const endedVotesSeen = "votes_ended_seen"

type Here = Pick<LedgerContext, "job" | "sql">

/** What votes may cost. Without them, what an earlier run of the job said holds. */
export interface SpendingTerms {
  /** Price of a vote: of an item in a task. */
  readonly price?: Cost.Amount | undefined
  /** What all votes of the job may cost at most, those of earlier runs included; `none` lifts it. Needs a price. */
  readonly budget?: Cost.Amount | undefined
}

/** What a budget allows of the items that are to be planned. */
export interface AllottedTasks {
  readonly tasks: ReadonlyArray<NewTask>
  /** Items of the input that are not planned. */
  readonly beyond: ReadonlyArray<BatchItem>
}

export interface Spending {
  readonly price: Cost.Decimal
  readonly budget: Option.Option<Cost.Decimal>
  /** Votes of tasks that the service created, and that are not open any more. */
  readonly spent: number
  /** Votes that are planned, being sent, outstanding, or in doubt. */
  readonly committed: number
  /** Votes beyond the budget: of tasks of the last run's campaign that are held back, and further ones that items want. */
  readonly held: number
  /** How many of these are further ones. */
  readonly further: number
  /** Items of the tasks that are held back. */
  readonly heldItems: number
}

/** How many votes of an attempt in this state count when another one follows, in columns of its task. */
export const votesOfAttempt = ({ sentAt, state }: Pick<Issue, "sentAt" | "state">): string => {
  const wasUnsent = (state === "planned" || state === "superseded") && sentAt === null
  if (state === "refused" || wasUnsent) return "0"
  return state === "failed" ? "CASE WHEN canceled = 1 THEN 0 ELSE item_count END" : "item_count"
}

/** Imported votes are completed without having been submitted. */
const isCounted = `state NOT IN ('refused', 'superseded', 'given_up') AND NOT (state = 'failed' AND canceled = 1)
  AND NOT (state = 'completed' AND submitted_at IS NULL)`

/** All votes that count against a budget. */
export const countedVotes = ({ job, sql }: Here) =>
  Effect.map(
    sql<{ votes: number }>`SELECT
      (SELECT COALESCE(SUM(item_count), 0) FROM task WHERE job = ${job} AND seq >= 0 AND ${sql.literal(isCounted)})
      + (SELECT COALESCE(SUM(votes), 0) FROM task_attempt WHERE job = ${job}) AS votes`,
    (rows) => rows[0]!.votes,
  )

const amountOf = (context: Here, name: "price" | "budget") =>
  Effect.map(settingOf(context, name), (text) => Option.flatMap(Option.fromUndefinedOr(text), Cost.parse))

interface Terms {
  readonly price: Option.Option<Cost.Decimal>
  readonly budget: Option.Option<Cost.Decimal>
}

const noTerms: Terms = { price: Option.none(), budget: Option.none() }

/** Price and budget of the job. */
const termsOf = (context: Here) =>
  Effect.all({ price: amountOf(context, "price"), budget: amountOf(context, "budget") })

/** The votes that the budget allows in all; undefined without a budget. */
const maxVotesOf = ({ budget, price }: Terms): number | undefined =>
  Option.getOrUndefined(Option.zipWith(budget, price, Cost.votesWithin))

/** Price and budget with these terms; those of the job where they have none. */
export const withTerms = ({ budget, price }: SpendingTerms, known: Terms = noTerms) => {
  const of = (amount: Cost.Amount | undefined, before: Option.Option<Cost.Decimal>) =>
    amount === undefined ? before : Cost.parse(amount)
  const terms = { price: of(price, known.price), budget: of(budget, known.budget) }
  return { ...terms, maxVotes: maxVotesOf(terms) }
}

const wanted = (here: Here) => Effect.map(settingOf(here, wantedVotes), (items) => Number(items ?? 0))

export const readSpending = ({ job, sql }: LedgerContext) => ({
  /** Price and budget that a run has set. */
  spendingTerms: termsOf({ job, sql }),

  /** All votes that count against a budget. */
  countedVotes: countedVotes({ job, sql }),

  /** What a run in this campaign would make of the tasks of earlier ones as it begins: see `startRun` and `holdBack`. */
  planOfNextRun: Effect.fn("Ledger.planOfNextRun")(function* (campaign: number, maxVotes = Infinity) {
    const here = { job, sql }
    const own = sql`campaign = ${campaign} AND state IN ('planned', 'superseded')`
    const planned = sql`((${own}) OR (state = 'planned' AND NOT (${sql.literal(isUnsent)})))`
    const before = yield* extentOf(here, sql`state = 'planned'`)
    const all = yield* extentOf(here, planned)
    const counted = (yield* countedVotes(here)) - before.votes + all.votes
    const held = yield* lastOf(here, sql`${own} AND ${sql.literal(isUnsent)}`, counted - maxVotes).pipe(
      Effect.flatMap((condition) => extentOf(here, condition)),
    )
    const [sending] = yield* sql<{ tasks: number }>`SELECT COUNT(*) AS tasks FROM task
      WHERE job = ${job} AND seq >= 0 AND state = 'submitting'`
    return { planned: all.tasks - held.tasks + sending!.tasks, counted: counted - held.votes, held }
  }),

  /** Items that want another vote that is not planned. */
  wantedVotes: wanted({ job, sql }),

  /** None without a price. */
  spending: Effect.gen(function* () {
    const { budget, price } = yield* termsOf({ job, sql })
    if (Option.isNone(price)) return Option.none<Spending>()
    const [row] = yield* sql<{ committed: number }>`SELECT COALESCE(SUM(item_count), 0) AS committed
      FROM task WHERE job = ${job} AND seq >= 0 AND ${sql.in("state", ["planned", "submitting", "submitted", "in_doubt"])}`
    const { committed } = row!
    const held = yield* extentOf(
      { job, sql },
      sql`state = 'superseded' AND campaign = (SELECT campaign FROM run WHERE job = ${job} ORDER BY run DESC LIMIT 1)`,
    )
    const counted = yield* countedVotes({ job, sql })
    const maxVotes = maxVotesOf({ budget, price }) ?? Infinity
    const further = Math.max(0, (yield* wanted({ job, sql })) - Math.max(0, maxVotes - counted))
    return Option.some<Spending>({
      price: price.value,
      budget,
      spent: counted - committed,
      committed,
      held: held.votes + further,
      further,
      heldItems: held.items,
    })
  }).pipe(Effect.withSpan("Ledger.spending")),
})

/** Notes price and budget, where a run has them. Gives the votes that the budget allows. */
export const setTerms = Effect.fnUntraced(function* (context: Here, { budget, price }: SpendingTerms) {
  if (price !== undefined) yield* setSetting(context, "price", String(price))
  if (budget === "none") yield* context.sql`DELETE FROM setting WHERE job = ${context.job} AND name = 'budget'`
  else if (budget !== undefined) yield* setSetting(context, "budget", String(budget))
  return maxVotesOf(yield* termsOf(context))
})

/** The condition for the last of these tasks, as many as have so many votes together; none without an excess. */
const lastOf = Effect.fnUntraced(function* ({ job, sql }: Here, unsent: Fragment, excess: number) {
  if (excess <= 0) return sql`1 = 0`
  const tasks = yield* sql<{ seq: number; items: number }>`SELECT seq, item_count AS items FROM task
    WHERE job = ${job} AND ${unsent} ORDER BY seq DESC LIMIT ${excess}`
  let votes = 0
  const first = tasks.find(({ items }) => (votes += items) >= excess) ?? tasks.at(-1)
  return first === undefined ? sql`1 = 0` : sql`${unsent} AND seq >= ${first.seq}`
})

/** How many tasks and votes there are of a condition, and of how many items, gold items that were mixed in aside. */
const extentOf = Effect.fnUntraced(function* ({ job, sql }: Here, condition: Fragment) {
  const where = sql`FROM task WHERE job = ${job} AND seq >= 0 AND ${condition}`
  const [sums] = yield* sql<{ tasks: number; votes: number }>`SELECT COUNT(*) AS tasks,
    COALESCE(SUM(item_count), 0) AS votes ${where}`
  if (sums!.tasks === 0) return { tasks: 0, votes: 0, items: 0 }
  const [row] = yield* sql<{ items: number }>`SELECT COUNT(DISTINCT item.seq) AS items FROM (
      SELECT DISTINCT batch, seq - (vote - 1) * batch_items AS first_seq, item_count ${where}) t
    JOIN item ON item.job = ${job} AND item.batch = t.batch
      AND item.seq >= t.first_seq AND item.seq < t.first_seq + t.item_count`
  return { ...sums!, ...row! }
})

const isUnsent = "sent_at IS NULL AND resend_at IS NULL"

/**
 * Holds back planned tasks that were never sent, the last ones first, until no more votes count than `maxVotes`. They are
 * superseded, until a run begins that may spend more. What a person had sent again stays planned.
 */
export const holdBack = Effect.fnUntraced(function* ({ job, sql }: Here, maxVotes: number) {
  const excess = (yield* countedVotes({ job, sql })) - maxVotes
  const held = yield* lastOf({ job, sql }, sql`state = 'planned' AND ${sql.literal(isUnsent)}`, excess)
  yield* sql`UPDATE task SET state = 'superseded', reason = ${"held back: the budget does not allow it"}
    WHERE job = ${job} AND ${held}`
})

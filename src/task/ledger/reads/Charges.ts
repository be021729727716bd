/**
 * Counts votes and their prices. A task keeps the prices that applied when the task was planned. The price of a vote
 * depends on the kind of expert, which the result names. Until the result arrives, a vote has the highest price of the
 * kinds of experts who may vote (`domain/Voters`).
 */
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Cost from "../../../domain/Cost.ts"
import * as Prices from "../../../domain/Prices.ts"
import * as Voters from "../../../domain/Voters.ts"
import type { Issue, LedgerContext } from "../schema/Model.ts"
import * as VoteKinds from "../schema/VoteKinds.ts"

export type Here = Pick<LedgerContext, "job" | "sql">

export interface Charge {
  readonly votes: number
  readonly cost: Cost.Decimal
}

export const votesOfTask = "item_count * asks"

/** SQL for the number of votes that the service may still bill for a replaced or given-up attempt. */
export const votesOfAttempt = ({ sentAt, state }: Pick<Issue, "sentAt" | "state">): string => {
  const wasUnsent = (state === "planned" || state === "superseded") && sentAt === null
  if (state === "refused" || wasUnsent) return "0"
  return state === "failed" ? `CASE WHEN canceled = 1 THEN 0 ELSE ${votesOfTask} END` : votesOfTask
}

/** SQL condition for tasks whose votes count. Imported tasks are completed, but were never submitted. */
const isCounted = `state NOT IN ('refused', 'superseded', 'given_up') AND NOT (state = 'failed' AND canceled = 1)
  AND NOT (state = 'completed' AND submitted_at IS NULL)`

export const priceLists = ({ job, sql }: Here) =>
  Effect.map(
    sql<{ list: number; prices: string }>`SELECT list, prices FROM price_list WHERE job = ${job}`,
    (rows) => new Map(rows.map(({ list, prices }) => [list, Prices.decode(prices)])),
  )

export const free: Prices.Prices = { other: Cost.zero, kinds: new Map() }

export type PricesOf = (list: number | null) => Prices.Prices

export const pricesBy = (here: Here, present: Option.Option<Prices.Prices>) =>
  Effect.map(priceLists(here), (lists): PricesOf => {
    const now = Option.getOrElse(present, () => free)
    return (list) => (list === null ? undefined : lists.get(list)) ?? now
  })

export interface Counted {
  readonly standing: "open" | "given" | "ended"
  readonly voters: Voters.Voters | null
  readonly kind: string | null
  readonly votes: number
  readonly price: Cost.Decimal
}

export interface Planned {
  readonly list: number | null
  readonly voters: Voters.Voters | null
}

export const countedVotes = Effect.fnUntraced(function* ({ job, sql }: Here, pricesOf: PricesOf) {
  const rows = yield* sql<
    Pick<Counted, "standing" | "votes"> & Planned & { kinds: string | null; tasks: number }
  >`SELECT price_list AS list, voters, vote_kinds AS kinds, CASE WHEN state = 'completed' THEN 'given'
        WHEN ${sql.in("state", openStates)} THEN 'open' ELSE 'ended' END AS standing,
      COUNT(*) AS tasks, SUM(${sql.literal(votesOfTask)}) AS votes
      FROM task WHERE job = ${job} AND seq >= 0 AND ${sql.literal(isCounted)} GROUP BY 1, 2, 3, 4
    UNION ALL SELECT price_list, voters, NULL, 'ended', COUNT(*), SUM(votes) FROM task_attempt
      WHERE job = ${job} AND votes > 0 GROUP BY price_list, voters`
  return rows.flatMap(({ kinds, list, standing, tasks, voters, votes }): ReadonlyArray<Counted> => {
    const prices = pricesOf(list)
    if (standing !== "given" || kinds === null) {
      return [{ standing, voters, kind: null, votes, price: Voters.priceOf(prices, voters) }]
    }
    return VoteKinds.paidAs(kinds, prices, voters).map(({ votes, ...paid }) => ({
      ...paid,
      standing,
      voters,
      votes: votes * tasks,
    }))
  })
})

const openStates = ["planned", "submitting", "submitted", "in_doubt"] as const

export const sum = (
  votes: ReadonlyArray<Pick<Counted, "votes" | "price">>,
  { other }: Prices.Prices,
  initial: Charge = { votes: 0, cost: Cost.times(other, 0) },
): Charge =>
  votes.reduce(
    (sum, { price, votes }) => ({ votes: sum.votes + votes, cost: Cost.plus(sum.cost, Cost.times(price, votes)) }),
    initial,
  )

/** A `superseded` task has not been sent. If a later run plans the task again, the prices at that time apply. */
export const listWhenPlanned = "CASE WHEN state = 'superseded' THEN NULL ELSE price_list END"

export const planOf = Effect.fnUntraced(function* ({ job, sql }: Here, condition: Fragment, pricesOf: PricesOf) {
  const rows = yield* sql<Planned & { tasks: number; votes: number }>`
    SELECT ${sql.literal(listWhenPlanned)} AS list, voters, COUNT(*) AS tasks, SUM(${sql.literal(votesOfTask)}) AS votes
    FROM task WHERE job = ${job} AND seq >= 0 AND ${condition} GROUP BY 1, 2`
  const votes = rows.map(({ list, voters, votes }) => ({ votes, price: Voters.priceOf(pricesOf(list), voters) }))
  return { tasks: rows.reduce((sum, { tasks }) => sum + tasks, 0), ...sum(votes, pricesOf(null)) }
})

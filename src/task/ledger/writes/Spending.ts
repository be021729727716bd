/**
 * The cost of a job's votes, and the number of votes that its budget allows. Prices and budget are those of the last
 * run that set them. A vote counts as soon as it is planned, even while its task is `in_doubt`. Imported votes do not
 * count. Votes of a refused, canceled, or superseded task do not count, either. Votes of a given-up task count only if
 * the task may have been sent.
 */
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Cost from "../../../domain/Cost.ts"
import * as Prices from "../../../domain/Prices.ts"
import * as Voters from "../../../domain/Voters.ts"
import * as Charges from "../reads/Charges.ts"
import type { Charge, Here } from "../reads/Charges.ts"
import type { BatchItem, LedgerContext, NewTask } from "../schema/Model.ts"
import { inCampaign, priceListSetting, setSetting, settingOf } from "../schema/Rows.ts"

/** Name of the setting that counts the items that need a further vote, but have no planned task for this vote. */
export const wantedVotes = "votes_wanted"

/**
 * Name of a setting: the number of votes of ended tasks when items were last chosen for further votes. If this
 * number has changed since then, items must be chosen again.
 */
export const endedVotesSeen = "votes_ended_seen"

/** A row in the table `setting`: the rule `peopleWhen` of the job. The row is missing if there is no rule. */
export const peopleWhenSetting = "people_when"

export const furtherVoters = (here: Here) =>
  Effect.map(settingOf(here, peopleWhenSetting), (rule): Voters.Voters | null => (rule === undefined ? null : "people"))

/** Prices and budget of a job. Missing ones come from an earlier run of the job. */
export interface SpendingTerms {
  /**
   * Price of one vote on one item, or prices by the kind of expert that the service reports, with `default` for other
   * kinds. New prices replace all earlier ones, except for tasks that are already planned.
   */
  readonly price?: Prices.Price | undefined
  /** Maximum cost of all votes of the job, including votes of earlier runs. `none` removes the limit. Needs a price. */
  readonly budget?: Cost.Amount | undefined
}

export interface AllottedTasks {
  readonly tasks: ReadonlyArray<NewTask>
  readonly beyond: ReadonlyArray<BatchItem>
}

export interface Spending {
  readonly prices: Prices.Prices
  readonly budget: Option.Option<Cost.Decimal>
  /** Votes of tasks that have a result or have ended without one. */
  readonly spent: Charge
  /** `spent` by kind of expert, most votes first. Votes without a known kind, or without a result, come last. */
  readonly kinds: ReadonlyArray<Charge & { readonly kind: string | null }>
  /** Votes that are not finished. Their tasks are planned, being sent, outstanding at the service, or in doubt. */
  readonly committed: Charge
  readonly votesLeft: number
  /** Votes that the budget does not allow: votes of `superseded` tasks, and further votes that are not planned yet. */
  readonly held: Charge
  readonly heldItems: number
}

export interface Terms {
  readonly prices: Option.Option<Prices.Prices>
  readonly budget: Option.Option<Cost.Decimal>
}

const noTerms: Terms = { prices: Option.none(), budget: Option.none() }

const termsOf = Effect.fnUntraced(function* (here: Here) {
  const list = yield* settingOf(here, priceListSetting)
  const budget = yield* settingOf(here, "budget")
  return {
    prices:
      list === undefined ? Option.none() : Option.fromUndefinedOr((yield* Charges.priceLists(here)).get(Number(list))),
    budget: Option.flatMap(Option.fromUndefinedOr(budget), Cost.parse),
  } satisfies Terms
})

export const withTerms = ({ budget, price }: SpendingTerms, earlierTerms: Terms = noTerms): Terms => ({
  prices: price === undefined ? earlierTerms.prices : Prices.parse(price),
  budget: budget === undefined ? earlierTerms.budget : Cost.parse(budget),
})

export const noVotes = ({ prices }: Pick<Terms, "prices">): Charge =>
  Charges.sum(
    [],
    Option.getOrElse(prices, () => Charges.free),
  )

/** Number of votes that the rest of the budget allows. With null `voters`, each vote has the highest price. */
export const leftOf = ({ budget, prices }: Terms, { cost }: Charge, voters: Voters.Voters | null = null): number =>
  Option.getOrElse(
    Option.zipWith(budget, prices, (budget, prices) =>
      Cost.votesWithin(Cost.minus(budget, cost), Voters.priceOf(prices, voters)),
    ),
    () => Infinity,
  )

const standing = Effect.fnUntraced(function* (here: Here, terms: Terms) {
  const pricesOf = yield* Charges.pricesBy(here, terms.prices)
  const votes = yield* Charges.countedVotes(here, pricesOf)
  const charge = (of: ReadonlyArray<Charges.Counted>) => Charges.sum(of, pricesOf(null))
  return { pricesOf, votes, charge, counted: charge(votes) }
})

export const votesLeft = Effect.fnUntraced(function* (here: Here, voters: Voters.Voters | null) {
  const terms = yield* termsOf(here)
  return Option.isNone(terms.budget) ? Infinity : leftOf(terms, (yield* standing(here, terms)).counted, voters)
})

/** The returned function reserves votes. It returns false if the budget does not allow them. */
export const reserveWithin = Effect.fnUntraced(function* (here: Here) {
  const terms = yield* termsOf(here)
  if (Option.isNone(terms.budget)) return () => true
  let used = (yield* standing(here, terms)).counted
  return ({ voters, votes }: { readonly votes: number; readonly voters: Voters.Voters | null }): boolean => {
    if (votes > leftOf(terms, used, voters)) return false
    const prices = Option.getOrElse(terms.prices, () => Charges.free)
    used = Charges.sum([{ votes, price: Voters.priceOf(prices, voters) }], prices, used)
    return true
  }
})

export const furtherVotesLeft = (here: Here) => Effect.flatMap(furtherVoters(here), (voters) => votesLeft(here, voters))

const wanted = (here: Here) => Effect.map(settingOf(here, wantedVotes), (items) => Number(items ?? 0))

export const readSpending = ({ job, sql }: LedgerContext) => ({
  spendingTerms: termsOf({ job, sql }),

  votesLeft: furtherVotesLeft({ job, sql }),

  /** Predicts how the start of a run in this campaign would change earlier tasks: see `startRun` and `holdBack`. */
  planOfNextRun: Effect.fn("Ledger.planOfNextRun")(function* (
    campaign: number,
    terms: Terms,
    voters: Voters.Voters | null,
  ) {
    const here = { job, sql }
    const own = sql`campaign = ${campaign} AND state IN ('planned', 'superseded')`
    const planned = sql`((${own}) OR (state = 'planned' AND NOT (${sql.literal(isUnsent)})))`
    const { counted, pricesOf } = yield* standing(here, terms)
    const before = yield* Charges.planOf(here, sql`state = 'planned'`, pricesOf)
    const all = yield* Charges.planOf(here, planned, pricesOf)
    const next = {
      votes: counted.votes - before.votes + all.votes,
      cost: Cost.plus(Cost.minus(counted.cost, before.cost), all.cost),
    }
    const excess = Option.map(terms.budget, (budget) => Cost.minus(next.cost, budget))
    const last = yield* lastOf(here, sql`${own} AND ${sql.literal(isUnsent)}`, excess, pricesOf)
    const held = yield* Charges.planOf(here, last, pricesOf)
    const [sending] = yield* sql<{ tasks: number }>`SELECT COUNT(*) AS tasks FROM task
      WHERE job = ${job} AND seq >= 0 AND state = 'submitting'`
    const charge = { votes: next.votes - held.votes, cost: Cost.minus(next.cost, held.cost) }
    return {
      planned: all.tasks - held.tasks + sending!.tasks,
      counted: charge,
      votesLeft: leftOf(terms, charge, voters),
      held: { ...held, items: yield* itemsOf(here, last) },
    }
  }),

  wantedVotes: wanted({ job, sql }),

  isRouted: (campaign: Option.Option<number>) => isRouted({ job, sql }, campaign),

  routed: routedOf({ job, sql }).pipe(Effect.withSpan("Ledger.routed")),

  /** The cost of the job's votes so far, and the votes that its budget allows. None if the job has no price. */
  spending: Effect.gen(function* () {
    const here = { job, sql }
    const terms = yield* termsOf(here)
    if (Option.isNone(terms.prices)) return Option.none<Spending>()
    const { charge, counted, pricesOf, votes } = yield* standing(here, terms)
    const spent = votes.filter(({ standing }) => standing !== "open")
    const isHeld = sql`state = 'superseded' AND campaign = (SELECT campaign FROM run WHERE job = ${job} ORDER BY run DESC LIMIT 1)`
    const held = yield* Charges.planOf(here, isHeld, pricesOf)
    const votesLeft = leftOf(terms, counted)
    const voters = yield* furtherVoters(here)
    const further = Math.max(0, (yield* wanted(here)) - leftOf(terms, counted, voters))
    const price = Voters.priceOf(terms.prices.value, voters)
    return Option.some<Spending>({
      prices: terms.prices.value,
      budget: terms.budget,
      spent: charge(spent),
      kinds: [...Map.groupBy(spent, ({ kind }) => kind)]
        .map(([kind, votes]) => ({ kind, ...charge(votes) }))
        .toSorted(
          (a, b) =>
            Number(a.kind === null) - Number(b.kind === null) ||
            b.votes - a.votes ||
            ((a.kind ?? "") < (b.kind ?? "") ? -1 : 1),
        ),
      committed: charge(votes.filter(({ standing }) => standing === "open")),
      votesLeft,
      held: Charges.sum([{ votes: further, price }], pricesOf(null), held),
      heldItems: yield* itemsOf(here, isHeld),
    })
  }).pipe(Effect.withSpan("Ledger.spending")),
})

export interface Routed {
  readonly rule: string | undefined
  readonly items: number
  /** Number of `items` that have a known answer. Items with a known answer do not go to people. */
  readonly knownAnswers: number
  readonly toPeople: number
  /** People's votes that count against the budget. */
  readonly people: Charge
  readonly isPriced: boolean
}

const isRouted = ({ job, sql }: Here, campaign: Option.Option<number>) =>
  Effect.map(
    sql`SELECT 1 FROM task t WHERE job = ${job} AND seq >= 0 AND voters IS NOT NULL AND ${inCampaign(sql, campaign)} LIMIT 1`,
    (rows) => rows.length > 0,
  )

/** Returns none if the job has no task that limits who may vote. */
const routedOf = Effect.fnUntraced(function* (here: Here) {
  if (!(yield* isRouted(here, Option.none()))) return Option.none<Routed>()
  const terms = yield* termsOf(here)
  const { charge, votes } = yield* standing(here, terms)
  const items = (voters: Voters.Voters) => itemsOf(here, here.sql`state <> 'superseded' AND voters = ${voters}`)
  const [gold] = yield* here.sql<{ items: number | null }>`SELECT SUM(gold_items) AS items FROM task
    WHERE job = ${here.job} AND seq >= 0 AND state <> 'superseded' AND voters = 'judges'`
  return Option.some<Routed>({
    rule: yield* settingOf(here, peopleWhenSetting),
    items: yield* items("judges"),
    knownAnswers: gold?.items ?? 0,
    toPeople: yield* items("people"),
    people: charge(votes.filter(({ voters }) => voters === "people")),
    isPriced: Option.isSome(terms.prices),
  })
})

const setPrices = Effect.fnUntraced(function* ({ job, sql }: Here, prices: Prices.Prices) {
  const text = Prices.encode(prices)
  const lists = yield* sql<{ list: number; prices: string }>`SELECT list, prices FROM price_list WHERE job = ${job}`
  const list = lists.find(({ prices }) => prices === text)?.list ?? lists.length + 1
  if (list > lists.length) yield* sql`INSERT INTO price_list ${sql.insert({ job, list, prices: text })}`
  yield* setSetting({ job, sql }, priceListSetting, String(list))
})

export const setTerms = Effect.fnUntraced(function* (here: Here, { budget, price }: SpendingTerms) {
  const prices = Option.flatMap(Option.fromUndefinedOr(price), Prices.parse)
  if (Option.isSome(prices)) yield* setPrices(here, prices.value)
  if (budget === "none") yield* here.sql`DELETE FROM setting WHERE job = ${here.job} AND name = 'budget'`
  else if (budget !== undefined) yield* setSetting(here, "budget", String(budget))
})

/** SQL condition: unsent tasks from the highest `seq` down, until their total cost reaches `excess`. */
const lastOf = Effect.fnUntraced(function* (
  { job, sql }: Here,
  unsent: Fragment,
  excess: Option.Option<Cost.Decimal>,
  pricesOf: Charges.PricesOf,
) {
  if (Option.isNone(excess) || excess.value.units <= 0n) return sql`1 = 0`
  const tasks = yield* sql<Charges.Planned & { seq: number; votes: number }>`
    SELECT seq, ${sql.literal(Charges.votesOfTask)} AS votes, ${sql.literal(Charges.listWhenPlanned)} AS list, voters FROM task
    WHERE job = ${job} AND ${unsent} ORDER BY seq DESC`
  let rest = excess.value
  const first = tasks.find(({ list, voters, votes }) => {
    rest = Cost.minus(rest, Cost.times(Voters.priceOf(pricesOf(list), voters), votes))
    return rest.units <= 0n
  })
  const last = first ?? tasks.at(-1)
  return last === undefined ? sql`1 = 0` : sql`${unsent} AND seq >= ${last.seq}`
})

const itemsOf = ({ job, sql }: Here, condition: Fragment) =>
  Effect.map(
    sql<{ items: number }>`SELECT COUNT(DISTINCT item.seq) AS items FROM (
      SELECT DISTINCT batch, seq - (vote - 1) * batch_items AS first_seq, item_count
        FROM task WHERE job = ${job} AND seq >= 0 AND ${condition}) t
    JOIN item ON item.job = ${job} AND item.batch = t.batch
      AND item.seq >= t.first_seq AND item.seq < t.first_seq + t.item_count`,
    (rows) => rows[0]!.items,
  )

const isUnsent = "sent_at IS NULL AND resend_at IS NULL"

/**
 * Makes unsent tasks `superseded` if the budget does not allow them, except tasks that a person asked to resend. The
 * campaign's next run plans the superseded tasks again, as far as its budget allows.
 */
export const holdBack = Effect.fnUntraced(function* ({ job, sql }: Here) {
  const terms = yield* termsOf({ job, sql })
  if (Option.isNone(terms.budget) || Option.isNone(terms.prices)) return
  const { counted, pricesOf } = yield* standing({ job, sql }, terms)
  const excess = Option.some(Cost.minus(counted.cost, terms.budget.value))
  const held = yield* lastOf({ job, sql }, sql`state = 'planned' AND ${sql.literal(isUnsent)}`, excess, pricesOf)
  yield* sql`UPDATE task SET state = 'superseded', reason = ${"not sent: the budget does not allow this task"}
    WHERE job = ${job} AND ${held}`
})

/**
 * Compares policies for judging an item: a judge alone, the jury, the jury with people where its confidence is below a
 * bound, one person, and all people of the item.
 *
 * - Reference: the known answer, if any compared item has one. Otherwise, each person on the item is left out in turn,
 *   and the reference is the majority of the others. All policies have the same references; the policy of people is then
 *   the person who was left out.
 * - Accuracy: the mean share of references that the policy hits. A tie counts as a random choice among its completions.
 * - Confidence: the highest posterior probability of a completion, given the judges' votes (A. P. Dawid and A. M. Skene,
 *   1979, with one reliability per judge, `stats/DawidSkene`). The reliabilities are estimated from all votes of judges
 *   and people, but not from known answers, which the accuracy is measured by. It assumes that judges err independently.
 * - Difference: the accuracy minus that of people on the same items; its interval is paired.
 *
 * Guarantees: costs are exact decimals. A judge's votes cost the price of its kind. People's votes cost the highest price
 * of the kinds of people who voted. Does not: estimate the reliabilities again in each resample.
 */
import { Option } from "effect"
import type { AuditPolicies, AuditPolicy } from "../../domain/Audit.ts"
import * as Cost from "../../domain/Cost.ts"
import * as Prices from "../../domain/Prices.ts"
import type { Bootstrap } from "../stats/Bootstrap.ts"
import { credit, mean } from "./Agreement.ts"
import { type AuditVote, type Ballots, majority } from "./Ballots.ts"

/** Bounds of the jury's confidence. */
const bounds = [0.6, 0.7, 0.8, 0.9, 0.95, 0.99]

/** A policy's accuracy on an item, and the votes that it takes. */
interface Outcome {
  readonly accuracy: number
  readonly judges: ReadonlyArray<AuditVote>
  readonly people: number
}

/** An outcome on an item, and its accuracy minus that of people alone. */
interface Compared extends Outcome {
  readonly index: number
  readonly difference: number
}

const referencesOf = ({ gold, people }: Ballots, isByGold: boolean): ReadonlyArray<ReadonlyArray<number>> => {
  if (isByGold) return people.flatMap(() => (gold === undefined ? [] : [[gold]]))
  return people.length < 2 ? [] : people.map((person) => majority(people.filter((other) => other !== person)))
}

/** The price of a judge's vote, and the highest price of a person's vote. */
const pricesOf = (items: ReadonlyArray<Ballots>, prices: Prices.Prices) => {
  const kinds = new Set(items.flatMap(({ people }) => people.map(({ kind }) => kind ?? "person")))
  return {
    ofJudge: ({ kind }: AuditVote) => Prices.priceOf(prices, kind ?? "judge"),
    ofPerson: [...kinds].map((kind) => Prices.priceOf(prices, kind)).reduce(Cost.max, Cost.zero),
  }
}

/**
 * Returns null if no item has a reference and votes of both judges and people.
 *
 * @param judges the names of all judges
 * @param confidenceOf the highest posterior probability of a completion, by the judges' votes
 */
export const compare = (
  items: ReadonlyArray<Ballots>,
  judges: ReadonlyArray<string>,
  confidenceOf: (item: Ballots) => number,
  bootstrap: Bootstrap,
  options: { readonly prices: Option.Option<Prices.Prices>; readonly within: number },
): AuditPolicies | null => {
  const isByGold = items.some(({ gold, judges, people }) => gold !== undefined && judges.length * people.length > 0)
  const together = judges.length > 1 ? "jury" : (judges[0] ?? "")
  const people = isByGold ? "people" : "one person"
  const routed = bounds.map((bound) => ({ bound, name: `${together}, people below ${bound}` }))
  const names = new Set([...judges, together, ...routed.map(({ name }) => name), "one person", people])
  const outcomes = new Map([...names].map((name) => [name, new Array<Compared>()]))

  for (const [index, item] of items.entries()) {
    const references = referencesOf(item, isByGold)
    if (references.length === 0 || item.judges.length === 0) continue
    const outcomeOf = (tops: ReadonlyArray<number>, judges: ReadonlyArray<AuditVote>, people = 0): Outcome => ({
      accuracy: mean(references.map((reference) => credit(tops, reference))),
      judges,
      people,
    })
    const hits = item.people.map(({ tops }, i) => credit(tops, references[i]!))
    const person: Outcome = { accuracy: mean(hits), judges: [], people: 1 }
    const alone = isByGold ? outcomeOf(majority(item.people), [], item.people.length) : person
    const add = (name: string, outcome: Outcome) =>
      outcomes.get(name)?.push({ ...outcome, index, difference: outcome.accuracy - alone.accuracy })
    for (const judge of item.judges) add(judge.expert ?? "", outcomeOf(judge.tops, [judge]))
    if (judges.length === 1 || item.judges.length > 1) {
      const jury = outcomeOf(majority(item.judges), item.judges)
      if (judges.length > 1) add(together, jury)
      const confidence = confidenceOf(item)
      for (const { bound, name } of routed) add(name, confidence < bound ? { ...alone, judges: jury.judges } : jury)
    }
    if (isByGold) add("one person", person)
    add(people, alone)
  }

  const prices = Option.map(options.prices, (prices) => pricesOf(items, prices))
  const policies = [...outcomes].flatMap(([policy, compared]): ReadonlyArray<AuditPolicy> => {
    const accuracy = bootstrap.mean(compared.map(({ accuracy, index }) => [index, accuracy]))
    const difference = bootstrap.mean(
      compared.map(({ difference, index }) => [index, difference]),
      false,
    )
    if (accuracy === null || difference === null) return []
    const votes = compared.flatMap(({ judges }) => judges)
    const people = compared.reduce((sum, outcome) => sum + outcome.people, 0)
    const cost = Option.map(prices, ({ ofJudge, ofPerson }) => {
      const all = votes.reduce((sum, vote) => Cost.plus(sum, ofJudge(vote)), Cost.times(ofPerson, people))
      return Cost.dividedBy(all, compared.length)
    })
    const [judge_votes, people_votes] = [votes.length / compared.length, people / compared.length]
    return [{ policy, accuracy, difference, judge_votes, people_votes, cost: Option.getOrNull(cost) }]
  })
  // A bound that asks people about the same items as the bound before it is left out.
  const shown = policies.filter(
    ({ people_votes, policy }, i) =>
      !routed.some(({ name }) => name === policy) || people_votes > (policies[i - 1]?.people_votes ?? 0),
  )
  if (shown.length === 0) return null
  const costOf = ({ cost, people_votes }: AuditPolicy) => (cost === null ? people_votes : Number(cost))
  const [cheapest] = shown
    .filter(({ difference }) => difference.value >= -options.within - 1e-12)
    .toSorted((a, b) => costOf(a) - costOf(b) || b.accuracy.value - a.accuracy.value)
  return {
    reference: isByGold ? "gold" : "people",
    within: options.within,
    cheapest: cheapest?.policy ?? null,
    policies: shown,
  }
}

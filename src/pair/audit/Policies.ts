/**
 * Compares policies. A policy decides an item by one judge, the jury, one person, or all people. Some policies ask
 * people only if the jury's confidence is low. The confidence is the highest posterior probability of a completion (A.
 * P. Dawid and A. M. Skene, 1979). It assumes that judges err independently. It does not use known answers.
 * - Accuracy: the probability that the policy's answer is the reference. Ties are resolved at random.
 * - Reference: the known answer, or the majority of all people except one. Each person is left out in turn.
 * - Cost: a judge's vote costs its tokens, or the judge's price. A person's vote costs the highest price of any person.
 */
import { Option } from "effect"
import type { AuditPolicies, AuditPolicy } from "../../domain/Audit.ts"
import * as Cost from "../../domain/Cost.ts"
import * as Prices from "../../domain/Prices.ts"
import * as Bootstrap from "../stats/Bootstrap.ts"
import { credit, mean } from "./Agreement.ts"
import { type AuditVote, type Ballots, majority } from "./Ballots.ts"

export const defaultWithin = 0.02

const bounds = [0.6, 0.7, 0.8, 0.9, 0.95, 0.99]

interface Outcome {
  readonly accuracy: number
  readonly judges: ReadonlyArray<AuditVote>
  readonly people: number
}

interface Comparison extends Outcome {
  readonly index: number
  readonly difference: number
}

type Reference = AuditPolicies["reference"]

const referencesOf = ({ gold, people }: Ballots, reference: Reference): ReadonlyArray<ReadonlyArray<number>> => {
  if (reference === "gold") return people.flatMap(() => (gold === undefined ? [] : [[gold]]))
  return people.length < 2 ? [] : people.map((person) => majority(people.filter((other) => other !== person)))
}

const pricesOf = (items: ReadonlyArray<Ballots>, prices: Prices.Prices) => {
  const kinds = new Set(items.flatMap(({ people }) => people.map(({ kind }) => kind ?? "person")))
  return {
    ofJudge: ({ cost, kind }: AuditVote) => cost ?? Prices.priceOf(prices, kind ?? "judge"),
    ofPerson: [...kinds].map((kind) => Prices.priceOf(prices, kind)).reduce(Cost.max, Cost.zero),
  }
}

export const compare = (
  items: ReadonlyArray<Ballots>,
  judges: ReadonlyArray<string>,
  confidences: ReadonlyArray<number>,
  bootstrap: Bootstrap.Bootstrap,
  reference: Reference,
  options: { readonly prices: Option.Option<Prices.Prices>; readonly within: number },
): Option.Option<AuditPolicies> => {
  const isByGold = reference === "gold"
  const together = judges.length > 1 ? "jury" : (judges[0] ?? "")
  const people = isByGold ? "people" : "one person"
  const routes = bounds.map((bound) => ({ bound, name: `${together}, people below ${bound}` }))
  const names = new Set([...judges, together, ...routes.map(({ name }) => name), "one person", people])
  const outcomes = new Map([...names].map((name) => [name, new Array<Comparison>()]))

  for (const [index, item] of items.entries()) {
    const references = referencesOf(item, reference)
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
      const confidence = confidences[index]!
      for (const { bound, name } of routes) add(name, confidence < bound ? { ...alone, judges: jury.judges } : jury)
    }
    if (isByGold) add("one person", person)
    add(people, alone)
  }

  const prices = Option.map(options.prices, (prices) => pricesOf(items, prices))
  const policies = [...outcomes].flatMap(([policy, comparisons]): ReadonlyArray<AuditPolicy> => {
    const accuracy = bootstrap.mean(comparisons.map(({ accuracy, index }) => [index, accuracy]))
    const difference =
      policy === people
        ? { items: comparisons.length, value: 0, low: 0, high: 0 }
        : bootstrap.mean(
            comparisons.map(({ difference, index }) => [index, difference]),
            Bootstrap.difference,
          )
    if (accuracy === null || difference === null) return []
    const votes = comparisons.flatMap(({ judges }) => judges)
    const peopleVotes = comparisons.reduce((sum, outcome) => sum + outcome.people, 0)
    const cost = Option.map(prices, ({ ofJudge, ofPerson }) => {
      const all = votes.reduce((sum, vote) => Cost.plus(sum, ofJudge(vote)), Cost.times(ofPerson, peopleVotes))
      return Cost.dividedBy(all, comparisons.length)
    })
    const [judge_votes, people_votes] = [votes.length / comparisons.length, peopleVotes / comparisons.length]
    return [{ policy, accuracy, difference, judge_votes, people_votes, cost: Option.getOrNull(cost) }]
  })
  const rows = policies.filter(
    ({ people_votes, policy }, i) =>
      !routes.some(({ name }) => name === policy) || people_votes > (policies[i - 1]?.people_votes ?? 0),
  )
  if (rows.length === 0) return Option.none()
  const costOf = ({ cost, people_votes }: AuditPolicy) => (cost === null ? people_votes : Number(cost))
  const [cheapest] = rows
    .filter(({ difference }) => difference.value >= -options.within - 1e-12)
    .toSorted((a, b) => costOf(a) - costOf(b) || b.accuracy.value - a.accuracy.value)
  return Option.some({
    reference,
    items: rows.at(-1)!.accuracy.items,
    within: options.within,
    cheapest: cheapest?.policy ?? null,
    policies: rows,
  })
}

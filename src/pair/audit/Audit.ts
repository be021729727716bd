/**
 * Audits automatic judges against the votes of people on the same items: `Agreement` and `Policies`, with 95% bootstrap
 * intervals. Mixed-in gold items are included. Rules and gold files count as judges only if the options name them.
 * Memory: about 1 kB per item, and 24 bytes for each pair of votes in each slice.
 */
import { Effect, Option, Stream } from "effect"
import type { Audit, AuditRater } from "../../domain/Audit.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import * as Prices from "../../domain/Prices.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import * as Bootstrap from "../stats/Bootstrap.ts"
import * as DawidSkene from "../stats/DawidSkene.ts"
import { votesOf } from "../votes/ItemVotes.ts"
import * as Agreement from "./Agreement.ts"
import * as Ballots from "./Ballots.ts"
import * as Policies from "./Policies.ts"

/** Options of an audit. */
export interface AuditOptions {
  /** Experts who count as judges, besides language models. */
  readonly judges?: ReadonlyArray<string> | undefined
  /** A metadata field: agreement is also computed for each of its values. `groupOf` returns an item's value. */
  readonly by?: { readonly field: string; readonly groupOf: (metadata: unknown) => string | null } | undefined
  /** Price of a vote, or prices by kind of expert. Default: none, so costs are null. */
  readonly price?: Prices.Price | undefined
  /** How much less accurate the `cheapest` policy may be than people, 0 to 1. Default 0.02 (2 percentage points). */
  readonly within?: number | undefined
  /** Number of bootstrap resamples. Default 1000. */
  readonly resamples?: number | undefined
  /** Seed for the resamples, an integer. Default 0. */
  readonly seed?: number | undefined
}

const kinds = { judges: Kinds.texts, by: Kinds.object, ...Kinds.all(Kinds.number, "within resamples seed") }

const namesOf = (ballots: ReadonlyArray<Ballots.AuditVote>): ReadonlyArray<string> => [
  ...new Set(ballots.flatMap(({ expert }) => expert ?? [])),
]

const confidenceBy = (items: ReadonlyArray<Ballots.Ballots>) => {
  const numbers = new Map<string | null, number>()
  const model = DawidSkene.make()
  const choicesOf = (ballots: ReadonlyArray<Ballots.AuditVote>) =>
    ballots.flatMap(({ expert, tops }): ReadonlyArray<DawidSkene.ExpertVote> => {
      if (tops.length > 1) return []
      if (!numbers.has(expert)) numbers.set(expert, numbers.size)
      return [[numbers.get(expert)!, tops[0]!]]
    })
  for (const { judges, people, texts } of items) model.add(texts.length, choicesOf([...judges, ...people]))
  const { reliability } = model.fit()
  return ({ judges, lengths, texts }: Ballots.Ballots): number => {
    if (texts.length < 2) return 1
    const isCandidate = Array.from(lengths.keys(), (index) => texts.includes(index))
    const votes = choicesOf(judges).map(([expert, choice]) => [reliability[expert]!, choice] as const)
    return Math.max(...DawidSkene.posterior(isCandidate, votes, texts.length))
  }
}

/** Audits the judges by the votes on a stream of items. */
export const of = Effect.fnUntraced(function* <E, R>(
  judged: Stream.Stream<JudgedItem, E, R>,
  options: AuditOptions = {},
) {
  yield* Kinds.checkStream(judged, options, kinds)
  const { by, price, resamples = Bootstrap.defaultResamples, seed = 0, within = Policies.defaultWithin } = options
  const judgeNames = new Set(options.judges)
  const items = yield* Stream.runCollect(
    Stream.map(judged, (item) => Ballots.of(item, votesOf(item), judgeNames, by?.groupOf)),
  )
  const bootstrap = Bootstrap.make(items.length, resamples, seed)
  const judges = namesOf(items.flatMap((item) => item.judges)).toSorted()
  const raterOf = (
    rater: string,
    role: AuditRater["role"],
    ballotsOf: (item: Ballots.Ballots) => ReadonlyArray<Ballots.AuditVote>,
  ) => Agreement.audit(items, { rater, role }, ballotsOf, by?.field, bootstrap)
  const raters = [
    ...judges.map((name) => raterOf(name, "judge", (item) => item.judges.filter(({ expert }) => expert === name))),
    ...(judges.length > 1 ? [raterOf("jury", "jury", (item) => Option.toArray(Ballots.juryOf(item)))] : []),
    raterOf("people", "people", ({ people }) => people),
  ]
  const prices = Option.flatMap(Option.fromUndefinedOr(price), Prices.parse)
  const confidences = items.map(confidenceBy(items))
  const policies = (["gold", "people"] as const).flatMap((reference) =>
    Option.toArray(Policies.compare(items, judges, confidences, bootstrap, reference, { prices, within })),
  )
  bootstrap.run()
  const audit: Audit = {
    items: items.length,
    compared: items.filter((item) => item.judges.length * item.people.length > 0).length,
    people: namesOf(items.flatMap(({ people }) => people)).length,
    resamples,
    seed,
    raters,
    policies,
  }
  return audit
})

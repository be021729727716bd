/** Counts the items of a job that went from judges to people, and what people's votes cost. */
import { Effect, Option } from "effect"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { textOf } from "./SpendingReport.ts"

/** Items that went from judges to people, by `peopleWhen`. */
export interface RoutingReport {
  /** The rule, such as `jury<0.9`; null if a later run ended it. */
  readonly people_when: string | null
  /** Items that judges were asked about. */
  readonly items: number
  /** Items among them with a known answer. They measure judges, and do not go to people. */
  readonly known_answers: number
  /** Items that went to people. */
  readonly to_people: number
  /** Votes that people were asked for. */
  readonly people_votes: number
  /** Their cost, at the highest price of people until a result arrives; null without a price. */
  readonly people_cost: string | null
}

export const read = LedgerReader.use(({ routed }) =>
  Effect.map(routed, (routed) =>
    Option.getOrNull(
      Option.map(routed, ({ isPriced, items, knownAnswers, people, rule, toPeople }): RoutingReport => ({
        people_when: rule ?? null,
        items,
        known_answers: knownAnswers,
        to_people: toPeople,
        people_votes: people.votes,
        people_cost: isPriced ? textOf(people).cost : null,
      })),
    ),
  ),
)

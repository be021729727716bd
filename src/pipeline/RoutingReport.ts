/** Counts the items of a job that went from judges to people, and the cost of the people's votes. */
import { Effect, Option } from "effect"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { textOf } from "./SpendingReport.ts"

/** Counts of a job whose rule `peopleWhen` sends items from judges to people. */
export interface RoutingReport {
  /** The rule, such as `jury<0.9`; null if a later run ended the rule. */
  readonly people_when: string | null
  /** Items that judges were asked about. */
  readonly items: number
  /** Number of `items` with a known answer. These items measure the judges, and do not go to people. */
  readonly known_answers: number
  /** Items that went to people. */
  readonly to_people: number
  /** Number of votes requested from people. */
  readonly people_votes: number
  /**
   * The cost of `people_votes`. A vote without a result counts at the highest price for people. Null without a price.
   */
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

/** The items that went from judges to people, and the cost of the people's votes. */
import { Effect, Option } from "effect"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { textOf } from "./SpendingReport.ts"

export interface RoutingReport {
  /** The rule for sending items to people. Null if a later run ended the rule. */
  readonly people_when: string | null
  /** Items that judges were asked about. */
  readonly items: number
  /** Items with a known answer. They measure the judges, and do not go to people. */
  readonly known_answers: number
  readonly to_people: number
  readonly people_votes: number
  /** The cost of `people_votes`; null without a price. A vote without a result counts at the highest possible price. */
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

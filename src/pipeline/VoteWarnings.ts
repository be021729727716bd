/** Warns about votes and results that count in a way the user may not expect. */
import { Effect } from "effect"
import { count, excerpt, plural } from "../io/Values.ts"
import type { ExpertRow } from "../domain/QualityReport.ts"
import type { CurationReport } from "../pair/Curation.ts"
import { wilsonInterval } from "../domain/Interval.ts"

/** Normal quantile of a 99.9% interval, which is wide to avoid false warnings among many experts. */
const normal999 = 3.2905267314919255

/** Whether the accuracy on gold items is certainly below the reliability estimated from all experts' votes. */
const isOverrated = ({ gold_right, gold_votes, reliability }: ExpertRow): boolean =>
  reliability !== null && (wilsonInterval(gold_right, gold_votes, normal999)?.high ?? 1) < reliability

export const log = Effect.fnUntraced(function* ({
  agreement,
  experts,
  lost,
  missing,
  repeatedVotes,
  short,
  unread,
}: CurationReport) {
  for (const { expert, gold_right, gold_votes, reliability } of experts.filter(isOverrated)) {
    yield* Effect.logWarning(
      `${expert ?? "votes without an expert"}: ${gold_right} of ${gold_votes} votes on gold items are correct, but the estimated reliability is ${reliability?.toFixed(2)}. This estimate is too high, because other experts make the same mistakes. The settings \`aggregate: "dawid-skene"\` and \`Pipeline.leaderboard({ weighted: true })\` use this estimate to weight votes. Remove the votes of ${expert === null ? "experts without a name" : "this expert"}, or add more gold items`,
    )
  }
  if (unread !== undefined) {
    yield* Effect.logWarning(
      `in ${unread.count} ${plural(unread.count, "result")} (first: item ${excerpt(unread.itemId, 60)}), "${unread.place}" seems to list several judgments, but its format is unknown. Each of these results counts as one vote. To count each judgment as a vote, the service must list the judgments in \`annotations.votes\` (see src/service/README.md)`,
    )
  }
  if (missing.votes > 0) {
    yield* Effect.logWarning(
      `${count(missing.results, "result")} ${plural(missing.results, "has", "have")} fewer votes than requested: ${count(missing.votes, "vote is", "votes are")} missing. The cost of the job includes the missing votes. Ask the provider of the service to list all votes in \`annotations.votes\`, or to bill fewer votes`,
    )
  }
  if (short.votes > 0) {
    yield* Effect.logWarning(
      `${count(short.results, "result")} ${plural(short.results, "has", "have")} fewer votes than requested, because experts gave no answer: ${count(short.votes, "vote is", "votes are")} missing. The cost of the job includes the missing votes. The service's log shows why the experts gave no answer`,
    )
  }
  if (repeatedVotes > 0) {
    yield* Effect.logWarning(
      `${repeatedVotes} ${plural(repeatedVotes, "vote does not count, because its expert", "votes do not count, because their experts")} had already voted on the same item`,
    )
  }
  const service = agreement.not_majority.find(({ by }) => by === "service")?.items ?? 0
  if (service > 0) {
    const dropped = lost.find(({ reason }) => reason === "against_votes")?.count ?? 0
    yield* Effect.logWarning(
      `on ${service} ${plural(service, "item")}, the service's choice differs from the majority of the votes. The dataset leaves out the items with more votes against the service's choice than for this choice (${count(dropped, "item")}). To let the votes decide, use \`aggregate: "dawid-skene"\``,
    )
  }
})

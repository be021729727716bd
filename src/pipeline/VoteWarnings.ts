/** Says which votes and results of a dataset do not count as a reader may expect. */
import { Effect } from "effect"
import { excerpt } from "../io/Values.ts"
import type { CurationReport } from "../pair/Curation.ts"

const count = (items: number): string => (items === 1 ? "1 item" : `${items} items`)

export const log = Effect.fnUntraced(function* ({ agreement, lost, repeatedVotes, unread }: CurationReport) {
  if (unread !== undefined) {
    yield* Effect.logWarning(
      `"${unread.place}" of ${unread.count} results seems to list several judgments, and was not understood (the first of item ${excerpt(unread.itemId, 60)}): each counts as one vote. The guide src/service/README.md shows the list that is read, annotations.votes`,
    )
  }
  if (repeatedVotes > 0) {
    yield* Effect.logWarning(
      repeatedVotes === 1
        ? "1 vote does not count: its expert had voted on the same item before"
        : `${repeatedVotes} votes do not count: their experts had voted on the same item before`,
    )
  }
  const service = agreement.not_majority.find(({ by }) => by === "service")?.items ?? 0
  if (service > 0) {
    const dropped = lost.find(({ reason }) => reason === "against_votes")?.count ?? 0
    yield* Effect.logWarning(
      `on ${count(service)}, the service's choice is not that of the majority of the votes; ${count(dropped)} ${dropped === 1 ? "was" : "were"} left out, since more votes contradict the choice than support it. With --aggregate dawid-skene, the votes choose`,
    )
  }
})

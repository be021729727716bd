/**
 * Further votes where they are worth most: from the judgments of the ledger to the items that want another vote.
 *
 * Guarantees: the choice follows from the ledger alone. Gold items count with their known answers, and get no further votes.
 * Memory: some 100 bytes per vote.
 */
import { Effect, Stream } from "effect"
import { firstOfText } from "../domain/Tally.ts"
import { isDecided, votesOf } from "../pair/votes/ItemVotes.ts"
import { choose as chooseNext, defaultConfidence, type OpenItem } from "../pair/votes/NextVotes.ts"
import type { Choose } from "../task/FurtherVotes.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ItemPlace } from "../task/ledger/FurtherVotes.ts"
import type { RunTerms } from "../task/ledger/Model.ts"
import * as Results from "../task/Results.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"

export interface Confidence {
  /**
   * Probability of an item's best completion, by its votes and the experts' reliabilities, from which it gets no more votes
   * than `votes`, up to `votesUpTo`. Default 0.95.
   */
  readonly confidence?: number | undefined
}

/** Undefined where each item has a fixed number of votes. */
export const chooser = ({
  annotationPaths,
  confidence = defaultConfidence,
  votes = 1,
  votesUpTo = votes,
}: Pick<RunTerms, "votes" | "votesUpTo"> & Pick<ResultsSettings, "annotationPaths"> & Confidence): Choose | undefined =>
  votesUpTo <= votes
    ? undefined
    : Effect.fn("AdaptiveVotes.choose")(function* (campaign) {
        const ledger = yield* LedgerReader
        const courses = yield* ledger.voteCourses(campaign)
        const experts = new Map<string | null, number>()
        const numberOf = (expert: string | null): number => {
          const number = experts.get(expert) ?? experts.size
          experts.set(expert, number)
          return number
        }
        const items: Array<OpenItem & ItemPlace> = []
        yield* Stream.runForEach(Results.placed(campaign, annotationPaths), ({ batch, isWithdrawn, item, seq }) =>
          Effect.sync(() => {
            // Nobody judges it any more.
            if (item === undefined) return
            const { completions, gold, isCheck } = item
            const first = firstOfText(completions)
            const course = courses.get(seq)
            items.push({
              seq,
              batch,
              isSettled:
                isCheck || isWithdrawn || course === undefined || course.isWaiting || course.next._tag === "None",
              completions: new Set(completions).size,
              votes: votesOf(item)
                .filter(isDecided)
                .map(({ choice, expert }) => [numberOf(expert), choice] as const),
              truth: gold === undefined ? undefined : first[gold.best_completion_index],
            })
          }),
        )
        let waiting = 0
        for (const { waitsForFurther } of courses.values()) if (waitsForFurther) waiting++
        return chooseNext(items, { confidence, waiting })
      }, LedgerReader.snapshot)

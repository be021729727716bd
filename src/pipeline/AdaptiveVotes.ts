/**
 * Chooses the items that need another vote most, from the judgments in the ledger.
 *
 * Guarantees: the choice depends only on the ledger and the annotation paths. Gold items get no further votes. Their
 * known answers help to estimate the experts' reliabilities. Memory: about 100 bytes per vote.
 */
import { type Duration, Effect, Schedule, Stream } from "effect"
import { firstOfText } from "../domain/CompletionTexts.ts"
import { isDecided, votesOf } from "../pair/votes/ItemVotes.ts"
import { choose as chooseNext, defaultConfidence, type OpenItem } from "../pair/votes/NextVotes.ts"
import { type ChooseItems, planFurtherVotes } from "../task/FurtherVotes.ts"
import type { ItemPlace } from "../task/ledger/writes/FurtherVotes.ts"
import { Ledger, LedgerReader } from "../task/ledger/Ledger.ts"
import type { RunTerms } from "../task/ledger/schema/Model.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"

type VoteTerms = Pick<RunTerms, "votes" | "votesUpTo" | "confidence">
type ReadSettings = Pick<ResultsSettings, "annotationPaths">

/** The confidence that the votes on an item should reach. Undefined if `votes` and `votesUpTo` are equal. */
export const confidenceOf = ({ confidence = defaultConfidence, votes = 1, votesUpTo = votes }: VoteTerms) =>
  votesUpTo > votes ? confidence : undefined

/** Counts the further votes that a campaign may still need: on items that need another vote, or wait for one. */
export const furtherVotesLeft = Effect.fn("AdaptiveVotes.furtherVotesLeft")(function* (
  settings: ReadSettings,
  campaign: number,
  confidence: number,
) {
  const wanted = new Set((yield* choose(settings)(campaign, confidence)).wanted.map(({ seq }) => seq))
  let votes = 0
  for (const [seq, { isWaiting, left }] of yield* LedgerReader.use((ledger) => ledger.voteCourses(campaign))) {
    if (isWaiting || wanted.has(seq)) votes += left
  }
  return votes
}, LedgerReader.snapshot)

export const choose = ({ annotationPaths }: ReadSettings): ChooseItems =>
  Effect.fn("AdaptiveVotes.choose")(
    function* (campaign, confidence) {
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
          // The item has no usable judgment.
          if (item === undefined) return
          const { completions, gold, isCheck } = item
          const first = firstOfText(completions)
          const course = courses.get(seq)
          items.push({
            seq,
            batch,
            isSettled: isCheck || isWithdrawn || course === undefined || course.isWaiting || course.left === 0,
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
      const chosen = chooseNext(items, { confidence, waiting, votesLeft: yield* ledger.votesLeft })
      return { ...chosen, ended: yield* ledger.endedVotes }
    },
    LedgerReader.snapshot,
    keepNames,
  )

/**
 * For workers: when all results have arrived, plans a round of further votes, as `Pipeline.run` does. Checks once per
 * `interval`, and never ends.
 */
export const planRounds = Effect.fn("AdaptiveVotes.planRounds")(function* (
  { annotationPaths, shuffleSeed }: Pick<RunTerms, "shuffleSeed"> & ReadSettings,
  interval: Duration.Duration,
) {
  const ledger = yield* Ledger
  const plan = Effect.gen(function* () {
    yield* ledger.readAlone
    // Another command may have planned a round in the meantime.
    if (yield* ledger.isChoiceDue) yield* planFurtherVotes(choose({ annotationPaths }), { shuffleSeed })
  }).pipe(Effect.scoped)
  const check = Effect.flatMap(ledger.isChoiceDue, (isDue) => (isDue ? plan : Effect.void))
  return yield* Effect.andThen(Effect.repeat(check, Schedule.spaced(interval)), Effect.never)
})

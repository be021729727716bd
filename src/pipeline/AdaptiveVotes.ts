/**
 * Chooses the items for which another vote helps most. Gold items have a known answer, so they get no further votes.
 * Their earlier votes show how reliable each expert is. If `peopleWhen` is set, all language models that vote on an
 * item count as one voter (`pair/votes/Jury`). Memory: 100 bytes per vote.
 */
import { type Duration, Effect, Option, Schedule, Stream } from "effect"
import { firstOfText } from "../domain/CompletionTexts.ts"
import * as Judge from "../domain/Judge.ts"
import { boundOf } from "../domain/Voters.ts"
import * as Sha256 from "../node/Sha256.ts"
import { votesOf } from "../pair/votes/ItemVotes.ts"
import * as Jury from "../pair/votes/Jury.ts"
import { choose as chooseNext, defaultConfidence } from "../pair/votes/NextVotes.ts"
import { choose as chooseForPeople, type RoutedItem } from "../pair/votes/Routing.ts"
import { type ChooseItems, planFurtherVotes } from "../task/FurtherVotes.ts"
import type { FurtherTerms, ItemPlace } from "../task/ledger/writes/FurtherVotes.ts"
import { Ledger, LedgerReader } from "../task/ledger/Ledger.ts"
import type { RunTerms } from "../task/ledger/schema/Model.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"

type VoteTerms = Pick<RunTerms, "votes" | "votesUpTo" | "confidence" | "peopleWhen">
type ReadSettings = Pick<ResultsSettings, "annotationPaths">

export const furtherTermsOf = ({
  confidence = defaultConfidence,
  peopleWhen,
  votes = 1,
  votesUpTo = votes,
}: VoteTerms): Option.Option<FurtherTerms> => {
  const bound = Option.getOrUndefined(Option.flatMap(Option.fromUndefinedOr(peopleWhen), boundOf))
  return votesUpTo > votes ? Option.some({ confidence, bound }) : Option.none()
}

export const furtherVotesLeft = Effect.fn("AdaptiveVotes.furtherVotesLeft")(function* (
  settings: ReadSettings,
  campaign: number,
  terms: FurtherTerms,
) {
  const wanted = new Set((yield* choose(settings)(campaign, terms)).wanted.map(({ seq }) => seq))
  let votes = 0
  for (const [seq, { isWaiting, left }] of yield* LedgerReader.use((ledger) => ledger.voteCourses(campaign))) {
    if (isWaiting || wanted.has(seq)) votes += left
  }
  return votes
}, LedgerReader.snapshot)

interface ChosenItem extends RoutedItem, ItemPlace {}

const drawOf = (itemId: string): number => Number.parseInt(Sha256.hex(itemId).slice(0, 8), 16)

export const choose = ({ annotationPaths }: ReadSettings): ChooseItems =>
  Effect.fn("AdaptiveVotes.choose")(
    function* (campaign, { bound, confidence }) {
      const ledger = yield* LedgerReader
      const courses = yield* ledger.voteCourses(campaign)
      const experts = new Map<string | null, number>()
      const numberOf = (expert: string | null): number => {
        const number = experts.get(expert) ?? experts.size
        experts.set(expert, number)
        return number
      }
      const items: Array<ChosenItem> = []
      yield* Stream.runForEach(Results.placed(campaign, annotationPaths), (placed) =>
        Effect.sync(() => {
          const { batch, hasGold, isCheck, isUnanswered, isWithdrawn, item, itemId, seq } = placed
          const course = courses.get(seq)
          const isSettled = isCheck || isWithdrawn || course === undefined || course.isWaiting || course.left === 0
          const draw = bound === undefined ? 0 : drawOf(itemId)
          if (item === undefined) {
            const waits = course?.waitsForPeople === true ? "waiting" : "none"
            if (isUnanswered && !hasGold) {
              items.push({ seq, batch, isSettled, completions: 2, votes: [], pattern: undefined, people: waits, draw })
            }
            return
          }
          const { completions, gold } = item
          const first = firstOfText(completions)
          const all = votesOf(item)
          const votes = Jury.counted(all, bound !== undefined)
          const jury = votes[0]?.jury
          const hasPerson = all.some(({ expert, kind = null }) => Judge.roleOf(expert, kind) === "person")
          items.push({
            seq,
            batch,
            isSettled,
            completions: new Set(first).size,
            votes: votes.map(({ choice, expert, jury }) => [numberOf(expert), choice, jury?.parties] as const),
            truth: gold === undefined ? undefined : first[gold.best_completion_index],
            pattern: jury === undefined ? undefined : numberOf(jury.pattern),
            people: hasPerson ? "voted" : course?.waitsForPeople === true ? "waiting" : "none",
            draw,
          })
        }),
      )
      let waiting = 0
      for (const { waitsForFurther } of courses.values()) if (waitsForFurther) waiting++
      const limits = { confidence, waiting, votesLeft: yield* ledger.votesLeft }
      const chosen = bound === undefined ? chooseNext(items, limits) : chooseForPeople(items, { ...limits, bound })
      return { ...chosen, ended: yield* ledger.endedVotes }
    },
    LedgerReader.snapshot,
    keepNames,
  )

export const planRounds = Effect.fn("AdaptiveVotes.planRounds")(function* (
  { annotationPaths, shuffleSeed }: Pick<RunTerms, "shuffleSeed"> & ReadSettings,
  interval: Duration.Duration,
) {
  const ledger = yield* Ledger
  const plan = Effect.gen(function* () {
    yield* ledger.readAlone
    // While `readAlone` waits, another command may plan the further votes. Therefore, `isChoiceDue` is read again.
    if (yield* ledger.isChoiceDue) yield* planFurtherVotes(choose({ annotationPaths }), { shuffleSeed })
  }).pipe(Effect.scoped)
  const check = Effect.flatMap(ledger.isChoiceDue, (isDue) => (isDue ? plan : Effect.void))
  return yield* Effect.andThen(Effect.repeat(check, Schedule.spaced(interval)), Effect.never)
})

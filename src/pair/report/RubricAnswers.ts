/**
 * Counts the experts' answers to a rubric. Edits and `all_bad` count once per item, as in the consensus. A rating can
 * count twice: in `chosen` if a pair prefers the rated completion, and in `rejected` if a pair rejects it.
 */
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { AspectReport, RubricReport, StrengthReport } from "../../domain/RubricReport.ts"
import * as Assessment from "../../domain/Assessment.ts"
import { firstOfText } from "../../domain/CompletionTexts.ts"
import * as Distribution from "../stats/Distribution.ts"
import * as KrippendorffAlpha from "../stats/KrippendorffAlpha.ts"
import * as Moments from "../stats/Moments.ts"
import type { Consensus } from "../votes/Consensus.ts"
import { isDecided, isUnanimous, type ItemVote } from "../votes/ItemVotes.ts"
import { charactersOf } from "../../domain/Text.ts"

const maxAspects = 50
const maxModels = 100

type Outcome = StrengthReport["by_outcome"][number]["outcome"]
const outcomes: ReadonlyArray<Outcome> = ["one_vote", "unanimous", "divided", "tie"]

const outcomeOf = ({ agreement, isTie, votes }: Consensus): Outcome =>
  agreement === null ? "one_vote" : isTie ? "tie" : isUnanimous(votes) ? "unanimous" : "divided"

const isAnswered = ({ all_bad, aspects, edited, strength }: ItemVote): boolean =>
  [all_bad, aspects, edited, strength].some((answer) => answer !== undefined)

const newAspect = () => ({
  chosen: Distribution.make(),
  rejected: Distribution.make(),
  alpha: KrippendorffAlpha.makeInterval(),
  models: new Map<string, Moments.Moments>(),
  ratings: 0,
})
type AspectTally = ReturnType<typeof newAspect>

const reportOf = (aspect: string, { alpha, chosen, models, rejected }: AspectTally): AspectReport => ({
  aspect,
  chosen: chosen.distribution(),
  rejected: rejected.distribution(),
  krippendorff_alpha: alpha.alpha(),
  models: [...models]
    .map(([model, moments]) => ({ model, ratings: moments.count(), mean: moments.mean()! }))
    .toSorted((a, b) => b.ratings - a.ratings || (a.model < b.model ? -1 : 1))
    .slice(0, maxModels)
    .toSorted((a, b) => b.mean - a.mean || b.ratings - a.ratings || (a.model < b.model ? -1 : 1)),
})

export const make = () => {
  const strengths = Distribution.make()
  const strengthAlpha = KrippendorffAlpha.makeInterval()
  const byOutcome = new Map(outcomes.map((outcome) => [outcome, Moments.make()]))
  const changes = Distribution.make()
  const aspects = new Map<string, AspectTally>()
  let items = 0
  let votes = 0
  let allBadAnswers = 0
  let allBad = 0

  const aspectOf = (name: string): AspectTally => {
    const aspect = aspects.get(name) ?? newAspect()
    aspects.set(name, aspect)
    return aspect
  }

  return {
    /** @param pairs empty if the item is left out of the dataset */
    add: (consensus: Consensus, pairs: ReadonlyArray<PreferencePair>): void => {
      const answered = consensus.votes.filter(isAnswered)
      if (answered.length === 0) return
      const { annotations, bestCompletionIndex: best, completions, models } = consensus.judgment
      items++
      votes += answered.length

      const first = firstOfText(completions)
      const votesWithStrength = answered.filter((vote) => vote.strength !== undefined)
      for (const { strength } of votesWithStrength) strengths.add(strength!)
      strengthAlpha.add(
        votesWithStrength
          .filter((vote) => isDecided(vote) && vote.choice === first[best])
          .map(({ strength }) => strength!),
      )
      const { all_bad, edited, strength } = Assessment.read(annotations, best, completions.length)
      if (strength !== undefined) byOutcome.get(outcomeOf(consensus))!.add(strength)
      if (all_bad !== undefined) allBadAnswers++
      if (all_bad === true) allBad++
      if (edited !== undefined && edited !== completions[best]) {
        changes.add(charactersOf(edited) - charactersOf(completions[best]!))
      }

      const chosen = new Set(pairs.map(({ chosen_index }) => chosen_index))
      const rejected = new Set(pairs.map(({ rejected_index }) => rejected_index))
      for (const name of new Set(answered.flatMap((vote) => Object.keys(vote.aspects ?? {})))) {
        const aspect = aspectOf(name)
        for (const i of completions.keys()) {
          const ratings = answered.flatMap((vote) => vote.aspects?.[name]?.[i] ?? [])
          aspect.alpha.add(ratings)
          aspect.ratings += ratings.length
          const model = models?.[i]
          if (model !== undefined && ratings.length > 0 && !aspect.models.has(model)) {
            aspect.models.set(model, Moments.make())
          }
          for (const rating of ratings) {
            if (chosen.has(i)) aspect.chosen.add(rating)
            if (rejected.has(i)) aspect.rejected.add(rating)
            if (model !== undefined) aspect.models.get(model)!.add(rating)
          }
        }
      }
    },
    finish: (): RubricReport | undefined => {
      if (items === 0) return undefined
      const ofVotes = strengths.distribution()
      const lengthChange = changes.distribution()
      return {
        items,
        votes,
        strength:
          ofVotes.count === 0
            ? null
            : {
                votes: ofVotes,
                by_outcome: [...byOutcome].flatMap(([outcome, moments]) => {
                  const mean = moments.mean()
                  return mean === null ? [] : [{ outcome, items: moments.count(), mean }]
                }),
                krippendorff_alpha: strengthAlpha.alpha(),
              },
        all_bad: { answered: allBadAnswers, items: allBad },
        edited: { items: lengthChange.count, length_change: lengthChange },
        aspect_count: aspects.size,
        aspects: [...aspects]
          .toSorted(([a, one], [b, other]) => other.ratings - one.ratings || (a < b ? -1 : 1))
          .slice(0, maxAspects)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, aspect]) => reportOf(name, aspect)),
      }
    },
  }
}

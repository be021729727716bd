/**
 * Splits the judgment of a task with several votes into one judgment per vote. The first judgment has the flags and a
 * lead's decision. A judgment with fewer than two listed votes stays whole. Others are split if a lead decided, or if
 * `tally` of the votes gives the judgment's choice. `missingVotes` counts votes that were asked for but not given.
 */
import { Option, Struct } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import * as Decision from "../domain/Decision.ts"
import type { Judgment } from "../domain/Judgment.ts"
import { tally } from "../domain/Tally.ts"
import { listedIn, onePerExpert } from "../domain/Vote.ts"

const ofAllVotes = ["agreement", "expert", "ranking", "rationale", "tie", ...Assessment.names] as const

export const perVote = (whole: Judgment, asks: number): ReadonlyArray<Judgment> => {
  const { annotations, bestCompletionIndex, completions } = whole
  const votes = Option.getOrElse(listedIn(annotations, completions.length), () => [])
  const missingVotes = asks - Math.max(votes.length, 1)
  // A lead may decide before all votes are given. Then no vote is missing.
  const judgment = missingVotes > 0 && !Decision.isIn(annotations) ? { ...whole, missingVotes } : whole
  if (votes.length < 2) return [judgment]
  const isDecided = Decision.isIn(annotations)
  const { best } = tally(completions, onePerExpert(votes))
  if (!isDecided && completions[best] !== completions[bestCompletionIndex]) return [judgment]
  const shared = Struct.omit(annotations, ofAllVotes)
  const laterShared = Struct.omit(shared, ["decision", "flags"])
  return votes.map((vote, i): Judgment => {
    const { choice, rationale } = vote
    const own = { ...(rationale !== undefined && { rationale }), votes: [vote] }
    const number = { ...(i === 0 ? judgment : whole), vote: judgment.vote + i }
    if (i === 0 && isDecided) return { ...number, annotations: { ...annotations, votes: [vote] } }
    return { ...number, bestCompletionIndex: choice, annotations: { ...(i === 0 ? shared : laterShared), ...own } }
  })
}

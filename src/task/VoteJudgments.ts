/**
 * The judgment of a task that asks for several votes, as one judgment for each vote.
 *
 * Guarantees: all that follows counts the votes as if each had its own task. Flags and a lead's decision are in the first
 * judgment. The judgment stays whole if the result lists no votes, or if its choice is not that of the votes.
 */
import { Option, Struct } from "effect"
import * as Assessment from "../domain/Assessment.ts"
import * as Decision from "../domain/Decision.ts"
import type { Judgment } from "../domain/Judgment.ts"
import { tally } from "../domain/Tally.ts"
import { listedIn, onePerExpert } from "../domain/Vote.ts"

const ofAllVotes = ["agreement", "expert", "ranking", "rationale", "tie", ...Assessment.names] as const

export const perVote = (judgment: Judgment): ReadonlyArray<Judgment> => {
  const { annotations, bestCompletionIndex, completions } = judgment
  const votes = Option.getOrElse(listedIn(annotations, completions.length), () => [])
  if (votes.length < 2) return [judgment]
  const isDecided = Decision.isIn(annotations)
  const { best, tie } = tally(completions, onePerExpert(votes))
  if (!isDecided && !tie && completions[best] !== completions[bestCompletionIndex]) return [judgment]
  const shared = Struct.omit(annotations, ofAllVotes)
  const laterShared = Struct.omit(shared, ["decision", "flags"])
  return votes.map((vote, i): Judgment => {
    const { choice, rationale } = vote
    const own = { ...(rationale !== undefined && { rationale }), votes: [vote] }
    const number = { ...judgment, vote: judgment.vote + i }
    if (i === 0 && isDecided) return { ...number, annotations: { ...annotations, votes: [vote] } }
    return { ...number, bestCompletionIndex: choice, annotations: { ...(i === 0 ? shared : laterShared), ...own } }
  })
}

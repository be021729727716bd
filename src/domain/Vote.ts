/**
 * One expert's vote on one prompt, an element of `annotations.votes` of a result. Indices are zero-based and refer to
 * the completions in the order of the task, not in the order that the expert saw. A ranking contains each index once.
 */
import { Option, Schema, Struct } from "effect"
import * as Assessment from "./Assessment.ts"
import { described } from "./Described.ts"
import { Index, Ranking, rankingText } from "./Ranking.ts"

export const fields = {
  expert: described(
    "The expert's name: `expert_…` for a person, or the name of a scripted expert or language model.",
    Schema.String,
  ),
  kind: described(
    "The kind of expert: `person`, `judge` (a language model), or `automatic` (a rule or gold file).",
    Schema.String,
  ),
  choice: described(
    "Index of the preferred completion. If several completions share the top rank, the one of them that was shown first.",
    Index,
  ),
  ranking: described(`${rankingText} Present if the expert gave a ranking.`, Ranking),
  order: described("The order in which the completions were shown to this expert, as indices.", Schema.Array(Index)),
  seconds: described(
    "Seconds from showing the prompt to submitting the vote, excluding time when the page was hidden or idle.",
    Schema.Finite,
  ),
  ...Assessment.fields,
  rationale: described("The expert's reason for the choice, if given.", Schema.String),
  flags: described("Problems that the expert marked, by their names in the rubric.", Schema.Array(Schema.String)),
  guidelines_version: described(
    "Version of the guidelines that the expert saw; present if they were changed. Version 1 came with the task.",
    Schema.Int,
  ),
  repeated: described(
    "True if the person had already voted on the same prompt and completions in another task with the same guidelines. A person votes repeatedly only if the service allows repeated votes, or if the prompt is a gold item.",
    Schema.Boolean,
  ),
  details: described(
    "Details of an automatic expert's vote, such as a language model's answers for both completion orders.",
    Schema.Record(Schema.String, Schema.Json),
  ),
}

export const Vote = Schema.Struct(fields).mapFields(
  Struct.mapOmit(["expert", "choice", "order", "seconds"], Schema.optionalKey),
)
export type Vote = typeof Vote.Type

/** The first vote of each named expert, and all votes without an expert's name. */
export const onePerExpert = <V extends { readonly expert: string | null }>(
  votes: ReadonlyArray<V>,
): ReadonlyArray<V> => {
  const seen = new Set<string>()
  return votes.filter(({ expert }) => expert === null || (!seen.has(expert) && seen.add(expert)))
}

/** A vote that was given elsewhere, as an element of `annotations.votes` of an imported result. */
export interface ImportedVote extends Partial<Omit<Vote, "choice" | "expert" | "strength">>, Pick<Vote, "choice"> {
  /** The expert's name; null if the file names no expert. */
  readonly expert: string | null
  /** The strength, unchanged from the file. */
  readonly strength?: string | number
  /** The time at which the vote was given, unchanged from the file. */
  readonly judged_at?: string | number
}

/** A vote in a list. If one of these fields has an invalid value, prefstream does not read the list. */
const Listed = Schema.StructWithRest(
  Schema.Struct({
    ...Struct.pick(Vote.fields, ["choice", "ranking", "rationale"]),
    /** The expert's name; null if an imported vote has no name. */
    expert: Schema.NullOr(Schema.String),
    order: Schema.optionalKey(Vote.fields.order),
    seconds: Schema.optionalKey(Vote.fields.seconds),
  }),
  [Schema.Record(Schema.String, Schema.Unknown)],
)
export const ListedVotes = Schema.NonEmptyArray(Listed)
const asVotes = Schema.decodeUnknownOption(ListedVotes)

const fits =
  (completions: number) =>
  ({ choice, order, ranking }: typeof Listed.Type): boolean =>
    choice < completions &&
    (order === undefined || isPermutation(order, completions)) &&
    (ranking === undefined || (isPermutation(ranking.flat(), completions) && ranking[0]?.includes(choice) === true))

const isPermutation = (indices: ReadonlyArray<number>, length: number): boolean =>
  indices.length === length && new Set(indices).size === length && indices.every((index) => index < length)

export type ListedVote = ImportedVote & typeof Listed.Type

/** The list of votes; none if there is no list, or if a vote does not fit the completions. */
export const listedIn = (
  { votes }: { readonly [member: string]: unknown },
  completions: number,
): Option.Option<ReadonlyArray<ListedVote>> =>
  Option.filter(asVotes(votes), (all) => all.every(fits(completions))) as Option.Option<ReadonlyArray<ListedVote>>

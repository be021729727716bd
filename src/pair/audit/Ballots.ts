/** The votes of judges and people on an item. `tops` has the indices of the texts that a vote puts first. */
import { Option, Schema } from "effect"
import { charactersAt, firstOfText } from "../../domain/CompletionTexts.ts"
import type * as Cost from "../../domain/Cost.ts"
import * as JudgeUsage from "../../domain/JudgeUsage.ts"
import * as Judge from "../../domain/Judge.ts"
import type { JudgedItem } from "../../domain/Judgment.ts"
import { leadersOf, topOf } from "../../domain/Tally.ts"
import type { ItemVote } from "../votes/ItemVotes.ts"

/** A judge's answers in both orders, from the `details` of votes of `judge:MODEL`. */
export interface Swap {
  /** Share of pairs with the same answer in both orders. */
  readonly consistent: number
  /** Share of answers that prefer the completion shown first. Ties do not count. NaN if all answers are ties. */
  readonly first: number
}

export interface AuditVote {
  readonly expert: string | null
  readonly kind: string | null
  readonly tops: ReadonlyArray<number>
  /** Zero-based position at which the choice was shown. Null if the vote is a tie, or the text was shown twice. */
  readonly position: number | null
  readonly swap: Swap | undefined
  readonly cost: Cost.Decimal | undefined
}

export interface Ballots {
  /** Indices of the completions, without those that repeat the text of an earlier completion. */
  readonly texts: ReadonlyArray<number>
  /** The lengths of all completions, in Unicode code points. */
  readonly lengths: ReadonlyArray<number>
  readonly models: ReadonlyArray<string> | undefined
  readonly gold: number | undefined
  readonly group: string | null
  readonly judges: ReadonlyArray<AuditVote>
  readonly people: ReadonlyArray<AuditVote>
}

const decodeDetails = Schema.decodeUnknownOption(
  Schema.Struct({
    answers: Schema.Array(
      Schema.Struct({ order: Schema.Tuple([Schema.Int, Schema.Int]), choice: Schema.NullOr(Schema.Int) }),
    ),
  }),
)

/** A judge compares two completions once in each order. The two answers are next to each other in `answers`. */
const swapOf = ({ details }: ItemVote): Swap | undefined => {
  const { answers } = Option.getOrElse(decodeDetails(details), () => ({ answers: [] }))
  const comparisons = answers.flatMap((one, i) => {
    const other = answers[i + 1]
    const isPair = i % 2 === 0 && other?.order[0] === one.order[1] && other.order[1] === one.order[0]
    return isPair ? [[one, other] as const] : []
  })
  if (comparisons.length === 0) return undefined
  const isSame = comparisons.filter(([one, other]) => one.choice === other.choice)
  const preferences = comparisons.flat().filter(({ choice }) => choice !== null)
  const isFirst = preferences.filter(({ choice, order }) => choice === order[0])
  return { consistent: isSame.length / comparisons.length, first: isFirst.length / preferences.length }
}

const costOf = ({ details }: ItemVote) => Option.getOrUndefined(JudgeUsage.read(details))?.whole

/** @param judgeNames experts who count as judges, whatever their kind */
export const of = (
  item: Pick<JudgedItem, "completions" | "models" | "gold" | "metadata">,
  votes: ReadonlyArray<ItemVote>,
  judgeNames: ReadonlySet<string>,
  groupOf: (metadata: unknown) => string | null = () => null,
): Ballots => {
  const { completions, gold, metadata, models } = item
  const first = firstOfText(completions)
  const ballots = votes.map((vote) => {
    const { expert, kind = null, position } = vote
    const role = expert !== null && judgeNames.has(expert) ? "judge" : Judge.roleOf(expert, kind)
    const name = role === "judge" ? (expert ?? "unnamed judge") : expert
    return { role, ballot: { expert: name, kind, tops: topOf(vote), position, swap: swapOf(vote), cost: costOf(vote) } }
  })
  const withRole = (role: string) => ballots.flatMap((each) => (each.role === role ? [each.ballot] : []))
  return {
    texts: [...new Set(first)],
    lengths: Array.from(completions.keys(), (index) => charactersAt(completions, index)),
    models,
    gold: gold === undefined ? undefined : first[gold.best_completion_index],
    group: groupOf(metadata),
    judges: withRole("judge"),
    people: withRole("person"),
  }
}

/** Indices of the texts with the most votes. A vote that puts n texts first counts as 1/n for each of them. */
export const majority = (ballots: ReadonlyArray<Pick<AuditVote, "tops">>): ReadonlyArray<number> =>
  leadersOf(ballots.map(({ tops }) => tops))

export const juryOf = ({ judges }: Ballots): Option.Option<AuditVote> =>
  judges.length < 2
    ? Option.none()
    : Option.some({
        expert: null,
        kind: null,
        tops: majority(judges),
        position: null,
        swap: undefined,
        cost: undefined,
      })

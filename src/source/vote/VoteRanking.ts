/** Reads a ranking of completions. Every completion must occur exactly once. */
import { Option, Result, Schema } from "effect"
import { Ranking } from "../../domain/Ranking.ts"
import * as OptionText from "../../io/OptionText.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import type * as Choice from "./Choice.ts"
import { numberOf } from "./ChoiceMap.ts"

const rankOf = (element: { readonly [member: string]: unknown }): number => numberOf(element["rank"]) ?? Number.NaN

const decodeRanking = Schema.decodeUnknownOption(Ranking)

export const isPermutation = (indices: ReadonlyArray<number>, length: number): boolean =>
  indices.length === length &&
  new Set(indices).size === length &&
  indices.every((index) => index >= 0 && index < length)

export const ofIndices = (value: unknown, length: number): Ranking | undefined => {
  const groups = Array.isArray(value)
    ? value.map((group: unknown) => (Array.isArray(group) ? group : [group]))
    : undefined
  return Option.getOrUndefined(Option.filter(decodeRanking(groups), (ranking) => isPermutation(ranking.flat(), length)))
}

/**
 * A list such as `[1, 2, 0]` may be an order (best first) or ranks. If these two meanings differ, the list is accepted
 * only if `choice` fits the order and does not fit the ranks.
 */
export const checkOrder = (value: unknown, length: number, choice: number | undefined): Result.Result<void, string> => {
  const isFlat = Array.isArray(value) && value.every((one): one is number => typeof one === "number")
  if (!isFlat || !isPermutation(value, length) || value.every((one, i) => value[one] === i)) return Result.void
  return value[0] === choice && value.indexOf(0) !== choice
    ? Result.void
    : Result.fail(
        `ranking: found ${JSON.stringify(value)}, which has two possible meanings. If it lists the completions, best first, write ${JSON.stringify(value.map((one) => [one]))}. If it has the rank of each completion, set ${OptionText.set({ choice: "ranking", choiceAs: "ranks" })}`,
      )
}

export const byName = (
  value: unknown,
  length: number,
  read: (value: unknown) => Choice.ReadResult,
): Result.Result<Ranking | undefined, string> => {
  if (!Array.isArray(value)) return Result.succeed(undefined)
  const elements = value.filter(isObject).toSorted((a, b) => rankOf(a) - rankOf(b))
  return Result.flatMap(Result.all(elements.map((element) => read(element["value"]))), (chosen) => {
    const groups = new Map<number, Array<number>>()
    for (const [i, one] of chosen.entries()) {
      const rank = rankOf(elements[i]!)
      if (one?.choice !== undefined) groups.set(rank, [...(groups.get(rank) ?? []), one.choice])
    }
    const ranking = [...groups.values()]
    return isPermutation(ranking.flat(), length)
      ? Result.succeed(Option.getOrUndefined(decodeRanking(ranking)))
      : Result.fail(`ranking: expected each of ${length} completions once, found ${describeValue(value)}`)
  })
}

/** Converts between places (positions in an expert's order) and indices in the task: `order[place]` is the index. */
import { Result } from "effect"
import type { Ranking } from "../../domain/Ranking.ts"
import type { Vote } from "../../domain/Vote.ts"

const mapGroups = (groups: Ranking, f: (n: number) => number): Ranking =>
  groups.map(([head, ...rest]) => [f(head), ...rest.map(f)])

export const toIndices = (
  { best, ranking }: { readonly best?: number | null; readonly ranking?: Ranking | null | undefined },
  order: ReadonlyArray<number>,
): Result.Result<Pick<Vote, "choice" | "ranking">, string> => {
  const problem = ranking ? problemOf(ranking, order.length) : undefined
  if (problem !== undefined) return Result.fail(problem)
  const [top] = ranking ?? []
  const place = best ?? (top === undefined ? undefined : Math.min(...top))
  if (place === undefined) return Result.fail("Choose a completion, or rank them all.")
  const index = order[place]
  if (index === undefined) return Result.fail(`There is no completion at position ${place + 1}.`)
  if (ranking === undefined || ranking === null) return Result.succeed({ choice: index })
  if (top?.includes(place) !== true)
    return Result.fail("The chosen completion is not in the first place of the ranking.")
  return Result.succeed({ choice: index, ranking: mapGroups(ranking, (place) => order[place]!) })
}

export const toPlaces = (ranking: Ranking, order: ReadonlyArray<number>): Ranking =>
  mapGroups(ranking, (index) => order.indexOf(index))

const problemOf = (ranking: Ranking, completions: number): string | undefined => {
  const places = ranking.flat()
  if (places.some((place) => place >= completions)) return "The ranking names a completion that does not exist."
  if (new Set(places).size < places.length) return "The ranking names a completion twice."
  if (places.length < completions) return "The ranking leaves completions out."
  return undefined
}

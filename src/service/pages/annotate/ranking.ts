/**
 * A ranking during editing: each completion, by its place, has a rank from 1, or none yet.
 *
 * Guarantees: completions with the same rank tie; ranks may have gaps during editing (3 before 1 and 2), which `groups`
 * closes. Pure functions: none changes its argument.
 */

/** Ranks by place; null where the completion has none yet. */
export type Ranks = ReadonlyArray<number | null>

export const none = (count: number): Ranks => Array.from({ length: count }, () => null)

/** From a draft: group 1 has rank 1, and an empty group is a gap. What does not fit is left out. */
export const fromDraft = (groups: ReadonlyArray<ReadonlyArray<number>>, count: number): Ranks => {
  const ranks: Array<number | null> = Array.from({ length: count }, () => null)
  for (const [index, group] of groups.entries()) {
    for (const place of group) if (place < count && ranks[place] === null) ranks[place] = index + 1
  }
  return ranks
}

/** For a draft, with gaps as empty groups. */
export const toDraft = (ranks: Ranks): ReadonlyArray<ReadonlyArray<number>> =>
  Array.from({ length: highest(ranks) }, (_, index) => placesOf(ranks, index + 1))

/** Best first, without gaps; what has no rank is not in it. */
export const groups = (ranks: Ranks): ReadonlyArray<ReadonlyArray<number>> =>
  toDraft(ranks).filter((group) => group.length > 0)

export const unranked = (ranks: Ranks): ReadonlyArray<number> =>
  ranks.flatMap((rank, place) => (rank === null ? [place] : []))

/** Gives a rank; the rank that the completion has already is taken away. */
export const assign = (ranks: Ranks, place: number, rank: number): Ranks =>
  ranks.map((was, index) => (index === place ? (was === rank ? null : rank) : was))

export const clear = (ranks: Ranks, place: number): Ranks => ranks.map((rank, index) => (index === place ? null : rank))

/** The next rank after all that were given; a completion that has one loses it. */
export const toggleNext = (ranks: Ranks, place: number): Ranks =>
  ranks[place] === null ? assign(ranks, place, highest(ranks) + 1) : clear(ranks, place)

/**
 * One step better: out of its tie to just above it, or else past the group above. Without a rank, it gets the last one.
 */
export const raise = (ranks: Ranks, place: number): Ranks => move(ranks, place, -1)

/** One step worse: out of its tie to just below it, or else past the group below. */
export const lower = (ranks: Ranks, place: number): Ranks => move(ranks, place, 1)

/**
 * Joins the group above; the best joins the group below, and what has no rank the last group.
 * Nothing changes where there is no other group.
 */
export const tie = (ranks: Ranks, place: number): Ranks => {
  const all = groups(ranks)
  const at = all.findIndex((group) => group.includes(place))
  const other = at < 0 ? all.at(-1) : all[at === 0 ? 1 : at - 1]
  if (other === undefined) return ranks
  const tied = all.map((group) => (group === other ? [...group, place] : group.filter((each) => each !== place)))
  return fromDraft(
    tied.filter((group) => group.length > 0),
    ranks.length,
  )
}

const move = (ranks: Ranks, place: number, step: -1 | 1): Ranks => {
  const all = groups(ranks)
  const at = all.findIndex((group) => group.includes(place))
  const group = all[at]
  if (group === undefined) return assign(ranks, place, highest(ranks) + 1)
  const others = group.filter((each) => each !== place)
  const rest = all.filter((_, index) => index !== at)
  const moved =
    others.length > 0
      ? [...all.slice(0, at), ...(step < 0 ? [[place], others] : [others, [place]]), ...all.slice(at + 1)]
      : rest.toSpliced(Math.min(Math.max(at + step, 0), rest.length), 0, [place])
  return fromDraft(moved, ranks.length)
}

const highest = (ranks: Ranks): number => ranks.reduce<number>((high, rank) => Math.max(high, rank ?? 0), 0)

const placesOf = (ranks: Ranks, rank: number): ReadonlyArray<number> =>
  ranks.flatMap((each, place) => (each === rank ? [place] : []))

/** "2 > 1 = 3", with completions numbered from 1. */
export const format = (ranks: Ranks): string =>
  groups(ranks)
    .map((group) => group.map((place) => place + 1).join(" = "))
    .join(" > ")

/** The same to be heard, ranks told from completions: "rank 1: completion 2; rank 2: completions 1 and 3". */
export const formatForScreenReader = (ranks: Ranks): string =>
  Array.from({ length: highest(ranks) }, (_, index) => ({ rank: index + 1, places: placesOf(ranks, index + 1) }))
    .filter(({ places }) => places.length > 0)
    .map(({ places, rank }) => `rank ${rank}: ${named(places)}`)
    .join("; ")

/** "completion 2", "completions 1 and 3". */
export const named = (places: ReadonlyArray<number>): string =>
  `${places.length === 1 ? "completion" : "completions"} ${list(places.map((place) => place + 1))}`

/** "1, 2 and 3". */
export const list = (numbers: ReadonlyArray<number>): string =>
  numbers.length < 2 ? numbers.join("") : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`

/** A ranking that is being edited. Completions with equal ranks are tied. `groups` closes gaps between ranks. */

/** The rank of the completion at each position. Null if the completion has no rank yet. */
export type Ranks = ReadonlyArray<number | null>

export const none = (count: number): Ranks => Array.from({ length: count }, () => null)

/** Reads the groups of a draft. An empty group becomes a gap. Invalid and repeated positions are ignored. */
export const fromDraft = (groups: ReadonlyArray<ReadonlyArray<number>>, count: number): Ranks => {
  const ranks: Array<number | null> = Array.from({ length: count }, () => null)
  for (const [index, group] of groups.entries()) {
    for (const place of group) if (place < count && ranks[place] === null) ranks[place] = index + 1
  }
  return ranks
}

/** Returns the groups for a draft. A gap becomes an empty group. */
export const toDraft = (ranks: Ranks): ReadonlyArray<ReadonlyArray<number>> =>
  Array.from({ length: highest(ranks) }, (_, index) => placesOf(ranks, index + 1))

/** Returns the groups, best first and without gaps. Completions without a rank are left out. */
export const groups = (ranks: Ranks): ReadonlyArray<ReadonlyArray<number>> =>
  toDraft(ranks).filter((group) => group.length > 0)

export const unranked = (ranks: Ranks): ReadonlyArray<number> =>
  ranks.flatMap((rank, place) => (rank === null ? [place] : []))

export const assign = (ranks: Ranks, place: number, rank: number): Ranks =>
  ranks.map((was, index) => (index === place ? (was === rank ? null : rank) : was))

export const clear = (ranks: Ranks, place: number): Ranks => ranks.map((rank, index) => (index === place ? null : rank))

export const toggleNext = (ranks: Ranks, place: number): Ranks =>
  ranks[place] === null ? assign(ranks, place, highest(ranks) + 1) : clear(ranks, place)

export const raise = (ranks: Ranks, place: number): Ranks => move(ranks, place, -1)

export const lower = (ranks: Ranks, place: number): Ranks => move(ranks, place, 1)

/** Moves the completion to the next better group. From the best group, moves the completion to the second group. */
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

export const format = (ranks: Ranks): string =>
  groups(ranks)
    .map((group) => group.map((place) => place + 1).join(" = "))
    .join(" > ")

export const formatForScreenReader = (ranks: Ranks): string =>
  Array.from({ length: highest(ranks) }, (_, index) => ({ rank: index + 1, places: placesOf(ranks, index + 1) }))
    .filter(({ places }) => places.length > 0)
    .map(({ places, rank }) => `rank ${rank}: ${named(places)}`)
    .join("; ")

export const named = (places: ReadonlyArray<number>): string =>
  `${places.length === 1 ? "completion" : "completions"} ${list(places.map((place) => place + 1))}`

export const list = (numbers: ReadonlyArray<number>): string =>
  numbers.length < 2 ? numbers.join("") : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`

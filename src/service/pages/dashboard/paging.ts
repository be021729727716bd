/**
 * Links to newer and older pages of a list that the service returns newest first.
 *
 * The service only gives the next older page (`next`). A trail remembers visited pages, so that "newer" leads back;
 * without one (a link from elsewhere, a reload), "newer" leads to the newest page.
 */

import { useRef } from "preact/hooks"

/** The `before` of the pages from the newest on; the newest has none. */
export type Trail = ReadonlyArray<number | undefined>

export const start: Trail = [undefined]

/** The trail after the page at `before` was opened. */
export const visit = (trail: Trail, before: number | undefined): Trail => {
  const known = trail.indexOf(before)
  if (known !== -1) return trail
  const last = trail.at(-1)
  // A trail leads from newer to older only; from anywhere else, it begins anew.
  return before !== undefined && (last === undefined || before < last) ? [...trail, before] : [undefined, before]
}

export interface Paging {
  /** False on the newest page. */
  readonly hasNewer: boolean
  /** The `before` of the newer page. */
  readonly newer: number | undefined
  /** None on the oldest page. */
  readonly older: number | undefined
}

export const paging = (trail: Trail, before: number | undefined, next: number | null): Paging => {
  const at = trail.indexOf(before)
  return {
    hasNewer: before !== undefined,
    newer: at > 0 ? trail[at - 1] : undefined,
    older: next ?? undefined,
  }
}

/** The trail of a list; another `list` begins anew. */
export const useTrail = (before: number | undefined, list = ""): Trail => {
  const trail = useRef<{ readonly list: string; readonly trail: Trail }>({ list, trail: start })
  trail.current = { list, trail: visit(trail.current.list === list ? trail.current.trail : start, before) }
  return trail.current.trail
}

/** Pages of a list with a known length, by the place of their first element. */
export const pagesOf = (
  total: number,
  size: number,
  from: number,
): {
  readonly first: number
  readonly last: number
  readonly previous: number | undefined
  readonly next: number | undefined
} => ({
  first: total === 0 ? 0 : from + 1,
  last: Math.min(total, from + size),
  previous: from > 0 ? Math.max(0, from - size) : undefined,
  next: from + size < total ? from + size : undefined,
})

/** The place of the first element of the page that holds the `n`th one, counted from 1. */
export const pageWith = (n: number, total: number, size: number): number =>
  Math.floor((Math.min(Math.max(n, 1), Math.max(total, 1)) - 1) / size) * size

/**
 * Links to newer and older pages of a list. The service returns only the start of the next older page (`next`), so the
 * dashboard remembers the visited pages as a trail. After a reload, the trail is lost, and the link to the newer page
 * leads to the newest page.
 */

import { useRef } from "preact/hooks"

/** For each visited page, newest first: the query parameter `before`, which is undefined for the newest page. */
export type Trail = ReadonlyArray<number | undefined>

export const start: Trail = [undefined]

export const visit = (trail: Trail, before: number | undefined): Trail => {
  if (trail.includes(before)) return trail
  const last = trail.at(-1)
  // A page that is older than all visited pages is appended. A jump to any other page starts a new list.
  return before !== undefined && (last === undefined || before < last) ? [...trail, before] : [undefined, before]
}

export const paging = (trail: Trail, before: number | undefined, next: number | null) => {
  const at = trail.indexOf(before)
  return {
    hasNewer: before !== undefined,
    newer: at > 0 ? trail[at - 1] : undefined,
    older: next ?? undefined,
  }
}

/** Returns the trail of the visited pages. If `list` changes, a new trail starts. */
export const useTrail = (before: number | undefined, list = ""): Trail => {
  const trail = useRef<{ readonly list: string; readonly trail: Trail }>({ list, trail: start })
  trail.current = { list, trail: visit(trail.current.list === list ? trail.current.trail : start, before) }
  return trail.current.trail
}

/** `first` and `last` are row numbers from 1. `previous` and `next` are the indexes at which these pages start. */
export const pagesOf = (total: number, size: number, from: number) => ({
  first: total === 0 ? 0 : from + 1,
  last: Math.min(total, from + size),
  previous: from > 0 ? Math.max(0, from - size) : undefined,
  next: from + size < total ? from + size : undefined,
})

/** Returns the index at which the page with row number `n` starts. Rows are numbered from 1. */
export const pageWith = (n: number, total: number, size: number): number =>
  Math.floor((Math.min(Math.max(n, 1), Math.max(total, 1)) - 1) / size) * size

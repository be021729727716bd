/**
 * Backoff for automatic experts. After a failure on an item, the expert is paused for this item. After several failures
 * in a row, the expert is paused for all items, for at most five minutes. If an error asks for a longer pause, the
 * expert gets this pause. The state is in memory, so a restart retries everything immediately.
 */
import * as Backoff from "../../io/Backoff.ts"
import type { JudgeError } from "./Expert.ts"

interface Failures {
  failures: number
  until: number
}

interface ItemFailures extends Failures {
  readonly breakdowns: number
  reported: boolean
}

/** After more failures in a row than this, the expert is paused for all items, and not only for the failed items. */
const maxToleratedFailures = 3
const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

export const make = () => {
  const experts = new Map<string, Failures>()
  const items = new Map<number, Map<string, ItemFailures>>()
  let nextDue = Infinity

  return {
    isAvailable: (now: number, expert: string, itemId?: number): boolean => {
      if ((experts.get(expert)?.until ?? 0) > now) return false
      return itemId === undefined || (items.get(itemId)?.get(expert)?.until ?? 0) <= now
    },

    /** Counts a failure. `error` is undefined if the expert had a defect or gave an invalid vote. */
    failed: (now: number, expert: string, itemId: number, error: Pick<JudgeError, "retryAfter"> | undefined) => {
      const general = experts.get(expert) ?? { failures: 0, until: 0 }
      // Failures of requests that were in flight when the expert was paused do not count as further failures.
      if (general.until <= now) {
        general.failures++
        const excess = general.failures - maxToleratedFailures
        if (excess > 0) general.until = now + Backoff.millisAfter(excess, 1 * seconds, 5 * minutes)
      }
      general.until = Math.max(general.until, now + (error?.retryAfter ?? 0))
      experts.set(expert, general)

      const failuresByExpert = items.get(itemId) ?? new Map<string, ItemFailures>()
      const failures = (failuresByExpert.get(expert)?.failures ?? 0) + 1
      const breakdowns = (failuresByExpert.get(expert)?.breakdowns ?? 0) + (error === undefined ? 1 : 0)
      const until = now + Backoff.millisAfter(failures, 10 * seconds, 30 * minutes)
      failuresByExpert.set(expert, { failures, breakdowns, until, reported: false })
      items.set(itemId, failuresByExpert)
      nextDue = Math.min(nextDue, until)
      return { inRow: general.failures, breakdowns }
    },

    paused: (now: number) => [...experts].flatMap(([name, { until }]) => (until > now ? [{ name, until }] : [])),

    answered: (expert: string, itemId: number) => {
      experts.delete(expert)
      items.get(itemId)?.delete(expert)
    },

    /** Returns the items that can be retried now, each only once. */
    due: (now: number): ReadonlyArray<number> => {
      if (now < nextDue) return []
      nextDue = Infinity
      const due: Array<number> = []
      for (const [itemId, failuresByExpert] of items) {
        for (const [expert, item] of failuresByExpert) {
          if (item.until <= now && !item.reported) {
            item.reported = true
            due.push(itemId)
          }
          if (!item.reported) nextDue = Math.min(nextDue, item.until)
          // Forgets the failure if the expert is not asked again within an hour. The item probably has enough votes.
          if (item.reported && item.until + hours < now) failuresByExpert.delete(expert)
        }
        if (failuresByExpert.size === 0) items.delete(itemId)
      }
      return due
    },

    nextChange: (now: number): number | undefined => {
      const times = [
        ...experts.values(),
        ...[...items.values()].flatMap((failuresByExpert) => [...failuresByExpert.values()]),
      ]
        .map(({ until }) => until)
        .filter((until) => until > now)
      return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
    },
  }
}

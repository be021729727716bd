/**
 * How often hints may have the same thing looked at: a few times in a minute at once, and
 * whatever is hinted at more often than that once more when the minute is over.
 *
 * Guarantees: no hint is lost, and none waits for longer than a minute because of this; so
 * deliveries that come in floods, repeated or replayed or on purpose, cost a few looks a
 * minute for each task and can't keep others from being looked at. Takes memory for what
 * was hinted at in the last minutes only.
 */
import { Duration } from "effect"

export const span = Duration.toMillis("1 minute")

/** Hints in a span that are followed at once. */
export const most = 5

/** What is hinted at: a task by its `seq`, or all of them. */
export type Hinted = number | "all"

export interface HintLimit {
  /** When a hint that came now is to be followed, in epoch milliseconds. */
  readonly when: (what: Hinted, now: number) => number
  /**
   * When a task is to be looked at again because of hints, after a look that was taken up at
   * `since`; infinity where it is not.
   */
  readonly again: (seq: number, since: number, now: number) => number
}

interface Count {
  readonly since: number
  hints: number
}

export const make = (): HintLimit => {
  const counts = new Map<Hinted, Count>()
  let swept = 0

  const isPast = ({ since }: Count, now: number) => now - since >= span

  const sweep = (now: number) => {
    if (now - swept < span) return
    swept = now
    // What was put off to the end of a span is asked for by looks that end after it.
    for (const [what, count] of counts) if (isPast(count, now - span)) counts.delete(what)
  }

  /** When what was put off is to be followed. */
  const endOf = (what: Hinted, since: number, now: number) => {
    const count = counts.get(what)
    return count === undefined || count.hints <= most || isPast(count, since)
      ? Number.POSITIVE_INFINITY
      : Math.max(count.since + span, now)
  }

  return {
    when: (what, now) => {
      sweep(now)
      const known = counts.get(what)
      const count = known === undefined || isPast(known, now) ? { since: now, hints: 0 } : known
      count.hints++
      counts.set(what, count)
      return count.hints > most ? count.since + span : now
    },
    // A look that was under way when a hint was put off may not have seen what it told of.
    again: (seq, since, now) => Math.min(endOf(seq, since, now), endOf("all", since, now)),
  }
}

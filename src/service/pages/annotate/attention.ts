/**
 * Measures how long an expert works on an item, in seconds.
 *
 * Guarantees: time counts while the page is visible, until two minutes after the last activity (a key, the pointer,
 * scrolling). The time is a parameter, in milliseconds; a clock that jumps back counts nothing.
 */

export interface Attention {
  /** Milliseconds counted until `since`. */
  readonly counted: number
  /** Counting goes on from here; null while the page is hidden. */
  readonly since: number | null
  readonly lastSign: number
}

/** Without activity for this long, the expert is idle. */
export const idleAfterMillis = 120_000

export const start = (seconds: number, now: number, visible: boolean): Attention => ({
  counted: seconds * 1_000,
  since: visible ? now : null,
  lastSign: now,
})

/** The expert has done something. */
export const sign = (attention: Attention, now: number): Attention => ({ ...settle(attention, now), lastSign: now })

export const visible = (attention: Attention, now: number, is: boolean): Attention => ({
  ...settle(attention, now),
  since: is ? now : null,
  lastSign: is ? now : attention.lastSign,
})

/** To a tenth of a second. */
export const seconds = (attention: Attention, now: number): number =>
  Math.round(settle(attention, now).counted / 100) / 10

/** Whether the expert is there: visible, and a sign within `within` milliseconds. */
export const isThere = (attention: Attention, now: number, within: number): boolean =>
  attention.since !== null && now - attention.lastSign <= within

const settle = (attention: Attention, now: number): Attention => {
  if (attention.since === null) return attention
  const until = Math.min(now, attention.lastSign + idleAfterMillis)
  return { ...attention, counted: attention.counted + Math.max(0, until - attention.since), since: now }
}

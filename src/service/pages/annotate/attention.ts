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
  readonly lastActivity: number
}

/** Without activity for this long, the expert is idle. */
export const idleAfterMillis = 120_000

export const start = (seconds: number, now: number, visible: boolean): Attention => ({
  counted: seconds * 1_000,
  since: visible ? now : null,
  lastActivity: now,
})

/** The expert has done something. */
export const recordActivity = (attention: Attention, now: number): Attention => ({
  ...settle(attention, now),
  lastActivity: now,
})

export const setVisible = (attention: Attention, now: number, is: boolean): Attention => ({
  ...settle(attention, now),
  since: is ? now : null,
  lastActivity: is ? now : attention.lastActivity,
})

/** To a tenth of a second. */
export const seconds = (attention: Attention, now: number): number =>
  Math.round(settle(attention, now).counted / 100) / 10

/** Whether the expert is active: visible, and an activity within `within` milliseconds. */
export const isActive = (attention: Attention, now: number, within: number): boolean =>
  attention.since !== null && now - attention.lastActivity <= within

const settle = (attention: Attention, now: number): Attention => {
  if (attention.since === null) return attention
  const until = Math.min(now, attention.lastActivity + idleAfterMillis)
  return { ...attention, counted: attention.counted + Math.max(0, until - attention.since), since: now }
}

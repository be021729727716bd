/** Measures working time. Time on a hidden page, or after two minutes without activity, does not count. */

export interface Attention {
  /** The working time before `since`, in milliseconds. */
  readonly counted: number
  /** Null while the page is hidden. */
  readonly since: number | null
  readonly lastActivity: number
}

export const idleAfterMillis = 120_000

export const start = (seconds: number, now: number, visible: boolean): Attention => ({
  counted: seconds * 1_000,
  since: visible ? now : null,
  lastActivity: now,
})

export const recordActivity = (attention: Attention, now: number): Attention => ({
  ...settle(attention, now),
  lastActivity: now,
})

export const setVisible = (attention: Attention, now: number, is: boolean): Attention => ({
  ...settle(attention, now),
  since: is ? now : null,
  lastActivity: is ? now : attention.lastActivity,
})

export const seconds = (attention: Attention, now: number): number =>
  Math.round(settle(attention, now).counted / 100) / 10

export const isActive = (attention: Attention, now: number, within: number): boolean =>
  attention.since !== null && now - attention.lastActivity <= within

const settle = (attention: Attention, now: number): Attention => {
  if (attention.since === null) return attention
  const until = Math.min(now, attention.lastActivity + idleAfterMillis)
  return { ...attention, counted: attention.counted + Math.max(0, until - attention.since), since: now }
}

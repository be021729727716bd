/**
 * What an expert has entered, kept on this device until the service has it.
 *
 * Guarantees: a copy is found by expert and item only; what is older than a week goes. Where
 * the device keeps nothing (a private window, a full store), the page works without copies.
 */
import type { Draft } from "../../pageApi/AnnotateApi.ts"

/** As much of a browser's `Storage` as is used. */
export interface Store {
  readonly getItem: (key: string) => string | null
  readonly setItem: (key: string, value: string) => void
  readonly removeItem: (key: string) => void
  readonly key: (index: number) => string | null
  readonly length: number
}

export interface Copies {
  readonly keep: (expertId: string, itemId: number, draft: Draft, now: number) => void
  readonly read: (expertId: string, itemId: number) => Draft | null
  readonly forget: (expertId: string, itemId: number) => void
  /** All copies of all experts. */
  readonly forgetAll: () => void
  /** Those that are older than a week. */
  readonly forgetOld: (now: number) => void
}

const prefix = "prefstream.draft."
const week = 7 * 24 * 3_600_000

export const make = (store: Store): Copies => {
  const keyOf = (expertId: string, itemId: number) => `${prefix}${expertId}.${itemId}`
  const keys = () =>
    Array.from({ length: store.length }, (_, index) => store.key(index)).filter(
      (key) => key?.startsWith(prefix) === true,
    )
  const removeWhere = (isMeant: (key: string) => boolean) =>
    attempt(() => {
      for (const key of keys()) if (key !== null && isMeant(key)) store.removeItem(key)
    }, undefined)
  return {
    keep: (expertId, itemId, draft, now) =>
      attempt(() => store.setItem(keyOf(expertId, itemId), JSON.stringify({ at: now, draft })), undefined),
    read: (expertId, itemId) => attempt(() => decode(store.getItem(keyOf(expertId, itemId)))?.draft ?? null, null),
    forget: (expertId, itemId) => attempt(() => store.removeItem(keyOf(expertId, itemId)), undefined),
    forgetAll: () => removeWhere(() => true),
    forgetOld: (now) => removeWhere((key) => (decode(store.getItem(key))?.at ?? 0) < now - week),
  }
}

const attempt = <A>(run: () => A, otherwise: A): A => {
  // A store may refuse any access, and hold anything.
  try {
    return run()
  } catch {
    return otherwise
  }
}

const decode = (text: string | null): { readonly at: number; readonly draft: Draft } | null => {
  const value: unknown = text === null ? null : attempt(() => JSON.parse(text), null)
  if (!isRecord(value) || typeof value["at"] !== "number" || !isDraft(value["draft"])) return null
  return { at: value["at"], draft: value["draft"] }
}

const isDraft = (value: unknown): value is Draft =>
  isRecord(value) &&
  (value["mode"] === "best" || value["mode"] === "rank") &&
  (value["best"] === null || isPlace(value["best"])) &&
  Array.isArray(value["ranking"]) &&
  value["ranking"].every((group) => Array.isArray(group) && group.every(isPlace)) &&
  typeof value["rationale"] === "string" &&
  typeof value["seconds"] === "number"

const isPlace = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

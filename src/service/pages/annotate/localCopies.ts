/** If the browser has storage, stores an expert's entries on this device until the service has them. */
import type { Draft } from "../../pageApi/AnnotateApi.ts"

export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">

const prefix = "prefstream.draft."
const week = 7 * 24 * 3_600_000

/** @param access returns the browser's storage, or throws if the browser denies access to it */
export const make = (access: () => Store) => {
  const keyOf = (expertId: string, itemId: number) => `${prefix}${expertId}.${itemId}`
  const removeWhere = (isMeant: (key: string) => boolean) =>
    attempt(() => {
      const store = access()
      const keys = Array.from({ length: store.length }, (_, index) => store.key(index) ?? "")
      for (const key of keys) if (key.startsWith(prefix) && isMeant(key)) store.removeItem(key)
    }, undefined)
  return {
    keep: (expertId: string, itemId: number, draft: Draft, now: number) =>
      attempt(() => access().setItem(keyOf(expertId, itemId), JSON.stringify({ at: now, draft })), undefined),
    read: (expertId: string, itemId: number) =>
      attempt(() => decode(access().getItem(keyOf(expertId, itemId)))?.draft ?? null, null),
    forget: (expertId: string, itemId: number) =>
      attempt(() => access().removeItem(keyOf(expertId, itemId)), undefined),
    forgetAll: () => removeWhere(() => true),
    forgetOld: (now: number) => removeWhere((key) => (decode(access().getItem(key))?.at ?? 0) < now - week),
  }
}

export const attempt = <A>(run: () => A, otherwise: A): A => {
  // The storage throws if access is forbidden or no space is left. `JSON.parse` throws if the content is invalid.
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
  typeof value["seconds"] === "number" &&
  (value["assessment"] === undefined || isAssessment(value["assessment"]))

/** Checks only members whose wrong type would break the page. The service checks all members when it gets them. */
const isAssessment = (value: unknown): value is Draft["assessment"] =>
  isRecord(value) &&
  typeof value["all_bad"] === "boolean" &&
  Array.isArray(value["flags"]) &&
  value["flags"].every((flag) => typeof flag === "string") &&
  isRecord(value["aspects"]) &&
  Object.values(value["aspects"]).every(
    (ratings) => Array.isArray(ratings) && ratings.every((one) => one === null || isPlace(one)),
  ) &&
  (value["edit"] === null || isEdit(value["edit"]))

const isEdit = (value: unknown) => isRecord(value) && isPlace(value["place"]) && typeof value["text"] === "string"

const isPlace = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

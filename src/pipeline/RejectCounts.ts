/** Rejected records, counted by the kind of reason. */
import { Struct } from "effect"
import type { Reject } from "../domain/Reject.ts"

const withText = ["raw", "raw_base64", "raw_bytes"] as const

/** The number of records that were rejected for one kind of reason, and the first of them. */
export interface RejectCount {
  /** The kind of reason. */
  readonly code: Reject["code"]
  /** The number of rejected records. */
  readonly count: number
  /** The first of these rejects, without the record's text. */
  readonly first: Omit<Reject, (typeof withText)[number]>
}

export const make = () => {
  const counts = new Map<Reject["code"], RejectCount>()
  return {
    add: (reject: Reject): void => {
      const { code } = reject
      const { count, first } = counts.get(code) ?? { count: 0, first: Struct.omit(reject, withText) }
      counts.set(code, { code, count: count + 1, first })
    },
    total: (): number => [...counts.values()].reduce((sum, { count }) => sum + count, 0),
    byCode: (): ReadonlyArray<RejectCount> => [...counts.values()].toSorted((a, b) => b.count - a.count),
  }
}

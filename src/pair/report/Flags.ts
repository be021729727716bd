/** Counts the problems that experts flagged, by kind. */
import type { Flag } from "../../domain/Flag.ts"
import type { FlagReport } from "../../domain/QualityReport.ts"

export const describe = ({ comment, expert, kind }: Flag): string =>
  [expert === null ? kind : `${kind} (${expert})`, ...(comment === undefined ? [] : [comment])].join(": ")

export const make = () => {
  const kinds = new Map<string, number>()
  let items = 0
  return {
    /** Call it once per item. */
    add: (flags: ReadonlyArray<Flag>): void => {
      if (flags.length > 0) items++
      for (const { kind } of flags) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    },
    finish: (): FlagReport => ({
      items,
      kinds: [...kinds]
        .map(([kind, flags]) => ({ kind, flags }))
        .toSorted((a, b) => b.flags - a.flags || (a.kind < b.kind ? -1 : 1)),
    }),
  }
}

/** The rules by which `Plan` and `Inspection` decide whether an item is new, known, a duplicate, or rejected. */
import type { ItemLimits } from "../../api/ServiceProfile.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { BatchItem, Classification } from "../ledger/schema/Model.ts"
import type { Draw } from "./CompletionDraw.ts"
import { beyondLimits, conflict, identifyReordered } from "./TaskRequests.ts"

export type Classified =
  | { readonly _tag: "New" | "Known"; readonly item: BatchItem }
  | { readonly _tag: "Duplicate"; readonly isReordered: boolean }
  | { readonly _tag: "Rejected"; readonly reject: Reject }

export const classify = (
  read: BatchItem,
  seenAs: (item: BatchItem) => Classification,
  options: { readonly draw: Draw; readonly keepReordered: boolean; readonly limits: ItemLimits },
): Classified => {
  const isReordered = read.item.id === undefined && seenAs(read) === "conflict"
  if (isReordered && !options.keepReordered) return { _tag: "Duplicate", isReordered }
  const item = isReordered ? identifyReordered(read) : read
  switch (seenAs(item)) {
    case "conflict":
      return { _tag: "Rejected", reject: conflict(item) }
    case "duplicate":
      return { _tag: "Duplicate", isReordered: false }
    case "known":
      return { _tag: "Known", item }
    case "new": {
      const drawn = options.draw(item)
      const reject = beyondLimits(drawn, options.limits)
      return reject === undefined ? { _tag: "New", item: drawn } : { _tag: "Rejected", reject }
    }
  }
}

/** Formats the number of items that give no pair, by reason. */
import { count, number } from "../../io/Values.ts"
import type { RunReport } from "../../pipeline/RunReport.ts"

export const leftOut = (reasons: NonNullable<RunReport["left_out"]>): string | false => {
  const items = reasons.reduce((sum, { count }) => sum + count, 0)
  const counts = reasons.map(({ count, reason }) => `${number(count)} ${whyLost(reason)}`).join(", ")
  return items > 0 && `${count(items, "item")}: ${counts}`
}

const whyLost = (reason: string): string => {
  if (reason === "tie") return "tie (no vote prefers a completion, or --ties is set to drop)"
  if (reason === "no_pair") return "no pair (the best completion is blank, or equal to the others)"
  return reason.replaceAll("_", " ")
}

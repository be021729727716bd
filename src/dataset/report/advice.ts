/** Advice for a failed check. */
import type { Check } from "../../domain/QualityReport.ts"

export const adviceFor = ({ advice, dropped, unit, value }: Check): string => {
  if (value === null)
    return "There is no data for this check: remove the threshold, or add the data that the check needs."
  if (!dropped) return advice
  return `These ${unit} were left out, but there are more of them than the threshold allows. Find out where they come from, or raise the threshold.`
}

/** What to do about a check that failed.  */
import type { Check } from "../../domain/QualityReport.ts"

const advice: ReadonlyArray<readonly [check: RegExp, advice: string]> = [
  [
    /length|longer|cohen/,
    "A model trained on this may learn that longer is better. Balance the lengths of the completions, or drop pairs with the largest differences, before training.",
  ],
  [
    /position|first/,
    "Experts may choose by place. See that completions are shuffled for each item, and look at the experts who chose the first one most.",
  ],
  [
    /duplicate/,
    "Near-duplicate prompts count several times. Keep one of each group, or make sure that a group stays in one split.",
  ],
  [
    /contamin/,
    "Prompts of an evaluation are in the data: results on that evaluation would be worth nothing. Leave these items out.",
  ],
  [
    /language/,
    "Prompts are in other languages than was asked for. Filter the input, or raise the threshold if the mix is meant.",
  ],
  [
    /cop(y|ied)/,
    "Rationales repeat each other or the completions. Look at who wrote them before trusting these votes.",
  ],
  [/rationale/, "Many judgments come without a reason. Ask for one in the guidelines, or do without rationales."],
  [
    /agree|tie|kappa/,
    "Experts often disagree. Read the items below, make the guidelines clearer, or ask for more votes; or keep items of higher agreement only.",
  ],
  [
    /gold/,
    "Experts fail items whose answer is known. Look at the wrong ones below: either the answers or the experts are not right.",
  ],
  [/expert|reliab/, "Some experts judge unlike the others. Look at the expert table, and ask for these items again."],
]

export const adviceFor = ({ check, dropped, unit, value }: Check): string => {
  if (value === null) return "There is nothing to compute it from: do without the threshold, or get what it needs."
  // The name may be anything, and of any length.
  const known = advice.find(([pattern]) => pattern.test(check.slice(0, 100).toLowerCase()))?.[1]
  if (!dropped) return known ?? `Look at the ${unit} that it names before you train on this.`
  return `These ${unit} were left out; but there are more of them than you allowed. Find out where they come from, or raise the threshold.`
}

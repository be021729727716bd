/** The overview: what the dataset is, whether its checks passed, and the main numbers. */
import type { ComponentChildren } from "preact"
import type { Check, QualityReport } from "../../domain/QualityReport.ts"
import { count, decimal, plural, share, shareOf } from "./format.ts"
import { Name } from "./parts.tsx"
import {
  checkValue,
  describeEffect,
  headline,
  describeKappa,
  describeMainLoss,
  describeThreshold,
  pValue,
  stepCount,
} from "./wording.ts"

const maxFailed = 6

interface VerdictProps {
  readonly tone?: "good" | "bad"
  readonly title: string
  readonly children?: ComponentChildren
}

const Verdict = ({ tone, title, children }: VerdictProps) => (
  <div class={`verdict ${tone ?? ""}`}>
    <p class="verdict-title">{title}</p>
    {children}
  </div>
)

const adviceFor = ({ advice, dropped, unit, value }: Check): string => {
  if (value === null)
    return "There is no data for this check: remove the threshold, or add the data that the check needs."
  if (!dropped) return advice
  return `Too many ${unit} were left out: the threshold allows fewer. Find out where these ${unit} come from, or raise the threshold.`
}

const FailedCheck = ({ check }: { readonly check: Check }) => (
  <li>
    <strong>
      <Name text={check.check} />
    </strong>
    : <Name text={check.measure} chars={200} /> is{" "}
    <strong>{check.value === null ? "unknown" : checkValue(check, check.value)}</strong>
    {check.threshold !== null && `; the threshold is ${describeThreshold(check)}`}.{" "}
    <Name text={adviceFor(check)} chars={300} />
  </li>
)

const Verdicts = ({ report }: { readonly report: QualityReport }) => {
  const withThreshold = report.checks.filter(({ threshold, passed }) => threshold !== null || !passed)
  const failed = report.checks.filter(({ passed }) => !passed)
  const isEmpty = stepCount(report, "pairs") === 0
  const exceeded = `${count(failed.length)} of ${plural(withThreshold.length, "check")} failed`
  const all = withThreshold.length === 1 ? "The only check" : `All ${count(withThreshold.length)} checks`
  return (
    <>
      {isEmpty && (
        <Verdict tone="bad" title="✗ No pairs: there is nothing to train on.">
          <p>{describeMainLoss(report) ?? "No records were read, or no items are judged yet."}</p>
        </Verdict>
      )}
      {failed.length > 0 && (
        <Verdict tone="bad" title={`✗ No dataset was written: ${exceeded}.`}>
          <ul class="stack tight">
            {failed.slice(0, maxFailed).map((check) => (
              <FailedCheck key={check.check} check={check} />
            ))}
          </ul>
          {failed.length > maxFailed && (
            <p>
              <a href="#checks">All {count(failed.length)} failed checks</a>
            </p>
          )}
        </Verdict>
      )}
      {!isEmpty && failed.length === 0 && withThreshold.length > 0 && (
        <Verdict tone="good" title={`✓ ${all} with a threshold passed.`} />
      )}
      {!isEmpty && withThreshold.length === 0 && (
        <Verdict title="No thresholds were set.">
          <p>Check the numbers below before training.</p>
        </Verdict>
      )}
    </>
  )
}

interface Tile {
  readonly href: string
  readonly term: string
  readonly value: string
  readonly words: string
}

const tiles = ({ agreement, gold, length, position }: QualityReport): ReadonlyArray<Tile> => {
  const { free_marginal_kappa: kappa, items, votes_per_item } = agreement
  const halves = position.first_half + position.second_half
  return [
    {
      href: "#agreement",
      term: "Agreement (kappa)",
      value: kappa === null ? "–" : decimal(kappa),
      words:
        kappa === null
          ? votes_per_item.length > 0 && items === 0
            ? "one vote per item"
            : "unknown"
          : describeKappa(kappa),
    },
    {
      href: "#gold",
      term: "Gold accuracy",
      value: gold.accuracy === null ? "–" : share(gold.accuracy),
      words:
        gold.low === null || gold.high === null
          ? "no gold votes"
          : `95% interval ${share(gold.low)} – ${share(gold.high)}`,
    },
    {
      href: "#position",
      term: "First half chosen",
      value: shareOf(position.first_half, halves),
      words: position.p_value === null ? "order unknown" : `of 50% expected; ${pValue(position.p_value)}`,
    },
    {
      href: "#length",
      term: "Longer chosen",
      value: length.share_longer === null ? "–" : share(length.share_longer),
      words:
        length.cohens_d === null
          ? "unknown"
          : `${describeEffect(length.cohens_d)} effect (d ${decimal(length.cohens_d)})`,
    },
  ]
}

export const Headline = ({ report }: { readonly report: QualityReport }) => (
  <>
    <h1>{headline(report)}</h1>
    <Verdicts report={report} />
    <ul class="plain-list grid tiles" aria-label="At a glance">
      {tiles(report).map(({ href, term, value, words }) => (
        <li key={href}>
          <a class="card stack tile" href={href}>
            <span class="term">{term}</span>
            <span class="value">{value}</span>
            <span class="words">{words}</span>
          </a>
        </li>
      ))}
    </ul>
  </>
)

/** Every check with its threshold, failed ones first. */
import type { Check, QualityReport } from "../../domain/QualityReport.ts"
import { count, plural, shareOf } from "./format.ts"
import { More, Name, Section, Table, textColumn } from "./parts.tsx"
import { checkValue, describeThreshold } from "./wording.ts"

const maxExamples = 20

const Result = ({ check }: { readonly check: Check }) => {
  if (!check.passed) return <span class="badge bad">✗ failed</span>
  if (check.threshold === null) return <span class="badge">no threshold</span>
  return <span class="badge good">✓ passed</span>
}

const CheckCount = ({ check }: { readonly check: Check }) => (
  <>
    {count(check.count)} of {plural(check.of, check.unit.replace(/s$/, ""))}
    {check.value !== null && check.of > 0 && <span class="muted"> ({shareOf(check.count, check.of)})</span>}
  </>
)

const Examples = ({ check }: { readonly check: Check }) => (
  <details>
    <summary class="caption">
      {plural(check.examples.length, "example")}
      <span class="unseen"> of {check.check}</span>
    </summary>
    <ul class="stack examples">
      {check.examples.slice(0, maxExamples).map(({ detail, item_id }, i) => (
        <li key={i}>
          <span class="code">
            <Name text={item_id} />
          </span>
          : <Name text={detail} chars={300} />
        </li>
      ))}
    </ul>
    <More shown={maxExamples} of={check.examples.length} what="examples" />
  </details>
)

const rank = (check: Check): number => (check.passed ? (check.threshold === null ? 2 : 1) : 0)

export const failedFirst = (checks: ReadonlyArray<Check>): ReadonlyArray<Check> =>
  checks.toSorted((a, b) => rank(a) - rank(b))

const lead = (checks: ReadonlyArray<Check>): string => {
  if (checks.length === 0) return "Nothing was checked."
  const withThreshold = checks.filter(({ threshold, passed }) => threshold !== null || !passed)
  if (withThreshold.length === 0) return "No thresholds were set."
  const failed = withThreshold.filter(({ passed }) => !passed).length
  return failed === 0
    ? `${withThreshold.length === 1 ? "The only check" : `All ${count(withThreshold.length)} checks`} with a threshold passed.`
    : `${count(failed)} of ${plural(withThreshold.length, "check")} with a threshold failed.`
}

const columns = [
  textColumn("Check"),
  textColumn("Result"),
  "Value",
  textColumn("Threshold", "threshold"),
  textColumn("Count"),
  textColumn("Items left out"),
]

export const Checks = ({ report: { checks } }: { readonly report: QualityReport }) => (
  <Section id="checks" title="Checks" lead={lead(checks)}>
    {checks.length > 0 && (
      <Table
        label="Checks"
        class="checks"
        columns={columns}
        rows={failedFirst(checks).map((check) => ({
          class: check.passed ? "" : "failed",
          cells: [
            <>
              <Name text={check.check} />
              <span class="caption measure">
                <Name text={check.measure} chars={200} />
              </span>
              {check.examples.length > 0 && <Examples check={check} />}
            </>,
            <Result check={check} />,
            checkValue(check, check.value),
            describeThreshold(check),
            <CheckCount check={check} />,
            check.dropped ? "yes" : "no",
          ],
        }))}
      />
    )}
  </Section>
)

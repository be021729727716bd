/** Every property that was looked at, with its limit, failed ones first. */
import type { Check, QualityReport } from "../../domain/QualityReport.ts"
import { count, plural, shareOf } from "./format.ts"
import { More, Name, Section } from "./parts.tsx"
import { checkValue, limitInWords } from "./wording.ts"

const shownExamples = 20

const Result = ({ check }: { readonly check: Check }) => {
  if (!check.passed) return <span class="badge bad">✗ failed</span>
  if (check.limit === null) return <span class="badge">no limit</span>
  return <span class="badge good">✓ passed</span>
}

const Concerned = ({ check }: { readonly check: Check }) => (
  <>
    {count(check.count)} of {plural(check.of, check.unit.replace(/s$/, ""))}
    {check.value !== null && check.of > 0 && <span class="muted"> ({shareOf(check.count, check.of)})</span>}
  </>
)

const Examples = ({ check }: { readonly check: Check }) => (
  <details>
    <summary>
      {plural(check.examples.length, "example")}
      <span class="unseen"> of {check.check}</span>
    </summary>
    <ul class="examples">
      {check.examples.slice(0, shownExamples).map(({ detail, item_id }, i) => (
        <li key={i}>
          <span class="code">
            <Name text={item_id} />
          </span>
          : <Name text={detail} chars={300} />
        </li>
      ))}
    </ul>
    <More shown={shownExamples} of={check.examples.length} what="examples" />
  </details>
)

const rank = (check: Check): number => (check.passed ? (check.limit === null ? 2 : 1) : 0)

export const inOrder = (checks: ReadonlyArray<Check>): ReadonlyArray<Check> =>
  checks.toSorted((a, b) => rank(a) - rank(b))

const lead = (checks: ReadonlyArray<Check>): string => {
  if (checks.length === 0) return "Nothing was checked."
  const limited = checks.filter(({ limit, passed }) => limit !== null || !passed)
  if (limited.length === 0) return "No limits were set: these values were held to nothing."
  const failed = limited.filter(({ passed }) => !passed).length
  return failed === 0
    ? `All ${count(limited.length)} with a limit passed.`
    : `${count(failed)} of ${count(limited.length)} with a limit failed.`
}

/** The roles stand there for narrow screens, on which the style makes a row a block of its own. */
export const Checks = ({ report: { checks } }: { readonly report: QualityReport }) => (
  <Section id="checks" title="Checks" lead={lead(checks)}>
    {checks.length > 0 && (
      <div class="scroll" role="region" aria-label="Checks" tabIndex={0}>
        <table class="checks" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                Check
              </th>
              <th scope="col" role="columnheader">
                Result
              </th>
              <th scope="col" role="columnheader" class="number">
                Value
              </th>
              <th scope="col" role="columnheader">
                Limit
              </th>
              <th scope="col" role="columnheader">
                Concerns
              </th>
              <th scope="col" role="columnheader">
                Left out
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {inOrder(checks).map((check) => (
              <tr role="row" key={check.check} class={check.passed ? "" : "failed"}>
                <th scope="row" role="rowheader">
                  <Name text={check.check} />
                  <span class="measure">
                    <Name text={check.measure} chars={200} />
                  </span>
                  {check.examples.length > 0 && <Examples check={check} />}
                </th>
                <td role="cell">
                  <Result check={check} />
                </td>
                <td role="cell" class="number">
                  {checkValue(check, check.value)}
                </td>
                <td role="cell" class="limit">
                  {limitInWords(check)}
                </td>
                <td role="cell">
                  <Concerned check={check} />
                </td>
                <td role="cell">{check.dropped ? "yes" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Section>
)

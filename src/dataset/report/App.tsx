/** The report page: the overview, then one section per topic. */
import { useState } from "preact/hooks"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { Button } from "../../service/pages/shared/Button.tsx"
import { Agreement } from "./Agreement.tsx"
import { Checks } from "./Checks.tsx"
import { EvaluationSection } from "./Evaluation.tsx"
import { Examples } from "./Examples.tsx"
import { Experts } from "./Experts.tsx"
import { Costs } from "./Costs.tsx"
import { count } from "./format.ts"
import { Funnel } from "./Funnel.tsx"
import { Gold } from "./Gold.tsx"
import { Headline } from "./Headline.tsx"
import { Languages } from "./Languages.tsx"
import { LengthDifference, Sizes } from "./Length.tsx"
import { Leaderboard } from "./Leaderboard.tsx"
import { Models } from "./Models.tsx"
import { Name } from "./parts.tsx"
import { ChosenPosition } from "./Position.tsx"
import { Rubric } from "./Rubric.tsx"
import { Splits } from "./Splits.tsx"
import { LongText } from "./Texts.tsx"
import { Turnaround } from "./Times.tsx"

const sections = [
  ["funnel", "Funnel", Funnel],
  ["checks", "Checks", Checks],
  ["agreement", "Agreement", Agreement],
  ["experts", "Experts", Experts],
  ["rubric", "Rubric", Rubric],
  ["leaderboard", "Leaderboard", Leaderboard],
  ["models", "Models", Models],
  ["gold", "Gold", Gold],
  ["evaluation", "Reward model", EvaluationSection],
  ["costs", "Costs", Costs],
  ["position", "Position", ChosenPosition],
  ["length", "Length", LengthDifference],
  ["sizes", "Sizes", Sizes],
  ["turnaround", "Turnaround", Turnaround],
  ["languages", "Languages", Languages],
  ["splits", "Splits", Splits],
  ["examples", "Examples", Examples],
] as const

const SchemeButton = () => {
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches)
  return (
    <Button
      look="compact"
      text="Dark"
      aria-pressed={isDark}
      onClick={() => {
        document.documentElement.dataset["scheme"] = isDark ? "light" : "dark"
        setDark(!isDark)
      }}
    />
  )
}

const Origin = ({ report: { campaign, guidelines, service } }: { readonly report: QualityReport }) => (
  <>
    {(campaign !== null || service !== null) && (
      <p class="muted origin">
        {campaign !== null && `Campaign ${count(campaign)}`}
        {campaign !== null && service !== null && " · "}
        {service !== null && (
          <>
            judged at <Name text={service} chars={120} />
          </>
        )}
      </p>
    )}
    {guidelines !== null && (
      <details class="card guidelines">
        <summary>Guidelines for the experts</summary>
        <LongText text={guidelines} label="the guidelines" chars={4000} lines={60} />
      </details>
    )}
  </>
)

export const App = ({ report }: { readonly report: QualityReport }) => (
  <>
    <a class="skip" href="#content">
      Skip to the report
    </a>
    <header class="row top">
      <span class="brand">prefstream</span>
      <span class="muted">Dataset report</span>
      <SchemeButton />
    </header>
    <main id="content" tabIndex={-1}>
      <Headline report={report} />
      <Origin report={report} />
      <nav class="row contents" aria-label="Sections">
        {sections
          .filter(([id]) => (id !== "rubric" && id !== "evaluation") || report[id] !== undefined)
          .map(([id, title]) => (
            <a key={id} href={`#${id}`}>
              {title}
            </a>
          ))}
      </nav>
      {sections.map(([id, , Topic]) => (
        <Topic key={id} report={report} />
      ))}
    </main>
    <footer class="foot muted small">
      Lengths are in characters (Unicode code points). The same numbers are in report.json.
    </footer>
  </>
)

/** Renders the report embedded in the page, without requests. */
import { render } from "preact"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { App } from "./App.tsx"

const root = document.querySelector("#app")
const data = document.querySelector("#report")?.textContent ?? ""
if (root !== null && data !== "") {
  const report: QualityReport = JSON.parse(data)
  root.replaceChildren()
  render(<App report={report} />, root)
}

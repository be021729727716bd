/**
 * `report.html`: a quality report as a page for people, one file that opens without a network.
 *
 * Guarantees: the same report gives the same text; no text of the report can become markup or
 * script, whatever it holds; the page asks nobody for anything, and says so to the browser. It
 * needs the template that `npm run build:pages` makes, which the package brings along.
 */
import { Effect, FileSystem, Path, Schema } from "effect"
import type { QualityReport } from "../domain/QualityReport.ts"

const builtTemplate = new URL(import.meta.resolve("#built/report.html"))

const place = '<script id="report" type="application/json"></script>'

/** The template is not where it should be, or is not one. */
export class ReportTemplateMissing extends Schema.TaggedError<ReportTemplateMissing>()("ReportTemplateMissing", {
  path: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
}) {
  override get message() {
    return `The template of the report can't be read at ${this.path}. In a clone: npm run build:pages. Elsewhere, install prefstream again.`
  }
}

const escapes: Record<string, string> = { "<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029" }

/** JSON in which nothing ends a script element or opens a comment; lone surrogates are escaped by JSON itself. */
const embeddable = (report: QualityReport): string =>
  JSON.stringify(report).replaceAll(/[<\u2028\u2029]/g, (character) => escapes[character] ?? character)

/** The page of a report, with the report in the place that `template` has for it; undefined where it has none. */
export const fill = (template: string, report: QualityReport): string | undefined => {
  const at = template.indexOf(place)
  if (at === -1 || at !== template.lastIndexOf(place)) return undefined
  const end = at + place.length - "</script>".length
  return template.slice(0, end) + embeddable(report) + template.slice(end)
}

/** Fails with `ReportTemplateMissing` where the package was not built. */
export const render = Effect.fn("ReportPage.render")(function* (report: QualityReport) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = yield* Effect.orDie(paths.fromFileUrl(builtTemplate))
  const template = yield* Effect.mapError(
    fs.readFileString(path),
    (cause) => new ReportTemplateMissing({ path, cause }),
  )
  const page = fill(template, report)
  return page ?? (yield* new ReportTemplateMissing({ path }))
})

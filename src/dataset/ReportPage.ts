/** The page works offline. Its texts cannot become script, and a Content-Security-Policy forbids requests. */
import { Effect, FileSystem, Path, Schema } from "effect"
import type { QualityReport } from "../domain/QualityReport.ts"

const placeholder = '<script id="report" type="application/json"></script>'

/** The template is missing or invalid. */
export class ReportTemplateMissing extends Schema.TaggedError<ReportTemplateMissing>()("ReportTemplateMissing", {
  /** The path of the template, or its import name if it cannot be resolved. */
  path: Schema.String,
  /** The error from reading the template. Absent if the template was read, but is invalid. */
  cause: Schema.optionalKey(Schema.Defect()),
}) {
  override get message() {
    return `The report template at ${this.path} cannot be read. In a clone, run npm run build:pages. In a bundled program, exclude prefstream from the bundle. Otherwise, reinstall prefstream.`
  }
}

const escapes: Record<string, string> = { "<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029" }

/** Returns JSON for a script element. Texts in the JSON can neither end the element nor open an HTML comment. */
const embeddable = (report: QualityReport): string =>
  JSON.stringify(report).replaceAll(/[<\u2028\u2029]/g, (character) => escapes[character] ?? character)

export const fill = (template: string, report: QualityReport): string | undefined => {
  const at = template.indexOf(placeholder)
  if (at === -1 || at !== template.lastIndexOf(placeholder)) return undefined
  const end = at + placeholder.length - "</script>".length
  return template.slice(0, end) + embeddable(report) + template.slice(end)
}

/** Fails with `ReportTemplateMissing` if the pages were not built. */
export const render = Effect.fn("ReportPage.render")(function* (report: QualityReport) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  // In a bundled program, `resolve` throws. At the top level, the error would make every import of this module fail.
  const url = yield* Effect.try({
    try: () => new URL(import.meta.resolve("#built/report.html")),
    catch: (cause) => new ReportTemplateMissing({ path: "#built/report.html", cause }),
  })
  const path = yield* Effect.orDie(paths.fromFileUrl(url))
  const template = yield* Effect.mapError(
    fs.readFileString(path),
    (cause) => new ReportTemplateMissing({ path, cause }),
  )
  const page = fill(template, report)
  return page ?? (yield* new ReportTemplateMissing({ path }))
})

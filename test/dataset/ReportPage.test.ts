import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as ReportPage from "../../src/dataset/ReportPage.ts"
import { characters, decimal, excerpt, seconds, share } from "../../src/dataset/report/format.ts"
import { ticksOf } from "../../src/dataset/report/histogram.ts"
import * as wording from "../../src/dataset/report/wording.ts"
import * as reports from "../support/report.ts"
import { test } from "./support.ts"

const place = '<script id="report" type="application/json">'
const template = `<html><head></head><body>${place}</script><p>after</p></body></html>`

/** What stands in the page where the report belongs, up to where a browser ends the element. */
const embedded = (page: string): string => {
  const start = page.indexOf(place) + place.length
  return page.slice(start, page.indexOf("</script", start))
}

const filled = (report: Parameters<typeof ReportPage.fill>[1]): string => {
  const page = ReportPage.fill(template, report)
  assert.isDefined(page)
  return page
}

describe("fill", () => {
  for (const [name, make] of Object.entries(reports)) {
    it(`gives back every value of a report: ${name}`, () => {
      const report = make()
      const page = filled(report)
      assert.deepStrictEqual(JSON.parse(embedded(page)), report)
      assert.isTrue(page.endsWith("</script><p>after</p></body></html>"))
    })
  }

  it("leaves nothing in the data that a parser of HTML or of scripts takes for its own", () => {
    const data = embedded(filled(reports.hostile()))
    assert.notMatch(data, /[<\u2028\u2029\0\r\n]/)
    assert.isTrue(data.isWellFormed())
  })

  it("takes only a template with one place for the report", () => {
    const report = reports.minimal()
    assert.isUndefined(ReportPage.fill("<html></html>", report))
    assert.isUndefined(ReportPage.fill(template + template, report))
  })

  it("does not look into the data for the place", () => {
    const report = { ...reports.minimal(), guidelines: `${place}</script>` }
    assert.deepStrictEqual(JSON.parse(embedded(filled(report))), report)
  })
})

describe("render", () => {
  // A file system in which nothing is: the package before it was built.
  const without = FileSystem.layerNoop({})

  test("says what to do where the template was not built", function* () {
    const error = yield* Effect.flip(ReportPage.render(reports.minimal()).pipe(Effect.provide(without)))
    assert.strictEqual(error._tag, "ReportTemplateMissing")
    assert.match(error.path, /[\\/]report\.html$/)
    assert.include(error.message, "npm run build:pages")
  })

  test("asks for the template that was built, and fails where that is none", function* () {
    const wrong = FileSystem.layerNoop({ readFileString: () => Effect.succeed("<html></html>") })
    const error = yield* Effect.flip(ReportPage.render(reports.minimal()).pipe(Effect.provide(wrong)))
    assert.strictEqual(error._tag, "ReportTemplateMissing")
    const right = FileSystem.layerNoop({ readFileString: () => Effect.succeed(template) })
    const page = yield* ReportPage.render(reports.minimal()).pipe(Effect.provide(right))
    assert.deepStrictEqual(JSON.parse(embedded(page)), reports.minimal())
  })
})

describe("numbers for people", () => {
  it("a share is 0% or 100% only where it is exactly that", () => {
    assert.deepStrictEqual([0, 1e-9, 0.123_45, 0.9999999, 1].map(share), [
      "0%",
      "<\u00A00.1%",
      "12.3%",
      ">\u00A099.9%",
      "100%",
    ])
  })

  it("times are told in the two largest units, carried over", () => {
    assert.deepStrictEqual([0, 1.54, 45, 59.6, 60, 125, 3599.7, 7500, 86_399, 126_000, 30 * 86_400].map(seconds), [
      "0 s",
      "1.5 s",
      "45 s",
      "1 min",
      "1 min",
      "2 min 5 s",
      "1 h",
      "2 h 5 min",
      "1 d",
      "1 d 11 h",
      "30 d",
    ])
  })

  it("a number that rounds to nothing has no sign", () => {
    assert.deepStrictEqual(
      [-0.001, -0.123, 0.5].map((n) => decimal(n)),
      ["0.00", "−0.12", "0.50"],
    )
  })

  it("a text is cut at its characters and lines, never within a character", () => {
    assert.deepStrictEqual(excerpt("😀".repeat(100), 5), { shown: "😀😀", cut: true })
    assert.deepStrictEqual(excerpt("one\ntwo\nthree", 100, 2), { shown: "one\ntwo", cut: true })
    assert.deepStrictEqual(excerpt("a".repeat(12), 10), { shown: "a".repeat(12), cut: false })
    assert.strictEqual(characters("a😀\uD800"), 3)
  })
})

it("axes of times have the steps of clocks and calendars, far enough apart to be read", () => {
  assert.strictEqual(ticksOf("seconds", false, [0, 10_800], 300)[1].interval, 3600)
  assert.strictEqual(ticksOf("seconds", false, [0, 45], 300)[1].interval, 30)
  assert.deepStrictEqual(ticksOf("seconds", true, [1, 86_400], 300)[0], [1, 30, 600, 21_600])
})

describe("words", () => {
  it("the conventions for kappa (Landis and Koch 1977) and d (Cohen 1988) turn at their limits", () => {
    assert.deepStrictEqual([0.81, 0.8, 0.6, 0.4, 0.2, 0].map(wording.describeKappa), [
      "almost perfect",
      "substantial",
      "moderate",
      "fair",
      "slight",
      "no better than chance",
    ])
    assert.deepStrictEqual([-0.8, 0.5, 0.2, 0.19].map(wording.describeEffect), [
      "large",
      "medium",
      "small",
      "negligible",
    ])
  })

  it("a reason that nobody knows is told as it stands", () => {
    assert.deepStrictEqual(["tie", "too-long", "constructor"].map(wording.describeReason), [
      "with a tie",
      "too long",
      "constructor",
    ])
  })

  it("a value is a share where it is one, and a number where it is not", () => {
    const [check] = reports.full().checks
    assert.strictEqual(wording.checkValue({ ...check!, is_share: false }, 0.125), "0.125")
    assert.strictEqual(wording.checkValue({ ...check!, is_share: true }, 0.125), "12.5%")
    assert.strictEqual(wording.describeThreshold({ ...check!, threshold: null }), "none set")
  })
})

/**
 * The report as a file in a real browser: it shows what it is given, runs nothing of it, asks
 * nobody for anything, and can be read on a phone, in the dark, on paper and by keyboard.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, beforeAll, it } from "@effect/vitest"
import { Effect, FileSystem, Path, Schema } from "effect"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { build } from "vite"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import * as ReportPage from "../../src/dataset/ReportPage.ts"
import { hasBrowser, launched, open } from "../support/browser.ts"
import { drawn } from "../support/cases.ts"
import { violations } from "../support/pictures.ts"
import * as hostileTexts from "../support/hostile.ts"
import * as reports from "../support/report.ts"

const wide: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, colorScheme: "light" }
const phone: BrowserContextOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

let browser: Browser

/** The report's page, opened from disk. At the end, it must have had no problem and asked for nothing. */
const opened = Effect.fnUntraced(function* (
  report: QualityReport,
  options: BrowserContextOptions,
  look: (page: Page) => Promise<void>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* fs.makeTempDirectoryScoped(), "report.html")
  yield* fs.writeFileString(file, yield* ReportPage.render(report))
  const url = (yield* path.toFileUrl(file)).href
  const { account, page } = yield* open(browser, options)
  yield* Effect.promise(async () => {
    await page.goto(url)
    await page.getByRole("heading", { level: 1 }).waitFor()
    await look(page)
  })
  assert.deepStrictEqual(account.problems, [])
  assert.deepStrictEqual(
    account.requests.filter((asked) => asked !== "data:,"),
    [url],
  )
})

const inBrowser = (name: string, test: () => ReturnType<typeof opened>) =>
  it.live.skipIf(!hasBrowser)(name, () => test().pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

/** What a reader with a screen reader would stumble on, and axe does not find. Runs in the browser. */
const obstacles = () => {
  const found: Array<string> = []
  const of = (element: Element) => element.outerHTML.slice(0, 120)
  for (const table of document.querySelectorAll("table")) {
    if (table.querySelector("thead th[scope=col]") === null) found.push(`no column headers: ${of(table)}`)
    for (const row of table.querySelectorAll("tbody tr")) {
      if (row.querySelector("th[scope=row]") === null) found.push(`no row header: ${of(row)}`)
    }
  }
  for (const figure of document.querySelectorAll("figure")) {
    if ((figure.querySelector("figcaption")?.textContent ?? "") === "") found.push(`no caption: ${of(figure)}`)
    if (figure.querySelector("details table tbody tr") === null) found.push(`no table: ${of(figure)}`)
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id)
  if (new Set(ids).size !== ids.length) found.push("an id is used twice")
  for (const link of document.querySelectorAll("a")) {
    const href = link.getAttribute("href") ?? ""
    if (!href.startsWith("#") || document.getElementById(href.slice(1)) === null)
      found.push(`leads nowhere: ${of(link)}`)
  }
  return found
}

/** How far the page is wider than it was asked to be: on a phone, the browser makes itself wider rather than scroll. */
const isWithin = (page: Page) =>
  page.evaluate((width) => document.documentElement.scrollWidth <= width, page.viewportSize()!.width)

const section = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true })

const kinds = {
  full: reports.full,
  minimal: reports.minimal,
  empty: reports.empty,
  hostile: reports.hostile,
  large: reports.large,
}

beforeAll(async () => void (browser = await Effect.runPromise(launched)))

for (const [name, make] of Object.entries(kinds)) {
  for (const [place, options] of drawn(Object.entries({ "a wide screen": wide, "a phone of 360 pixels": phone }))) {
    inBrowser(`${name}, on ${place}: fits, is in order, and asks for nothing`, () =>
      opened(make(), options, async (page) => {
        assert.isTrue(await isWithin(page))
        assert.deepStrictEqual(await page.evaluate(obstacles), [])
        for (const summary of await page.locator("figure summary, .wrong > summary").all()) await summary.click()
        assert.isTrue(await isWithin(page))
        assert.deepStrictEqual(await page.evaluate(obstacles), [])
        const found = await violations(page)
        // Hostile names of aspects may be blank, and then their tables have the same name.
        const isHostile = (one: string) => name === "hostile" && one.startsWith("landmark-unique: ")
        assert.deepStrictEqual(
          found.filter((one) => !isHostile(one)),
          [],
        )
      }),
    )
  }
}

inBrowser("every text has contrast enough in the dark, too", () =>
  opened(reports.full(), { ...wide, colorScheme: "dark" }, async (page) => {
    assert.deepStrictEqual(await violations(page), [])
  }),
)

inBrowser("says first what failed and what to do, then each section in its order", () =>
  opened(reports.full(), wide, async (page) => {
    const verdict = await page.locator(".verdict").innerText()
    assert.include(verdict, "No dataset was written: 2 of 4 checks failed")
    assert.include(verdict, "longer-chosen")
    assert.include(verdict, "Balance the lengths")
    const headings = await page.getByRole("heading", { level: 2 }).allTextContents()
    assert.deepStrictEqual(headings, [
      "From records to pairs",
      "Checks",
      "Agreement",
      "Experts",
      "Rubric",
      "Leaderboard",
      "Models",
      "Gold items",
      "Costs",
      "Chosen position",
      "Length of chosen and rejected",
      "Sizes",
      "Turnaround",
      "Languages",
      "Splits",
      "Examples",
    ])
    assert.match(
      await section(page, "Agreement").innerText(),
      /The best completion was chosen by votes weighted by expert reliability \(Dawid–Skene\) on 277 and a lead on 3; on 43 items, the choice differs from the majority\./,
    )
    assert.match(
      await section(page, "Gold items").innerText(),
      /28 items with a wrong choice \(the first 10 are shown\)/,
    )
    assert.include(
      await section(page, "Costs").innerText(),
      "4483.64 was spent on 9,812 votes, and 300.00 is committed for 120 outstanding votes; 216.36 of the budget of 5000 is left",
    )
    assert.strictEqual(await page.locator("figure [role=img] > [aria-hidden=true]").count(), 24)
    const leaderboard = (await section(page, "Leaderboard").innerText()).replace(/\s+/g, " ")
    assert.match(leaderboard, /5 models\. large-2 is better than large-1 in \S+% of the resamples/)
    assert.match(leaderboard, /With 1,000 more votes, the width would be \d+\.\d%/)
  }),
)

inBrowser("a section without data says so instead of drawing nothing", () =>
  opened(reports.minimal(), wide, async (page) => {
    assert.include(
      await section(page, "Agreement").innerText(),
      "Agreement is unknown, because each item has one vote.",
    )
    assert.include(await section(page, "Gold items").innerText(), "No item has a known answer")
    assert.include(await section(page, "Costs").innerText(), "No price per vote was set")
    assert.include(await section(page, "Chosen position").innerText(), "Position bias is unknown")
    assert.include(await section(page, "Models").innerText(), "The input has no model names")
    assert.include(await section(page, "Experts").first().innerText(), "votes without a name")
    assert.strictEqual(await section(page, "Agreement").locator("svg").count(), 0)
    assert.strictEqual(await section(page, "Turnaround").locator("svg").count(), 0)
  }),
)

inBrowser("the table of experts sorts by keyboard, unknown values last", () =>
  opened(reports.full(), wide, async (page) => {
    const table = page.locator(".experts")
    const column = async (n: number) =>
      (await table.locator(`tbody tr > :nth-child(${n})`).allTextContents()).map((text) => text)
    await table.getByRole("button", { name: "Reliability" }).focus()
    await page.keyboard.press("Enter")
    const falling = (await column(3)).map(Number)
    assert.deepStrictEqual(
      falling,
      falling.toSorted((a, b) => b - a),
    )
    await page.keyboard.press("Enter")
    assert.match((await column(1))[0]!, /^Dolores\b/)
    assert.strictEqual(await table.locator('th[aria-sort="ascending"]').innerText(), "Reliability ↑")
    await table.getByRole("button", { name: "Median time" }).click()
    assert.strictEqual((await column(6)).at(-1), "–")
    await table.getByRole("button", { name: "Median time" }).click()
    assert.strictEqual((await column(6)).at(-1), "–")
  }),
)

inBrowser("the numbers behind a plot open by keyboard, and add up", () =>
  opened(reports.full(), wide, async (page) => {
    const figure = section(page, "Length of chosen and rejected").locator("figure")
    await figure.locator("summary").focus()
    await page.keyboard.press("Enter")
    const counts = await figure.locator("tbody tr > :nth-child(2)").allInnerTexts()
    const all = counts.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0)
    assert.strictEqual(all, reports.full().length.difference.count)
  }),
)

inBrowser("light and dark follow the system, then the reader; paper is light", () =>
  opened(reports.full(), { ...wide, colorScheme: "dark" }, async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.querySelector(".card")!).backgroundColor)
    const light = "rgb(255, 255, 255)"
    const dark = await ground()
    assert.notStrictEqual(dark, light)
    await page.emulateMedia({ media: "print" })
    assert.strictEqual(await ground(), light)
    await page.emulateMedia({ media: "screen" })
    const button = page.getByRole("button", { name: "Dark" })
    assert.strictEqual(await button.getAttribute("aria-pressed"), "true")
    await button.click()
    assert.strictEqual(await ground(), light)
    assert.strictEqual(await button.getAttribute("aria-pressed"), "false")
    await button.click()
    assert.strictEqual(await ground(), dark)
    await page.emulateMedia({ media: "print" })
    assert.strictEqual(await ground(), light)
  }),
)

inBrowser("long texts are opened on demand", () =>
  opened(reports.full(), wide, async (page) => {
    const i = reports.full().examples.findIndex(({ prompt }) => prompt.length > 1200)
    const example = page.locator("#examples article.example").nth(i)
    const prompt = (reports.full().examples[i]!.prompt as string).trim()
    const text = example.locator(".part .text").first()
    assert.isBelow((await text.innerText()).length, 1200)
    await example.getByRole("button", { name: `of the prompt of example ${i + 1}` }).click()
    assert.strictEqual((await text.textContent())?.trim(), prompt)
  }),
)

inBrowser("hostile texts are shown as they are, and do nothing", () =>
  opened(reports.hostile(), wide, async (page) => {
    await page.evaluate(() => {
      for (const summary of document.querySelectorAll("summary")) summary.click()
    })
    // Each look finds what the one before has opened.
    const opened = () =>
      page.evaluate(() => {
        const closed = [...document.querySelectorAll("button")].filter((b) => b.textContent.startsWith("Show all"))
        for (const button of closed) button.click()
        return closed.length
      })
    while ((await opened()) > 0);
    const examples = await page.locator("#examples article.example").count()
    assert.strictEqual(examples, reports.hostile().examples.length)
    const found = await page.evaluate((mark) => {
      const dangerous =
        "script, iframe, object, embed, form, style, link, meta, base, img, video, audio, math, input, textarea, template"
      return {
        ran: mark in globalThis,
        elements: [...document.querySelectorAll("body *")].filter(
          (e) => e.matches(dangerous) && e.id !== "report" && e.closest(".canvas") === null,
        ).length,
        handlers: [...document.querySelectorAll("*")].filter((e) =>
          [...e.attributes].some(({ name }) => name.startsWith("on")),
        ).length,
      }
    }, hostileTexts.mark)
    assert.deepStrictEqual(found, { ran: false, elements: 0, handlers: 0 })
    const shown = await page.locator("#examples article.example").first().locator(".text").first().textContent()
    assert.strictEqual(shown, hostileTexts.all[0])
    const longest = await page
      .locator(".answer .text")
      .evaluateAll((texts) => Math.max(...texts.map((t) => t.textContent.length)))
    assert.isAtLeast(longest, 90_000)
    assert.strictEqual(page.frames().length, 1)
  }),
)

const Built = Schema.Struct({ output: Schema.Array(Schema.Struct({ fileName: Schema.String, source: Schema.String })) })

it.live("the template is one file of the same bytes from each build, small, and names no other file", () =>
  Effect.gen(function* () {
    const made = yield* Effect.forEach([1, 2], () =>
      Effect.promise(() => build({ mode: "report", logLevel: "error", build: { write: false } })).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Built)),
      ),
    )
    assert.deepStrictEqual(made[0]!.output.map(({ fileName }) => fileName).toSorted(), [
      "report.html",
      "report.licenses.md",
    ])
    const [first, second] = made.map(({ output }) => output.find(({ fileName }) => fileName === "report.html")?.source)
    assert.strictEqual(first, second)
    assert.isBelow(new TextEncoder().encode(first).length, 600_000)
    const outside = first!.replaceAll(/<(script|style)[^>]*>[^]*?<\/\1>/g, "")
    assert.deepStrictEqual(
      [...outside.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, url]) => url),
      ["data:,"],
    )
    const styles = [...first!.matchAll(/<style>([^]*?)<\/style>/g)].map(([, style]) => style)
    assert.strictEqual(styles.length, 1)
    assert.notMatch(styles[0]!, /@import|url\(/)
  }),
)

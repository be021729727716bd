/**
 * The whole way of a judgment: experts say more than the choice, by keyboard and on a phone; a lead filters, decides, and
 * voids an expert's votes; and each value is in its column of the dataset, and in the report. `SCREENSHOTS=DIR` keeps pictures.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { fillIn, inBrowser, invite, jobOf, press, signIn } from "../support/browserService.ts"
import { picture, screenshot } from "../support/pictures.ts"

const rubric = `strength: true
all_bad: true
edit: true
flags: [unsafe, broken text]
aspects: [helpfulness, { name: truthfulness, steps: 3, low: wrong, high: right }]
`

const colors = ["red", "green", "blue"] as const
type Color = (typeof colors)[number]
const right = (color: Color) => `The ${color} one, as **asked**.`
const wrong = (color: Color) => `Another one than ${color}.`
const items = colors.map((color) => ({
  id: color,
  prompt: `Which one is ${color}?`,
  completions: [right(color), wrong(color)],
  models: ["large", "small"],
}))

/** Where the right completion of the item is shown, from 1 on, once it is there. */
const placeOf = async (page: Page, color: Color): Promise<1 | 2> => {
  await page.getByText(`Which one is ${color}?`).waitFor()
  const first = page.getByRole("article", { name: "Completion 1" })
  await first.getByText(color).waitFor()
  return /asked/.test((await first.textContent())!) ? 1 : 2
}

inBrowser(
  "what experts say and a lead decides is in the dataset and the report",
  { flags: ["--undo-grace", "0s", "--votes", "2"] },
  function* (service) {
    const wide = { viewport: { width: 1280, height: 900 } }
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
    const { link, open, scratch, writeItems } = service
    const lead = yield* open(wide)
    const ann = yield* open(wide)
    const bob = yield* open(phone)
    const cleo = yield* open(wide)

    const { directory, prefstream, ...job } = jobOf(service)
    const pairs = () => Object.fromEntries(job.pairs().map((row) => [String(row["item_id"]), row]))

    const rubricFile = join(scratch, "rubric.yaml")
    writeFileSync(rubricFile, rubric)
    const guidelines = "Prefer what was asked for."
    yield* prefstream("submit", writeItems(items), "--rubric", rubricFile, "--guidelines", guidelines)

    const edit = `${right("red")} It is the first.`
    const invitations = yield* Effect.promise(async () => {
      await signIn(lead, link, "Lea")
      const links: Array<string> = []
      for (const name of ["Ann", "Bob", "Cleo"]) {
        links.push(await invite(lead, name))
        // A link is shown until the page is left.
        await lead.reload()
      }
      return links
    })

    // Ann, by keyboard alone.
    yield* Effect.promise(async () => {
      const page = ann
      const { keyboard } = page
      await page.goto(invitations[0]!)
      const first = await placeOf(page, "red")
      assert.notInclude((await page.textContent("body"))!, "rubric:", "the front matter is not shown")
      await keyboard.press(String(first))
      for (const key of "+++-") await keyboard.press(key)
      // Marked anew, it keeps its strength, and ratings begin at it.
      for (const key of first === 1 ? "11" : "112") await keyboard.press(key)
      await keyboard.press("ArrowLeft")
      await keyboard.press("a")
      // Helpfulness and truthfulness of either completion.
      for (const key of first === 1 ? "5321" : "2153") await keyboard.press(key)
      await keyboard.press("Escape")
      for (const key of ["k", "2", "Escape", "i", "Control+End"]) await keyboard.press(key)
      await keyboard.type(" It is the first.")
      for (const key of ["Escape", "e"]) await keyboard.press(key)
      await keyboard.type("It is red.")
      await keyboard.press("Control+Enter")
      // Taken back, and given again as it was.
      await placeOf(page, "green")
      await keyboard.press("u")
      await placeOf(page, "red")
      await page.getByText("You took this judgment back").waitFor()
      await page.setViewportSize({ width: 360, height: 740 })
      assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 360)
      await picture(page, "judgments-taken-back")
      await page.setViewportSize(wide.viewport)
      await keyboard.press("Enter")
      await keyboard.press(String(await placeOf(page, "green")))
      for (const key of ["+", "+", "+", "Enter"]) await keyboard.press(key)
      await placeOf(page, "blue")
      await keyboard.press("x")
      await page.getByRole("dialog", { name: "Flag a problem" }).waitFor()
      await keyboard.press("Space")
      await keyboard.press("Tab")
      await keyboard.type("Which blue?")
      await picture(page, "2-flag-keyboard")
      await keyboard.press("Control+Enter")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await page.getByText("Which one is blue?").waitFor({ state: "detached" })
    })

    // Bob, on a phone: the right one once, and then whatever is wrong.
    yield* Effect.promise(async () => {
      const page = bob
      await page.goto(invitations[1]!)
      const left = new Set<Color>(colors)
      while (left.size > 0) {
        // Whichever comes next.
        const prompt = page.getByText(new RegExp(`^Which one is (${[...left].join("|")})[?]$`))
        const text = await prompt.textContent()
        const color = colors.find((color) => text!.includes(color))!
        left.delete(color)
        const place = await placeOf(page, color)
        await page.getByRole("button", { name: `Completion ${color === "red" ? place : 3 - place} is best` }).tap()
        await page.getByRole("button", { name: "slightly better" }).tap()
        if (color === "red") {
          const scale = page.getByRole("radiogroup", { name: `Rate completion ${place} helpfulness` })
          await scale.getByRole("radio", { name: "3" }).tap()
          await picture(page, "3-annotate-phone")
        }
        await page.getByRole("button", { name: "Submit", exact: true }).tap()
        await page.getByText(`Which one is ${color}?`).waitFor({ state: "detached" })
      }
    })

    // Cleo has the one that Ann gave back.
    yield* Effect.promise(async () => {
      const page = cleo
      await page.goto(invitations[2]!)
      await press(page, String(await placeOf(page, "blue")), "n")
      await picture(page, "4-all-bad")
      await page.keyboard.press("Enter")
      await page.getByText("Which one is blue?").waitFor({ state: "detached" })
    })

    // Two agree on red alone; ties make no pairs.
    yield* prefstream("collect", "--once")
    yield* prefstream("export")
    assert.deepStrictEqual(Object.keys(pairs()), ["red"])
    assert.deepInclude(pairs()["red"], { chosen: right("red"), strength: 1.5, votes: 2, edited: edit })

    // The lead finds what was flagged, and decides one by keyboard.
    yield* Effect.promise(async () => {
      const page = lead
      await page.getByRole("link", { name: "Items", exact: true }).click()
      const table = page.getByRole("table", { name: "Items" })
      await table.getByRole("row", { name: /green/ }).waitFor()
      await page.getByRole("checkbox", { name: "Flagged" }).check()
      await page.getByRole("button", { name: "Filter", exact: true }).click()
      await table.getByRole("row", { name: /green/ }).waitFor({ state: "detached" })
      await page.getByRole("link", { name: "Clear" }).click()
      await page.getByRole("button", { name: /^Open: .*green/ }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Decide prompt 2" }).waitFor()
      await page.waitForFunction(() => document.activeElement?.textContent === "Prompt 2")
      await picture(page, "7-open-item")
      await page.getByRole("button", { name: "Decide prompt 2" }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("form", { name: "Decide prompt 2" }).waitFor()
      await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement)
      await press(page, "Space", "Tab")
      await page.keyboard.type("Only it is green.")
      await press(page, "Tab", "Enter")
      await page.getByText("Prompt 2 is decided for A.").waitFor()
      await page.getByRole("link", { name: "Experts", exact: true }).click()
      await page.getByRole("link", { name: "Bob" }).click()
      await page.getByRole("button", { name: "Void votes" }).click()
      await page.getByLabel("Reason (optional)").fill("Tapped through.")
      await page.getByRole("button", { name: "Void 3 votes" }).click()
      await page.getByText("Tapped through.").waitFor()
      await page.getByRole("link", { name: "Items", exact: true }).click()
      await table.getByRole("row", { name: /red/ }).waitFor()
      await fillIn(page, "Prompt contains", "blue")
      await table.getByRole("row", { name: /red/ }).waitFor({ state: "detached" })
      await page.getByRole("button", { name: /^Open: .*blue/ }).click()
      await page.getByText("Void, so not counted:").waitFor()
      await picture(page, "12-item-with-void-vote")
    })

    yield* prefstream("collect", "--once", "--recheck-completed")
    yield* prefstream("export")
    const { blue, green, red } = pairs()
    const kindsOf = (flags: unknown) => JSON.parse(String(flags)).map(({ kind }: { readonly kind: string }) => kind)
    for (const [color, row] of Object.entries(pairs())) {
      assert.deepInclude(row, {
        chosen: right(color as Color),
        rejected: wrong(color as Color),
        chosen_model: "large",
      })
    }
    assert.deepInclude(red, { strength: 2, all_bad: false, edited: edit, votes: 1, rationale: "It is red." })
    assert.deepStrictEqual(JSON.parse(String(red!["aspects"])), {
      helpfulness: { chosen: 5, rejected: 2 },
      truthfulness: { chosen: 3, rejected: 1 },
    })
    assert.deepStrictEqual(kindsOf(red!["flags"]), ["broken text"])
    assert.deepInclude(green, {
      strength: 3,
      edited: null,
      aspects: null,
      flags: null,
      rationale: "Only it is green.",
    })
    assert.deepInclude(blue, { strength: null, all_bad: true, edited: null, aspects: null })
    assert.deepStrictEqual(kindsOf(blue!["flags"]), ["unclear_prompt"])

    yield* Effect.promise(async () => {
      await lead.goto(`file://${join(directory, "dataset/report.html")}`)
      const section = lead.getByRole("region", { name: "Rubric", exact: true })
      await section.getByText("Rubric questions are answered in 3 votes on 3 of 3 judged items").waitFor()
      await section.evaluate((element) => element.scrollIntoView())
      await screenshot(lead, "13-report-rubric")
    })
  },
)

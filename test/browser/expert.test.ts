/**
 * What protects and helps an expert: no choice before the texts are there, keys that stay where the focus is, answers
 * that are required, judgments that are corrected, and guidelines that close. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { inBrowser, invited, press } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const desktop = { viewport: { width: 1280, height: 800 } }

/** The numbers of the completions that are chosen as the best. */
const chosenOn = (page: Page) =>
  page.getByRole("button", { name: /is best$/, pressed: true }).evaluateAll((all) => all.map((each) => each.ariaLabel))

inBrowser("nothing can be chosen before the texts are shown", {}, function* (service) {
  const { link, page } = yield* invited(service, desktop)
  yield* Effect.promise(async () => {
    await service.create({ prompts: [{ prompt: "Which **one**?", completions: ["*One.*", "Two."] }] })
    const worker = Promise.withResolvers<void>()
    await page.route(/textWorker/, async (route) => {
      await worker.promise
      await route.continue()
    })
    // The texts would be shown as plain ones by this time.
    await page.addInitScript(() => {
      const later = globalThis.setTimeout
      const without = (run: () => void, millis?: number) => (millis === 200 ? 0 : later(run, millis))
      globalThis.setTimeout = without as unknown as typeof setTimeout
    })
    await page.goto(link)
    await page.locator("article").first().waitFor({ state: "attached" })
    await press(page, "1", "Enter")
    const { x, y } = (await page.locator("article button").last().boundingBox())!
    await page.mouse.click(x + 5, y + 5)
    const chip = (await page.locator(".chip").last().boundingBox())!
    await page.mouse.click(chip.x + 5, chip.y + 5)
    assert.strictEqual(await page.getByRole("article").count(), 0, "nothing is shown")
    worker.resolve()
    await page.getByText("Which one?").waitFor()
    await page.getByText("Two.").waitFor()
    assert.deepStrictEqual(await chosenOn(page), [])
    await page.keyboard.press("2")
    assert.deepStrictEqual(await chosenOn(page), ["Completion 2 is best"])
  })
})

const rubric = `---
rubric:
  flags: [unsafe, broken text]
  aspects: [{ name: truth, steps: 3 }]
---
`

inBrowser("a digit that no mark and no step has chooses no completion", {}, function* (service) {
  const { link, page } = yield* invited(service, desktop)
  yield* Effect.promise(async () => {
    const completions = ["a", "b", "c", "d", "e"]
    await service.create({ guidelines: rubric, prompts: [{ prompt: "Which one?", completions }] })
    await page.goto(link)
    await page.getByText("Which one?").waitFor()
    await page.keyboard.press("1")
    for (const key of ["k", "2", "3", "0"]) await page.keyboard.press(key)
    assert.strictEqual(await page.getByRole("button", { name: "broken text", pressed: true }).count(), 1)
    assert.deepStrictEqual(await chosenOn(page), ["Completion 1 is best"])
    for (const key of ["Escape", "a", "4", "3"]) await page.keyboard.press(key)
    assert.deepStrictEqual(await chosenOn(page), ["Completion 1 is best"])
    const rated = page.getByRole("radio", { checked: true })
    assert.deepStrictEqual(await rated.allTextContents(), ["3"], "the first rating waits for a valid digit")
  })
})

inBrowser("an expert corrects a judgment, by keyboard and on a phone", {}, function* (service) {
  const { link, operator, page } = yield* invited(service, desktop)
  yield* Effect.promise(async () => {
    const prompts = ["one", "two", "three"].map((name) => ({
      prompt: `Item ${name}: which of these two sentences is the better one, and for whom?`,
      completions: ["The first.", "The second."],
    }))
    const task = await service.create({ prompts })
    const { keyboard } = page
    await page.goto(link)
    await page.getByText("Item one").waitFor()
    for (const key of ["1", "Enter"]) await keyboard.press(key)
    await page.getByText("Item two").waitFor()
    for (const key of ["r", "2", "ArrowRight", "1", "Enter"]) await keyboard.press(key)
    await page.getByText("Item three").waitFor()
    for (const key of ["r", "2"]) await keyboard.press(key)

    const dialog = page.getByRole("dialog", { name: "Your last judgments" })
    const row = (name: string) => dialog.getByRole("button", { name: new RegExp(`Item ${name}`) })
    await keyboard.press("j")
    await row("one").waitFor()
    await picture(page, "expert-1-judgments")
    assert.deepStrictEqual(await dialog.locator("strong").allTextContents(), ["2 > 1", "1"])
    for (const key of ["Tab", "Enter"]) await keyboard.press(key)
    await page.getByText("You are correcting your judgment").waitFor()
    await page.getByText("Item one").waitFor()
    assert.deepStrictEqual(await chosenOn(page), ["Completion 1 is best"])
    await picture(page, "expert-2-correcting")
    for (const key of ["2", "Enter"]) await keyboard.press(key)
    await page.getByText("Item three").waitFor()
    assert.deepStrictEqual(await chosenOn(page), ["Completion 2 is best"], "what was entered is still there")

    // Left as it is: nothing is changed.
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole("button", { name: "Judgments" }).click()
    await row("one").click()
    await page.getByText("You are correcting your judgment").waitFor()
    assert.deepStrictEqual(await chosenOn(page), ["Completion 2 is best"])
    await keyboard.press("1")
    await page.getByRole("button", { name: "Keep the earlier judgment" }).click()
    await page.getByText("Item three").waitFor()
    await page.getByText("Your correction was not submitted. It is kept on this device").waitFor()

    // What was entered is still there when the judgment is opened again, and Escape keeps it, too.
    await keyboard.press("j")
    await row("one").click()
    await page.getByText("Your earlier, unsubmitted correction is restored.").waitFor()
    assert.deepStrictEqual(await chosenOn(page), ["Completion 1 is best"])
    await keyboard.press("Escape")
    await page.getByText("Item three").waitFor()
    await page.getByText("Your correction was not submitted. It is kept on this device").waitFor()

    await operator.goto(`${service.origin}/dashboard/#/tasks/${task}`)
    await operator.getByText("Later corrected by the expert, so not counted: Grace Hopper for").first().waitFor()
  })
})

const required = `---
rubric:
  strength: required
  all_bad: true
  rationale: required
  aspects: [style, { name: truth, steps: 3, required: true }]
---
Prefer the true one.`

inBrowser(
  "an expert is told which answer is missing, and led to it; guidelines close after the first item",
  {},
  function* (service) {
    const { link, page } = yield* invited(service, desktop)
    yield* Effect.promise(async () => {
      const prompts = ["one", "two"].map((name) => ({ prompt: `Item ${name}`, completions: ["a", "b"] }))
      await service.create({ guidelines: required, prompts })
      await service.create({ guidelines: "Prefer the short one.", prompts: prompts.slice(0, 1) })
      const { keyboard } = page
      const submit = page.getByRole("button", { name: "Submit", exact: true })
      await page.goto(link)
      await page.getByText("Item one").waitFor()
      await page.getByText("Prefer the true one.").waitFor()
      await page.getByText("0 of 6 answered").waitFor()
      for (const key of ["1", "Enter"]) await keyboard.press(key)
      await page.getByText("Rate truth of completion 1 first.").waitFor()
      // The focus is on the scale, and stays in it.
      for (const key of ["2", "ArrowDown", "3"]) await keyboard.press(key)
      // Playwright does not click by itself on a button that is marked as disabled.
      await submit.click({ force: true })
      await page.getByText("Write a rationale first.").waitFor()
      await keyboard.type("Because.")
      await picture(page, "expert-3-required")
      await keyboard.press("Control+Enter")
      await page.getByText("First say how much better").waitFor()
      assert.strictEqual(await page.evaluate(() => document.activeElement?.textContent), "slightly better")
      await page.getByText("3 of 6 answered").waitFor()
      for (const key of ["+", "n", "Control+Enter"]) await keyboard.press(key)

      await page.getByText("Item two").waitFor()
      const guidelines = page.getByRole("button", { name: "Guidelines" })
      assert.strictEqual(await guidelines.getAttribute("aria-expanded"), "false")
      await keyboard.press("g")
      await page.getByText("Prefer the true one.").waitFor()
      for (const key of ["1", "a", "1", "2", "1", "3", "e"]) await keyboard.press(key)
      await keyboard.type("Because.")
      await page.getByRole("button", { name: "clearly better" }).click()
      await submit.click()
      await page.getByText("Item one").waitFor()
      await page.getByText("Prefer the short one.").waitFor()
      assert.strictEqual(await guidelines.getAttribute("aria-expanded"), "true", "other guidelines are new")
    })
  },
)

/** One pixel, and so much that the text would be shortened in the middle of it. */
const png = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC`

inBrowser(
  "images of a text and of an allowed host are shown, and no other is asked for; wide tables scroll",
  // The port of https is left out in addresses.
  { flags: ["--image-host", "images.example.org:443"] },
  function* (service) {
    const { link, page } = yield* invited(service, desktop)
    yield* Effect.promise(async () => {
      const pixel = Buffer.from(png.slice(png.indexOf(",") + 1), "base64")
      await page.route("https://**/*", (route) => route.fulfill({ contentType: "image/png", body: pixel }))
      const long = "Donaudampfschifffahrtsgesellschaft"
      const cells = (text: string) => `|${` ${text} |`.repeat(9)}\n`
      const table = cells("Name") + cells("---") + cells(long)
      // PNG ignores what follows its end.
      const big = png.replace(/[^=]{4}=*$/, "") + "CYII" + "A".repeat(120_000)
      const tracked =
        "![handle](data:image/png;base64,#0) ![t](https://tracker.example/p.png) ![s](data:image/svg+xml;base64,PHN2Zy8+) ![h](http://images.example.org/p.png)"
      await service.create({
        prompts: [
          {
            prompt: `Which **one**? ![big](${big})\n\n${table}`,
            completions: [`![ok](https://images.example.org/p.png) and ${tracked}`, `![small](${png})`],
          },
        ],
      })
      await page.goto(link)
      await page.getByText("Which one?").waitFor()
      for (const name of ["big", "ok", "small"]) {
        const image = page.getByRole("img", { name, exact: true })
        await image.waitFor()
        await page.waitForFunction((each) => (each as HTMLImageElement).naturalWidth === 1, await image.elementHandle())
      }
      assert.strictEqual(await page.locator(".rich img").count(), 3)
      await page.getByText("Image: t (https://tracker.example/p.png)").waitFor()
      await page.getByText("Image: handle (data:image/png;base64,#0)").waitFor()
      const [wide, word] = await Promise.all([
        page.locator(".wide").evaluate((box) => box.scrollWidth > box.clientWidth),
        page
          .locator("td")
          .first()
          .evaluate((cell) => {
            const text = document.createRange()
            text.selectNodeContents(cell)
            return text.getClientRects().length
          }),
      ])
      assert.deepStrictEqual([wide, word], [true, 1], "the table scrolls, and the word stays whole")
      await picture(page, "expert-4-images")
      await page.keyboard.press("v")
      await page.getByText(`![small](`).waitFor()
      await press(page, "v", "f")
      await page.getByRole("dialog", { name: "Full screen" }).getByRole("img").first().waitFor()
      const asked = service.accounts.flatMap(({ requests }) => requests)
      assert.deepStrictEqual(
        asked.filter((url) => url.startsWith("http") && !url.startsWith(service.origin)),
        ["https://images.example.org/p.png"],
      )
    })
  },
)

/**
 * The dashboard with what teams really have: long names, jobs without a group, items asked for several times. No table breaks a
 * word, no page scrolls sideways, and each page can be reached, on screens from 375 px on. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { inBrowser, invite, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const words =
  "| Framework | Synchronization | Internationalization |\n|---|---|---|\n| Elasticsearch | asynchronous | incomplete |"
const people = ["Maria-Magdalena Konstantinopoulou", "Bartholomew Featherstonehaugh", "Ada Lovelace"]

/** The words in cells that stand on several lines; a hyphen may end a line. */
const brokenWords = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("th, td")].flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      const broken: Array<string> = []
      while (texts.nextNode()) {
        const text = texts.currentNode as Text
        for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => top))
          if (lines.size > 1) broken.push(word)
        }
      }
      return broken
    }),
  )

inBrowser(
  "tables break no words, and each page is in reach, on narrow and wide screens",
  {},
  function* ({ create, link, open, origin }) {
    // The service refuses a second expert of the same name.
    const page = yield* open({ refusals: [409] })
    const phone = { width: 375, height: 812 }
    yield* Effect.promise(async () => {
      await signIn(page, link)
      for (const name of people) {
        await invite(page, name)
        await page.getByRole("button", { name: "Done" }).click()
      }
      await page.getByRole("textbox", { name: "Name of the expert" }).fill("ada lovelace")
      await page.getByRole("button", { name: "Invite expert" }).click()
      await page.getByText("An expert named Ada Lovelace already exists. Make a new link for this expert").waitFor()

      const prompts = [0, 1].map((n) => ({ prompt: `Compare ${n}`, completions: [words, `No.\n\n${words}`] }))
      const ids = [await create({ prompts }), await create({ prompts }), await create({ prompts })]
      await create({ prompts, group: "nightly_regression_of_summaries" })

      await page.goto(`${origin}/dashboard/#/items`)
      // Those of three tasks are one entry; those of the group another.
      const entries = page.getByRole("row", { name: /Compare 1/ })
      await entries.nth(1).getByText("asked 3 times").waitFor()
      assert.strictEqual(await entries.count(), 2)
      await entries.nth(1).getByText("0 of 3").waitFor()
      await page.goto(`${origin}/dashboard/#/queue`)
      const alone = page.getByRole("table", { name: "Tasks without a group" })
      await alone.waitFor()
      assert.strictEqual(await alone.getByRole("row").count(), 1 + ids.length)

      const places = ["tasks", "items", "queue", "experts", "operators", "audit", "developer", `tasks/${ids[0]}`]
      for (const width of [375, 840, 1025, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        for (const place of places) {
          await page.goto(`${origin}/dashboard/#/${place}`)
          await page.getByRole("heading", { level: 1 }).waitFor()
          await page.locator("main table").first().waitFor()
          assert.deepStrictEqual(await brokenWords(page), [], `${place} at ${width}`)
          assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), width, place)
          if (width < 1100) await picture(page, `layout-${place.replace("/", "-").slice(0, 12)}-${width}`)
        }
      }

      await page.setViewportSize(phone)
      for (const link of await page.getByRole("navigation", { name: "Main" }).getByRole("link").all()) {
        const { height, width, x, y } = (await link.boundingBox())!
        const name = await link.textContent()
        assert.isTrue(x >= 0 && x + width <= phone.width && y + height <= phone.height, `${name} is out of sight`)
      }
      await page.getByRole("link", { name: "Developer", exact: true }).click()
      await page.getByRole("heading", { name: "Developer", level: 1 }).waitFor()
    })
  },
)

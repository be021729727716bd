/**
 * A manager's desk: items are found by filters, an expert's votes are declared void and given by somebody else, and what is
 * said goes with the page. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { joined, judgeAll } from "../service/web/support.ts"
import { colorItems, fillIn, inBrowser, lead } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const group = "week-48"

const rowOf = (page: Page, text: RegExp) => page.getByRole("table", { name: "Items" }).getByRole("row", { name: text })

inBrowser(
  "a lead filters items, voids an expert's votes, and makes new links",
  { flags: ["--undo-grace", "0s", "--votes", "2"] },
  function* (service) {
    const { create, origin } = service
    const { operator, page } = yield* lead(service)
    yield* Effect.promise(() => create({ group, prompts: colorItems }))
    yield* judgeAll(yield* joined(origin, operator, "Ann"), "The")
    yield* judgeAll(yield* joined(origin, operator, "Bob"), "Another")

    yield* Effect.promise(async () => {
      // A text that is typed before the experts have loaded stays.
      const experts = Promise.withResolvers<void>()
      await page.route("**/dashboard/api/experts", (route) => experts.promise.then(() => route.continue()))
      await page.getByRole("link", { name: "Items", exact: true }).click()
      await rowOf(page, /red/).waitFor()
      const text = page.getByLabel("Prompt contains", { exact: true })
      await text.fill("early")
      experts.resolve()
      await page.getByRole("option", { name: "Ann" }).waitFor({ state: "attached" })
      assert.strictEqual(await text.inputValue(), "early")
      await page.getByRole("link", { name: "Experts disagree" }).click()
      await page.getByText("These items have all their votes, but the experts disagree.").waitFor()
      await fillIn(page, "Prompt contains", "GREEN")
      await rowOf(page, /red/).waitFor({ state: "detached" })
      await rowOf(page, /green/).waitFor()
      assert.strictEqual(await page.getByRole("table", { name: "Items" }).getByRole("row").count(), 2)
      await picture(page, "desk-1-items")

      await page.getByRole("link", { name: "Experts", exact: true }).click()
      await page.getByRole("link", { name: "Bob" }).click()
      await page.getByRole("heading", { name: "Bob", level: 1 }).waitFor()
      await page.getByRole("table", { name: "Choices by position" }).waitFor()
      await picture(page, "desk-2-expert")
      await page.getByRole("button", { name: "Void votes" }).click()
      await page.getByLabel("Reason (optional)").fill("Clicked through.")
      await picture(page, "desk-3-void")
      await page.getByRole("button", { name: "Void 3 votes" }).click()
      await page.getByText("Clicked through.").waitFor()
      await picture(page, "desk-4-voided")
      assert.strictEqual(await page.getByText("There are no valid votes.").count(), 2)

      // What was said goes with the page, and when a dialog opens.
      const said = page.locator(".said")
      const untilNothingIsSaid = () => page.waitForFunction(() => document.querySelector(".said")?.textContent === "")
      assert.match(await said.innerText(), /^Void: /)
      await page.getByRole("link", { name: "Experts", exact: true }).first().click()
      await page.getByRole("heading", { name: "Experts", level: 1 }).waitFor()
      await untilNothingIsSaid()
      const isActive = page.getByRole("switch", { name: "Ann is active" })
      await isActive.click()
      await page.getByRole("button", { name: "Deactivate" }).click()
      await said.getByText("Ann is no longer active.").waitFor()
      await isActive.click()
      await said.getByText("Ann is active.").waitFor()
      await isActive.click()
      await page.getByRole("dialog", { name: "Deactivate this expert?" }).waitFor()
      await untilNothingIsSaid()
      await page.getByRole("button", { name: "Cancel" }).click()

      await fillIn(page, "Name of the expert", "Dora")
      const link = page.getByRole("textbox", { name: "Invitation link for Dora" })
      const ofDora = await link.inputValue()
      await page.getByRole("button", { name: "New link for Ann" }).click()
      await page.getByRole("button", { name: "Make link" }).click()
      const ofAnn = page.getByRole("textbox", { name: "Invitation link for Ann" })
      assert.notStrictEqual(await ofAnn.inputValue(), ofDora)
      assert.strictEqual(await page.getByRole("textbox", { name: "Invitation link" }).count(), 1)
      await picture(page, "desk-5-invitation")
      await page.getByRole("button", { name: "Done" }).click()
    })

    // The prompts that miss a vote are judged by somebody else.
    yield* judgeAll(yield* joined(origin, operator, "Cleo"), "The")
    yield* Effect.promise(async () => {
      await page.goto(`${origin}/dashboard/#/groups/${group}`)
      const votes = page.getByRole("table", { name: "Experts who voted in the group" })
      await votes.getByRole("row", { name: /Cleo/ }).waitFor()
      assert.strictEqual(await votes.getByRole("row", { name: /Bob/ }).count(), 0)
      await picture(page, "desk-6-group")
    })
  },
)

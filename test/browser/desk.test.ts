/**
 * A manager's desk: items are found by filters, one that experts disagree on is decided by keyboard, an expert's votes are
 * declared void; and the dataset of the job, which had other results, has what came of it. `SCREENSHOTS=DIR` keeps
 * pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import type { Browser } from "../service/web/http.ts"
import { joined } from "../service/web/support.ts"
import { colorItems, fillIn, inBrowser, jobOf, lead } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

/** An expert who votes, on each item that comes, for the completion that begins so. */
const judge = Effect.fnUntraced(function* (base: string, operator: Browser, name: string, beginsWith: string) {
  const expert = yield* joined(base, operator, name)
  let work = yield* expert.ask("POST", "/annotate/api/next")
  while (work.json.item !== null) {
    const { completions, item_id } = work.json.item as { completions: ReadonlyArray<string>; item_id: number }
    const best = completions.findIndex((text) => text.startsWith(beginsWith))
    const vote = { best, ranking: null, rationale: `${name} says so.`, seconds: 3 }
    work = yield* expert.ask("POST", `/annotate/api/items/${item_id}/vote`, vote)
  }
})

const rowOf = (page: Page, text: RegExp) => page.getByRole("table", { name: "Items" }).getByRole("row", { name: text })

inBrowser(
  "a lead filters items, decides one by keyboard, and voids an expert's votes; the dataset has what was decided",
  { flags: ["--undo-grace", "0s", "--votes", "2"] },
  (service) =>
    Effect.gen(function* () {
      const { create, origin, writeItems } = service
      const { operator, page } = yield* lead(service)

      const { pairs, prefstream } = jobOf(service)
      /** What is collected, and what the dataset has then. */
      const chosen = Effect.gen(function* () {
        yield* prefstream("collect", "--once", "--recheck-completed")
        yield* prefstream("export")
        return Object.fromEntries(pairs().map((row) => [row["item_id"], [row["chosen"], row["rationale"]]]))
      })
      yield* prefstream(
        "submit",
        writeItems(colorItems.map((item, i) => ({ id: ["red", "green", "blue"][i], ...item }))),
      )
      yield* judge(origin, operator, "Ann", "The")
      yield* judge(origin, operator, "Bob", "Another")
      // Ties make no pairs: only what follows makes some.
      yield* prefstream("collect", "--once")

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

        // By keyboard from here.
        await page.getByRole("button", { name: /^Open: .*green/ }).focus()
        await page.keyboard.press("Enter")
        await page.getByRole("button", { name: "Decide prompt 2" }).waitFor()
        await page.waitForFunction(() => document.activeElement?.textContent === "Prompt 2")
        await picture(page, "desk-2-open")
        await page.getByRole("button", { name: "Decide prompt 2" }).focus()
        await page.keyboard.press("Enter")
        await page.getByRole("form", { name: "Decide prompt 2" }).waitFor()
        await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement)
        await page.keyboard.press("Space")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Tab")
        await page.keyboard.type("Only it is green.")
        await picture(page, "desk-3-decide")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.getByText("Prompt 2 is decided for A.").waitFor()
        await page.getByText("No item matches.").waitFor()
      })
      assert.deepStrictEqual(yield* chosen, { green: ["The green one.", "Only it is green."] })

      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Clear" }).click()
        await rowOf(page, /green/).getByText("Lea", { exact: true }).waitFor()
        await page.getByRole("link", { name: "Experts", exact: true }).click()
        await page.getByRole("link", { name: "Bob" }).click()
        await page.getByRole("heading", { name: "Bob", level: 1 }).waitFor()
        await page.getByRole("table", { name: "Choices by position" }).waitFor()
        await picture(page, "desk-4-expert")
        await page.getByRole("button", { name: "Void votes" }).click()
        await page.getByLabel("Reason (optional)").fill("Clicked through.")
        await picture(page, "desk-5-void")
        await page.getByRole("button", { name: "Void 3 votes" }).click()
        await page.getByText("Clicked through.").waitFor()
        await picture(page, "desk-6-voided")
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
        await picture(page, "desk-6-invitation")
        await page.getByRole("button", { name: "Done" }).click()
      })
      const others = { red: ["The red one.", "Ann says so."], blue: ["The blue one.", "Ann says so."] }
      const green = ["The green one.", "Only it is green."]
      assert.deepStrictEqual(yield* chosen, { ...others, green })

      const group = "week-48"
      yield* Effect.promise(() => create({ group, prompts: colorItems }))
      // The prompts that miss a vote are judged by somebody else.
      yield* judge(origin, operator, "Cleo", "The")
      assert.deepStrictEqual(yield* chosen, { ...others, green })
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/dashboard/#/tasks`)
        await page
          .getByRole("link", { name: /^task_/ })
          .last()
          .click()
        await page.getByText("Void, so not counted:").first().waitFor()
        await picture(page, "desk-7-task")
        const prompt = page.getByRole("article", { name: "Prompt 2" })
        await prompt.getByText("decided for").waitFor()
        await prompt.getByRole("link", { name: "Prompt 2" }).click()
        await prompt.getByText("Only it is green.").waitFor()
        await picture(page, "desk-8-decision")
        await page.getByRole("link", { name: "Tasks", exact: true }).first().click()
        await page.getByRole("link", { name: group }).click()
        await page.getByRole("heading", { name: `Group ${group}`, level: 1 }).waitFor()
        await page
          .getByRole("table", { name: "Experts who voted in the group" })
          .getByRole("row", { name: /Cleo/ })
          .waitFor()
        await picture(page, "desk-9-group")
      })
    }),
)

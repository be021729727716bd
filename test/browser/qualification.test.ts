/**
 * Qualification as people meet it: a lead asks for it in the dashboard, an expert fails it by keyboard and is told why,
 * the lead sees that and lets the expert in. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { colorItems, inBrowser, invited, press } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const gold = colorItems.map((item) => ({ ...item, gold: { best_completion_index: 0 } }))

inBrowser("a lead asks for a qualification, an expert fails it and is let in", { gold }, function* (service) {
  const { link, operator: page, page: at } = yield* invited(service, {}, { refusals: [409] })
  yield* Effect.promise(async () => {
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByText("New people get work immediately, and nobody is paused.").waitFor()
    await page.getByRole("button", { name: "Change the qualification" }).focus()
    await page.keyboard.press("Enter")
    await page.getByText("The gold file has 3 different items.").waitFor()
    await page.getByLabel("Gold items that a new person judges first").fill("5")
    await page.getByLabel("Percentage of these items to judge correctly").fill("100")
    await page.getByLabel("Guidelines shown with these items").fill("Prefer the one that **is** the color.")
    await page.getByRole("checkbox", { name: /^Pause people who judge/ }).check()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Require at most").waitFor()
    await picture(page, "qualification-1-set")
    await page.getByLabel("Gold items that a new person judges first").fill("2")
    await page.keyboard.press("Enter")
    await page.getByText("New people judge 2 gold items before anything else").waitFor()

    await service.create({ prompts: [{ prompt: "Real work", completions: ["a", "b"] }] })

    await at.goto(link)
    await at.getByText("Qualification: item 1 of 2").waitFor()
    await at.getByText("These 2 items are your qualification").waitFor()
    await at.getByText("Prefer the one that is the color.").waitFor()
    assert.strictEqual(await at.getByRole("button", { name: "Skip…" }).count(), 0)
    await picture(at, "qualification-2-item")
    for (const number of [1, 2]) {
      await at.getByText(`Qualification: item ${number} of 2`).waitFor()
      const wrong = await at.getByRole("article").filter({ hasText: "Another one" }).getAttribute("aria-label")
      await at.keyboard.press("s")
      assert.strictEqual(await at.getByRole("dialog").count(), 0)
      await press(at, /\d+/.exec(wrong ?? "")![0], "Enter")
    }
    await at.getByRole("heading", { name: "No work for you at present" }).waitFor()
    await at.getByText("You judged 0 of the 2 qualification items right").waitFor()
    await picture(at, "qualification-3-failed")
    await at.reload()
    await at.getByText("You judged 0 of the 2 qualification items right").waitFor()

    await page.reload()
    const row = page.getByRole("row", { name: /Grace Hopper/ })
    await row.getByText("Not qualified").waitFor()
    await row.getByRole("link", { name: "Grace Hopper" }).click()
    await page.getByRole("region", { name: "Summary" }).getByText("0 of 2 gold items right").waitFor()
    await picture(page, "qualification-4-expert")
    await page.goBack()
    await page.getByRole("button", { name: "Qualification of Grace Hopper" }).click()
    await page.getByRole("radio", { name: /Let in/ }).focus()
    await picture(page, "qualification-5-let-in")
    await page.keyboard.press("Enter")
    await row.getByText("Joined").waitFor()

    await at.reload()
    await at.getByText("Real work").waitFor()
  })
})

/**
 * Guidelines that a lead changes: edited in the dashboard, told once to the expert with what changed, and the version on
 * each vote. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { inBrowser, invited, press } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const rubric = "---\nrubric:\n  all_bad: true\n---\n\n"

inBrowser("a lead edits the guidelines, and the expert hears of it before the next item", {}, function* (service) {
  const { link, operator: page, page: at } = yield* invited(service, {}, { refusals: [409] })
  yield* Effect.promise(async () => {
    const prompts = ["one", "two", "three"].map((name) => ({ prompt: `Item ${name}`, completions: ["a", "b"] }))
    const guidelines = `${rubric}Prefer the **shorter** answer.\n\nNever mind spelling.`
    const taskId = await service.create({ guidelines, prompts })

    await at.goto(link)
    await at.getByText("Prefer the shorter answer.").waitFor()
    await at.getByText("Item one").waitFor()

    await page.goto(`${service.origin}/dashboard/#/tasks/${taskId}`)
    await page.getByRole("list", { name: "Rubric" }).getByText("even the best completion").waitFor()
    assert.strictEqual(await page.getByText("all_bad").count(), 0)
    await page.getByRole("button", { name: "Edit the guidelines" }).click()
    const text = page.getByLabel("Text of the guidelines (Markdown)")
    assert.strictEqual(await text.inputValue(), "Prefer the **shorter** answer.\n\nNever mind spelling.")
    await text.fill("Prefer the **kinder** answer.\n\nNever mind spelling.")
    await page.getByText("The rubric does not change.").waitFor()
    await picture(page, "guidelines-1-edit")
    await page.getByRole("button", { name: "Save version 2" }).click()
    await page.getByRole("heading", { name: "Guidelines, version 2" }).waitFor()
    await page.getByRole("button", { name: "What changed" }).click()
    await page.getByText("Version 2 by Ada").waitFor()
    await page.locator("ins", { hasText: "kinder" }).waitFor()
    await page.locator("del", { hasText: "shorter" }).waitFor()
    await picture(page, "guidelines-2-versions")

    // Somebody else is faster: what was written is kept, beside what changed.
    await page.getByRole("button", { name: "Edit the guidelines" }).click()
    await text.fill("Prefer the **kinder** answer. Mind spelling.")
    const path = `${service.origin}/dashboard/api/tasks/${taskId}/guidelines`
    const change = { text: "Prefer the **truer** answer.", version: 2 }
    assert.isTrue((await page.request.put(path, { headers: { "x-prefstream": "1" }, data: change })).ok())
    const mine = page.getByRole("button", { name: "Save version 3" })
    if (await mine.isVisible()) await mine.click()
    await page.getByText("Ada saved version 3 in the meantime.").waitFor()
    await page.locator("del", { hasText: "truer" }).waitFor()
    await picture(page, "guidelines-3-conflict")
    assert.strictEqual(await text.inputValue(), "Prefer the **kinder** answer. Mind spelling.")
    await text.fill("Prefer the **kinder** answer.\n\nNever mind spelling.")
    await page.getByRole("button", { name: "Save version 4" }).click()
    await page.getByRole("heading", { name: "Guidelines, version 4" }).waitFor()

    // The item that was open is judged by what was shown; then comes the notice, once.
    await press(at, "1", "Enter")
    await at.getByRole("heading", { name: "Guidelines changed: version 4" }).waitFor()
    await at.locator("ins", { hasText: "kinder" }).waitFor()
    await picture(at, "guidelines-4-changed")
    await at.reload()
    await at.getByRole("heading", { name: "Guidelines changed: version 4" }).waitFor()
    await at.getByRole("button", { name: "Continue with the next item" }).focus()
    await at.keyboard.press("Enter")
    await at.getByText("Item two").waitFor()
    await at.getByRole("button", { name: "Guidelines, version 4" }).waitFor()
    await press(at, "1", "Enter")
    await at.getByText("Item three").waitFor()

    await page.reload()
    for (const [index, version] of [1, 4].entries()) {
      await page
        .getByRole("table", { name: `Votes on prompt ${index + 1}` })
        .getByText(`version ${version}`)
        .waitFor()
    }
    await picture(page, "guidelines-5-votes")
  })
})

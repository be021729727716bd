/**
 * Conversations with tools, as an expert sees them: calls and results as turns, and their JSON indented; and the pair in
 * the dataset. `SCREENSHOTS=DIR` keeps pictures of it.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { inBrowser, invited, jobOf, press } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const call = (name: string, id: string, args: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})

const first = { legs: [{ from: "ZRH", to: "NRT" }], passengers: 2, window: true, note: "vegetarian <b>meal</b>" }

const call3 = { id: "call_3", type: "function", function: { name: "book_flight", arguments: JSON.stringify(first) } }

/** A conversation that is longer than its place on the page. */
const long = {
  prompt: [
    { role: "system", content: "Answer in **one** sentence." },
    { role: "user", content: `Is the sky blue?${"\n\nAt night, too?".repeat(9)}` },
    { role: "assistant", content: "Yes, by day." },
    { role: "user", content: "Why is the sky blue?" },
  ],
  completions: ["Air scatters blue light more than red.", "It mirrors the sea."],
}

const item = {
  prompt: [
    { role: "user", content: "Is it warm in **Tokyo**? If so, book two seats." },
    {
      role: "assistant",
      tool_calls: [call("get_weather", "call_1", '{"city":"東京","digits":1.50}'), call("now", "call_2", {})],
    },
    { role: "tool", name: "get_weather", tool_call_id: "call_1", content: { temperature: 22.5, sky: ["clear"] } },
    { role: "tool", tool_call_id: "call_2", content: "Tuesday" },
  ],
  completions: [
    [{ role: "assistant", content: "Yes: I book it.", tool_calls: [call("book_flight", "call_3", first)] }],
    "It is 22.5 °C. I can't book flights.",
  ],
}

inBrowser(
  "an expert sees calls and results of tools as turns, and the question at the end of a long conversation",
  { flags: ["--undo-grace", "0s"] },
  function* (service) {
    const { link, page } = yield* invited(service)
    const { pairs, started } = jobOf(service)
    const items = service.writeItems([item, long])
    const pipeline = yield* started(["run", items, "--poll-min", "100ms", "--poll-max", "100ms"])
    yield* Effect.promise(async () => {
      // A browser may announce that a dialog has closed after the next key: here, too late for all of them.
      await page.addInitScript(() => addEventListener("close", (event) => event.stopImmediatePropagation(), true))
      await page.goto(link)
      await page.getByRole("heading", { name: "Item 1 of 2", level: 1 }).waitFor()
      const turns = page.getByRole("region", { name: "Prompt" }).getByRole("listitem")
      assert.strictEqual(await turns.count(), 4)
      assert.deepStrictEqual(await turns.nth(1).getByRole("heading").allTextContents(), [
        "Assistant calls get_weather call_1",
        "Assistant calls now call_2",
      ])
      assert.deepStrictEqual(await turns.nth(1).locator("pre").allTextContents(), [
        '{\n  "city": "東京",\n  "digits": 1.50\n}',
        "{}",
      ])
      assert.strictEqual(await turns.nth(2).getByRole("heading").textContent(), "Tool get_weather call_1")
      assert.include((await turns.nth(2).locator("pre").textContent())!, '"temperature": 22.5')
      const shown = await page.getByRole("article").allTextContents()
      const calling = page.getByRole("article", {
        name: `Completion ${shown.findIndex((text) => text.includes("book_flight")) + 1}`,
      })
      assert.include((await calling.locator("pre").textContent())!, "vegetarian <b>meal</b>")
      assert.strictEqual(await calling.locator("pre b").count(), 0)
      // The user's question is in sight, at the end of a conversation that is shortened.
      const [box, asked] = await Promise.all([
        page.getByRole("region", { name: "Prompt" }).locator(".text").boundingBox(),
        turns.first().boundingBox(),
      ])
      assert.isAtLeast(asked!.y, box!.y)
      await picture(page, "10-tools")
      await calling.getByRole("button", { name: /is best/ }).click()
      await page.keyboard.press("f")
      const reader = page.getByRole("dialog", { name: "Full screen" })
      await reader.getByRole("heading", { name: "Assistant calls book_flight call_3" }).waitFor()
      await picture(page, "11-tools-reader")
      await press(page, "Escape", "Enter")

      await page.getByRole("heading", { name: "Item 2 of 2", level: 1 }).waitFor()
      const question = turns.last().getByText("Why is the sky blue?")
      await question.waitFor()
      assert.strictEqual(await turns.count(), 4)
      await page.getByRole("button", { name: "More of the prompt" }).waitFor()
      const inSight = await question.evaluate((element) => {
        const { left, top } = element.getBoundingClientRect()
        return document.elementFromPoint(left + 5, top + 5)?.textContent
      })
      assert.strictEqual(inSight, "Why is the sky blue?", "what the completions answer is in sight")
      await picture(page, "12-conversation")
      await press(page, "1", "Enter")
    })
    yield* Effect.promise(() => pipeline.ended)
    const [pair] = pairs()
    assert.deepStrictEqual(pair?.["chosen"], [{ role: "assistant", content: "Yes: I book it.", tool_calls: [call3] }])
  },
)

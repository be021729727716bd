/**
 * Conversations with tools, as an expert sees them: calls and results as turns, and their JSON indented; and the pair in
 * the dataset. `SCREENSHOTS=DIR` keeps pictures of it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasBrowser, launched, open } from "../support/browser.ts"
import { folder, invite, running, serve, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const call = (name: string, id: string, args: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})

const first = { legs: [{ from: "ZRH", to: "NRT" }], passengers: 2, window: true, note: "vegetarian <b>meal</b>" }

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

it.live.skipIf(!hasBrowser)(
  "an expert sees calls and results of tools as turns",
  () =>
    Effect.gen(function* () {
      const scratch = yield* folder
      const { baseUrl, link, token } = yield* serve(join(scratch, "service.db"), "--undo-grace", "0s")
      const browser = yield* launched
      const operator = yield* open(browser)
      const expert = yield* open(browser)
      const invitation = yield* Effect.promise(async () => {
        await signIn(operator.page, link)
        return invite(operator.page, "Grace Hopper")
      })
      writeFileSync(join(scratch, "items.jsonl"), `${JSON.stringify(item)}\n`)
      const job = join(scratch, "job")
      const pipeline = yield* running(
        `run ${scratch}/items.jsonl --dir ${job} --poll-min 100ms --poll-max 100ms`.split(" "),
        { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token },
      )
      yield* Effect.promise(async () => {
        const { page } = expert
        // A browser may announce that a dialog has closed after the next key: here, too late for all of them.
        await page.addInitScript(() => addEventListener("close", (event) => event.stopImmediatePropagation(), true))
        await page.goto(invitation)
        await page.getByRole("heading", { name: "Item 1 of 1", level: 1 }).waitFor()
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
        await page.keyboard.press("Escape")
        await page.keyboard.press("Enter")
      })
      yield* Effect.promise(() => pipeline.ended)
      const [line] = readFileSync(join(job, "dataset/jsonl/train-00000-of-00001.jsonl"), "utf8").split("\n")
      const { chosen } = JSON.parse(line!)
      assert.strictEqual(chosen.length, 1)
      assert.deepInclude(chosen[0], { role: "assistant", content: "Yes: I book it." })
      assert.deepStrictEqual(chosen[0].tool_calls, [
        { id: "call_3", type: "function", function: { name: "book_flight", arguments: JSON.stringify(first) } },
      ])
      assert.deepStrictEqual([...operator.account.problems, ...expert.account.problems], [])
    }),
  240_000,
)

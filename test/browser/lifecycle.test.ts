/**
 * A manager's work while experts judge, by clicks: a group is paused and goes on, a prompt is withdrawn and restored, a task
 * reopened, and the votes are downloaded. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { browser } from "../service/web/http.ts"
import { colorItems, downloaded, inBrowser, lead, rowsIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

/** A name whose characters mean something else in an address. */
const group = "night/ä 48"

inBrowser(
  "a lead pauses a group, withdraws a prompt, reopens the task, and downloads its votes",
  { flags: ["--undo-grace", "0s"] },
  function* (service) {
    const { create, open, origin } = service
    const { operator, page } = yield* lead(service)
    yield* Effect.promise(() => create({ group, prompts: colorItems }))
    const invite = Effect.fnUntraced(function* (name: string) {
      const { json } = yield* operator.ask("POST", "/dashboard/api/experts", { name })
      return String(json.invitation)
    })
    const invited = { ann: yield* invite("Ann"), bob: yield* invite("Bob") }
    const bob = browser(origin)
    yield* bob.ask("POST", "/annotate/api/join", { code: invited.bob.split("=")[1] })
    /** Bob's vote on what comes next; false where nothing comes. */
    const vote = Effect.gen(function* () {
      const { json } = yield* bob.ask("POST", "/annotate/api/next")
      if (json.item === null) return false
      const body = { best: 0, ranking: null, rationale: "", seconds: 3 }
      yield* bob.ask("POST", `/annotate/api/items/${json.item.item_id}/vote`, body)
      return true
    })
    // Her vote on the item of a paused group is refused.
    const ann = yield* open({ refusals: [409] })

    // Ann has an item open when its group is paused.
    yield* Effect.promise(async () => {
      await ann.goto(`${origin}${invited.ann}`)
      await ann.getByText("The red one.").waitFor()
      await ann.keyboard.press("1")
      await page.getByRole("link", { name: "Queue", exact: true }).click()
      await page.getByRole("button", { name: `Pause ${group}` }).click()
      await page.getByText("Paused", { exact: true }).waitFor()
      await picture(page, "lifecycle-1-queue")
      await ann.keyboard.press("Enter")
      await ann.getByText("a manager paused or withdrew it").waitFor()
      await picture(ann, "lifecycle-2-annotate")
      // Else her page asks for the next item, and has one of those that Bob is to vote on, or that are reopened.
      await ann.close()
    })
    assert.isFalse(yield* vote)
    yield* Effect.promise(async () => {
      await page.getByRole("link", { name: "Tasks", exact: true }).click()
      await page.getByRole("link", { name: group }).click()
      await page.getByRole("heading", { name: `Group ${group}`, level: 1 }).waitFor()
      await picture(page, "lifecycle-3-group")
      await page.getByRole("button", { name: `Resume ${group}` }).click()
      await page.getByRole("button", { name: `Pause ${group}` }).waitFor()
    })
    assert.isTrue(yield* vote)
    assert.isTrue(yield* vote)

    // The last open prompt is withdrawn, by keyboard.
    const prompt = page.getByRole("article", { name: "Prompt 3" })
    const status = page.getByRole("region", { name: "Summary" })
    yield* Effect.promise(async () => {
      await page.getByRole("link", { name: "Tasks", exact: true }).first().click()
      await page.getByRole("link", { name: /^task_/ }).click()
      await page.getByRole("button", { name: "Withdraw prompt 3" }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").waitFor()
      await page.getByLabel("Reason (optional)").fill("Blue is not a question.")
      await picture(page, "lifecycle-4-withdraw")
      await page.getByRole("button", { name: "Withdraw prompt", exact: true }).focus()
      await page.keyboard.press("Enter")
      await prompt.getByText("Blue is not a question.").waitFor()
      await status.getByText("Completed").first().waitFor()
      for (const words of ["Best", "Result", "Agreement"])
        assert.strictEqual(await prompt.getByText(words, { exact: true }).count(), 0)
      await prompt.scrollIntoViewIfNeeded()
      await picture(page, "lifecycle-5-withdrawn")
      await page.getByRole("link", { name: "Items", exact: true }).click()
      await page.getByRole("link", { name: "Withdrawn" }).click()
      const items = page.getByRole("table", { name: "Items" })
      await items.getByRole("row", { name: /red/ }).waitFor({ state: "detached" })
      await items.getByRole("row", { name: /blue/ }).waitFor()
      assert.strictEqual(await items.getByRole("row").count(), 2)
      assert.include(await page.getByRole("link", { name: "CSV" }).getAttribute("href"), "state=withdrawn")
      await page.goBack()
      await page.goBack()
      await prompt.waitFor()
    })

    // One more vote on each of the others, of Ann, who has not judged them.
    yield* Effect.promise(async () => {
      await page.getByRole("button", { name: "Reopen" }).click()
      await page.getByLabel("Further votes per prompt").fill("1")
      await picture(page, "lifecycle-6-reopen")
      await page.getByRole("button", { name: "Ask for votes" }).click()
      await status.getByText("In progress").waitFor()
      await page.getByRole("button", { name: "Stop asking for votes" }).waitFor()
      await picture(page, "lifecycle-7-reopened")
    })
    assert.isFalse(yield* vote)
    yield* Effect.promise(async () => {
      await page.getByRole("button", { name: "Stop asking for votes" }).click()
      await status.getByText("Completed").first().waitFor()
      await prompt.getByRole("button", { name: "Restore prompt 3" }).click()
      await status.getByText("In progress").waitFor()
    })
    assert.isTrue(yield* vote)

    yield* Effect.promise(async () => {
      await page.getByRole("link", { name: "Items", exact: true }).click()
      await page.getByRole("table", { name: "Items" }).waitFor()
      assert.deepStrictEqual(
        rowsIn(await downloaded(page, "JSON Lines")).map(({ prompt }) => prompt),
        ["Which is **red**?", "Which is **green**?", "Which is **blue**?"],
      )
    })
  },
)

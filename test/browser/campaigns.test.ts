/**
 * Three people on one desk: a list of invitations, a job with `--votes 3`, and a second campaign. Each item gets three votes
 * by three people in both, in the service's table of votes and in the job's. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { downloaded, inBrowser, jobOf, rowsIn, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const names = ["Ada Lovelace", "Maximiliana Wolfeschlegelsteinhausenbergerdorff", "Zoë"]
/** Ten completions, so that the buttons to choose one do not fit on a phone. */
const colors = ["red", "green", "blue", "black", "white", "brown", "grey", "pink", "orange", "violet"]
const items = ["one", "two", "three", "four"].map((id) => ({
  id,
  prompt: `Which color for ${id}?`,
  completions: id === "four" ? colors : colors.slice(0, 3),
}))

/** Judges all items by keyboard: the last person prefers blue on every second one. */
const judge = async (page: Page, person: number, atFour: () => Promise<void>) => {
  for (const [i, { id, prompt }] of items.entries()) {
    await page.getByText(prompt).waitFor()
    await page.locator("main:not([inert])").waitFor()
    if (id === "four") await atFour()
    const color = person === 2 && i % 2 === 0 ? "blue" : "red"
    const texts = await page.locator(".completions article .text").allTextContents()
    const best = texts.findIndex((text) => text.trim() === color)
    assert.isAtLeast(best, 0, texts.join())
    for (let place = 0; place < best; place++) await page.keyboard.press("ArrowRight")
    for (const key of ["Space", "Enter"]) await page.keyboard.press(key)
  }
  await page.getByRole("heading", { name: "Nothing to judge right now" }).waitFor()
}

/** Asserts that in JSON Lines of votes, each item has three votes by three people. */
const assertThreeEach = (votes: string) => {
  const byItem = Map.groupBy(rowsIn(votes), ({ prompt }) => JSON.stringify(prompt))
  assert.strictEqual(byItem.size, items.length)
  for (const [item, ofItem] of byItem) {
    assert.lengthOf(ofItem, 3, item)
    assert.strictEqual(new Set(ofItem.map(({ expert }) => expert)).size, 3, item)
  }
}

inBrowser(
  "three people judge a job's items, and judge them again in its second campaign: three votes by three people in both",
  { flags: ["--undo-grace", "0s"] },
  function* (service) {
    const { link, open, origin, writeItems } = service
    const lead = yield* open({ viewport: { width: 1280, height: 800 } })
    const people = yield* Effect.all(names.map(() => open({ viewport: { width: 1280, height: 800 } })))
    yield* Effect.promise(async () => {
      await signIn(lead, link, "Lea")
      await lead.getByRole("link", { name: "Items", exact: true }).click()
      await lead.getByText("There are no items yet.").waitFor()
      await lead.getByRole("link", { name: "Experts", exact: true }).click()
      await lead.getByRole("button", { name: "Invite several" }).click()
      await lead.getByRole("textbox", { name: "Names, one per line" }).fill(names.join("\n"))
      await lead.getByRole("button", { name: "Invite all" }).click()
      const links = lead.getByRole("table", { name: "Invitations" }).locator("code")
      await links.nth(2).waitFor()
      for (const [i, link] of (await links.allTextContents()).entries()) await people[i]!.goto(link)
    })

    const job = jobOf(service)
    const file = writeItems(items)
    for (const campaign of [1, 2]) {
      const flags = ["--votes", "3", "--guidelines", `Campaign ${campaign}.`, "--poll-min", "1s", "--poll-max", "1s"]
      const run = yield* job.started(["run", file, ...flags, ...(campaign === 2 ? ["--new-campaign"] : [])])
      yield* Effect.promise(async () => {
        for (const [person, page] of people.entries()) {
          await judge(page, person, async () => {
            if (person > 0 || campaign > 1) return
            await picture(page, "campaigns-1-ten")
            await page.setViewportSize({ width: 390, height: 844 })
            assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 390)
            await page.setViewportSize({ width: 1280, height: 800 })
          })
        }
      })
      const ended = yield* Effect.promise(() => run.ended)
      assert.strictEqual(ended.status, 0, ended.stderr)
      const exported = yield* job.prefstream("export-votes", "--campaign", String(campaign))
      assertThreeEach(exported.stdout)

      yield* Effect.promise(async () => {
        await lead.goto(`${origin}/dashboard/#/tasks`)
        await lead.getByRole("link", { name: `job, campaign ${campaign}` }).click()
        await lead.getByRole("heading", { name: new RegExp(`^Group .*job, campaign ${campaign}$`) }).waitFor()
        await lead.getByRole("link", { name: "Decide 2 disagreements" }).waitFor()
        assertThreeEach(await downloaded(lead, "JSON Lines"))
      })
    }
    yield* Effect.promise(async () => {
      await lead.goto(`${origin}/dashboard/#/overview`)
      await lead.goto(`${origin}/dashboard/`)
      const summary = lead.getByRole("region", { name: "Summary" })
      await summary.getByText("24 of 24").waitFor()
      await summary.getByRole("link", { name: "4", exact: true }).click()
      await lead.getByRole("heading", { name: "4 open disagreements" }).waitFor()
    })
  },
)

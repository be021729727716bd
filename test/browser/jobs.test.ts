/** Jobs of the command line in the dashboard: their groups in words, and votes that wait for another expert. */
import { basename, dirname } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { colorItems, inBrowser, invite, jobOf, press, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

inBrowser(
  "a job's tasks are named by job and campaign; what nobody else may judge waits for another expert",
  {},
  (service) =>
    Effect.gen(function* () {
      const { link, open, writeItems } = service
      const job = jobOf(service)
      const name = `${basename(dirname(job.directory))}/job`
      yield* job.prefstream("submit", writeItems(colorItems.slice(0, 1)), "--votes", "1")
      // Another client asks for the same item in a task of the same group.
      const [{ prompt, completions }] = colorItems as [(typeof colorItems)[number]]
      yield* Effect.promise(() =>
        service.create({ group: `${name}, campaign 1`, prompts: [{ prompt, completions: completions.toReversed() }] }),
      )
      yield* job.prefstream("submit", writeItems(colorItems), "--guidelines", "Be strict.", "--new-campaign")
      const page = yield* open()
      const expert = yield* open()
      yield* Effect.promise(async () => {
        await signIn(page, link)
        await page.getByRole("link", { name: "Tasks", exact: true }).click()
        const groups = page.getByRole("table", { name: "Tasks" }).getByRole("link", { name: `${name}, campaign` })
        await groups.first().waitFor()
        assert.deepStrictEqual(await groups.allTextContents(), [
          `${name}, campaign 2`,
          `${name}, campaign 1`,
          `${name}, campaign 1`,
        ])
        await page
          .getByRole("link", { name: /^task_/ })
          .last()
          .click()
        await page.getByRole("heading", { name: `Task in ${name}, campaign 1` }).waitFor()
        const invitation = await invite(page, "Ann")
        await expert.goto(invitation)
        for (let item = 0; item < 4; item++) {
          await expert.getByRole("button", { name: /^Submit/ }).waitFor()
          await press(expert, "1", "Enter")
        }
        await expert
          .getByText(/Nothing|No items/)
          .first()
          .waitFor()
        await page.getByRole("link", { name: "Queue", exact: true }).click()
        await page.getByText("1 item waits for another expert").waitFor()
        await picture(page, "jobs-3-queue")
      })
    }),
)

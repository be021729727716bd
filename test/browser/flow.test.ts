/**
 * The whole flow with a person in it, as a newcomer does it: the service started, first sign-in,
 * a token made, the webhook set, an expert invited, ten items judged by keyboard alone, while a
 * pipeline waits in a process of its own for the webhook. `SCREENSHOTS=DIR` keeps pictures of it.
 */
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fillIn, inBrowser, invite, jobOf, press } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** A text with headings in no order, and a formula, code and a table that are wider than a page. */
const wide = `### Deep\n\n# Top\n\n\`\`\`\n${"word ".repeat(80)}\n\`\`\`\n\n|${" a |".repeat(60)}\n|${"---|".repeat(60)}\n\nSo $a^2$:\n\n$$${"x + ".repeat(80)}y$$`

/** The ten items: the completion to prefer says so. */
const items = Array.from({ length: 10 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `Question **${i}**: which one is right?${i === 0 ? `\n\n${wide}` : ""}`,
  completions:
    i % 2 === 0 ? [`The right one, ${i}.`, `A wrong one, ${i}.`] : [`A wrong one, ${i}.`, `The right one, ${i}.`],
}))

inBrowser(
  "a person judges ten items by keyboard, the webhook arrives at a waiting pipeline, and pairs carry the rationale",
  { flags: ["--undo-grace", "1s"] },
  function* (service) {
    const { accounts, baseUrl, link, open, origin, writeItems } = service
    const page = yield* open()
    const expert = yield* open()
    const port = yield* Effect.promise(freePort)

    // First sign-in, a token, the webhook, an expert.
    const { secret, token, invitation } = yield* Effect.promise(async () => {
      await page.goto(link)
      await page.getByRole("textbox", { name: "Name" }).fill("Ada")
      await picture(page, "1-set-up")
      await fillIn(page, "Password", "correct horse battery")
      await page.getByRole("heading", { name: "No tasks yet" }).waitFor()
      await picture(page, "2-no-tasks")

      await page.getByRole("link", { name: "Developer", exact: true }).first().click()
      await fillIn(page, "Name of the token", "Nightly pipeline")
      const token = await page.getByRole("textbox", { name: "New token" }).inputValue()
      await picture(page, "3-token")
      await page.getByRole("button", { name: "Done" }).click()
      await fillIn(page, "Webhook URL", `http://127.0.0.1:${port}/webhook`)
      const secret = await page.getByRole("textbox", { name: "Webhook secret" }).inputValue()
      await picture(page, "4-webhook")

      const invitation = await invite(page, "Grace Hopper")
      return { token, secret, invitation }
    })
    assert.match(token, /^pst_/)
    assert.match(secret, /^whsec_/)
    assert.match(invitation, /#join=/)

    // The pipeline: submits, and waits for the webhook. It looks by itself after an hour at the earliest.
    const env = { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token, PREFSTREAM_WEBHOOK_SECRET: secret }
    const { pairs, prefstream, started } = jobOf({ ...service, env })
    const guidelines = `# Guidelines\n\nPrefer the **right** one.\n\n${"More. \n\n".repeat(40)}`
    const waiting = ["--listen", String(port), "--poll-min", "1h", "--poll-max", "2h"]
    const pipeline = yield* started(["run", writeItems(items), "--guidelines", guidelines, ...waiting])
    yield* Effect.promise(async () => {
      await page.goto(`${origin}/dashboard/#/tasks`)
      await page.getByRole("link", { name: /^task_/ }).waitFor()
    })

    // Ten items, by keyboard alone.
    yield* Effect.promise(async () => {
      await expert.goto(invitation)
      for (let i = 0; i < items.length; i++) {
        await expert.getByRole("heading", { name: `Item ${i + 1} of 10`, level: 1 }).waitFor()
        const first = expert.getByRole("article", { name: "Completion 1" })
        await first.getByText(/one, \d\./).waitFor()
        const right = /The right one/.test((await first.textContent())!) ? "1" : "2"
        if (i === 3) {
          // Ranked fully: the marked completion gets the rank that is pressed.
          await expert.keyboard.press("r")
          await expert.getByText("rank the marked completion").waitFor()
          const size = expert.viewportSize()!
          for (const width of [1280, 1024]) {
            await expert.setViewportSize({ width, height: 800 })
            const isCut = await expert
              .locator(".statement")
              .evaluate(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
            assert.isFalse(isCut, `the hint is cut off at ${width} pixels`)
          }
          await expert.setViewportSize(size)
          await press(expert, right, "ArrowRight", right === "1" ? "2" : "1")
        } else {
          if (i === 4) await expert.keyboard.press("r")
          await expert.keyboard.press(right)
        }
        if (i === 3) await picture(expert, "6-rank")
        if (i === 5) {
          // Space on "Another reason" leads to where it is written.
          await expert.keyboard.press("x")
          await expert.getByRole("dialog").waitFor()
          await expert.getByRole("radio", { name: "Another reason" }).focus()
          await expert.keyboard.press("Space")
          await expert.keyboard.type("Mine.")
          assert.strictEqual(await expert.getByLabel("In your own words").inputValue(), "Mine.")
          await expert.keyboard.press("Escape")
          // The dialog gives the focus back when it goes.
          await expert.getByRole("dialog").waitFor({ state: "detached" })
        }
        if (i === 6) {
          // Who writes before the closed dialog is taken away goes on writing.
          await expert.keyboard.press("x")
          await expert.getByRole("dialog").waitFor()
          await expert.evaluate(() => {
            document.querySelector("dialog")?.close()
            document.querySelector("textarea")?.focus()
          })
          await expert.locator("dialog").waitFor({ state: "detached" })
          assert.strictEqual(await expert.evaluate(() => document.activeElement?.id), "rationale")
          await expert.keyboard.press("Escape")
        }
        await expert.keyboard.press("e")
        await expert.keyboard.type(`Because it is right (${i}).`)
        if (i === 0) {
          await expert.getByRole("region", { name: "Prompt" }).locator("strong").getByText("0").waitFor()
          await picture(expert, "6-annotate")
        }
        await expert.keyboard.press("Control+Enter")
      }
      await expert.getByRole("heading", { name: /nothing/i }).waitFor()
      await picture(expert, "7-nothing-left")
    })

    const ended = yield* Effect.promise(() => pipeline.ended)
    assert.strictEqual(ended.status, 0, ended.stderr)

    yield* Effect.promise(async () => {
      await page.getByText("Completed", { exact: true }).first().waitFor()
      await page.getByRole("link", { name: /^task_/ }).click()
      await page
        .getByRole("heading", { name: /^Task in / })
        .first()
        .waitFor()
      await page.getByText("Because it is right (0).").first().waitFor()
      await picture(page, "9-task")
      await page.goto(`${origin}/dashboard/#/developer`)
      await page.getByText("Delivered").first().waitFor()
      await picture(page, "10-deliveries")
      await page.goto(`${origin}/dashboard/#/experts`)
      await page.getByRole("row", { name: /Grace Hopper/ }).waitFor()
      await page.getByRole("link", { name: "AI judges" }).click()
      await page.getByText("No expert matches.").waitFor()
      await page.getByRole("link", { name: "People", exact: true }).click()
      await page.getByRole("row", { name: /Grace Hopper/ }).waitFor()
      await picture(page, "11-experts")
    })

    assert.deepStrictEqual(
      pairs().map(({ item_id, chosen, rejected, rationale }) => ({ item_id, chosen, rejected, rationale })),
      items.map(({ id }, i) => ({
        item_id: id,
        chosen: `The right one, ${i}.`,
        rejected: `A wrong one, ${i}.`,
        rationale: `Because it is right (${i}).`,
      })),
    )
    assert.strictEqual((yield* prefstream("status")).status, 0)
    for (const url of accounts.flatMap(({ requests }) => requests))
      assert.isTrue(url.startsWith(origin) || url.startsWith("data:"), url)
  },
)

/**
 * The whole flow with a person in it, as a newcomer does it: the service started, first sign-in,
 * a token made, the webhook set, an expert invited, ten items judged by keyboard alone, while a
 * pipeline waits in a process of its own for the webhook. `SCREENSHOTS=DIR` keeps pictures of it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasBrowser, launched, open } from "../support/browser.ts"
import { fillIn, folder, invite, running, serve } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"
import { run } from "../support/program.ts"

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

it.live.skipIf(!hasBrowser)(
  "a person judges ten items by keyboard, the webhook arrives at a waiting pipeline, and pairs carry the rationale",
  () =>
    Effect.gen(function* () {
      const scratch = yield* folder
      const { baseUrl, link, origin } = yield* serve(join(scratch, "service.db"), "--undo-grace", "1s")

      const browser = yield* launched
      const operator = yield* open(browser)
      const expert = yield* open(browser)
      const port = yield* Effect.promise(freePort)

      // First sign-in, a token, the webhook, an expert.
      const { secret, token, invitation } = yield* Effect.promise(async () => {
        const { page } = operator
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
        await picture(page, "5-invitation")
        return { token, secret, invitation }
      })
      assert.match(token, /^pst_/)
      assert.match(secret, /^whsec_/)
      assert.match(invitation, /#join=/)

      // The pipeline: submits, and waits for the webhook. It looks by itself after an hour at the earliest.
      writeFileSync(join(scratch, "items.jsonl"), items.map((item) => `${JSON.stringify(item)}\n`).join(""))
      const job = join(scratch, "job")
      const env = { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token, PREFSTREAM_WEBHOOK_SECRET: secret }
      const flags = ["--dir", job, "--poll-min", "1h", "--poll-max", "2h"]
      const pipeline = yield* running(
        [
          "run",
          join(scratch, "items.jsonl"),
          "--guidelines",
          `# Guidelines\n\nPrefer the **right** one.\n\n${"More. \n\n".repeat(40)}`,
          "--listen",
          String(port),
          ...flags,
        ],
        env,
      )
      yield* Effect.promise(async () => {
        await operator.page.goto(`${origin}/dashboard/#/tasks`)
        await operator.page.getByRole("link", { name: /^task_/ }).waitFor()
      })

      // Ten items, by keyboard alone.
      yield* Effect.promise(async () => {
        const { page } = expert
        await page.goto(invitation)
        for (let i = 0; i < items.length; i++) {
          await page.getByRole("heading", { name: `Item ${i + 1} of 10`, level: 1 }).waitFor()
          const first = page.getByRole("article", { name: "Completion 1" })
          await first.getByText(/one, \d\./).waitFor()
          const right = /The right one/.test((await first.textContent())!) ? "1" : "2"
          if (i === 3) {
            // Ranked fully: the marked completion gets the rank that is pressed.
            await page.keyboard.press("r")
            await page.getByText("rank the marked completion").waitFor()
            const size = page.viewportSize()!
            for (const width of [1280, 1024]) {
              await page.setViewportSize({ width, height: 800 })
              const isCut = await page
                .locator(".statement")
                .evaluate(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
              assert.isFalse(isCut, `the hint is cut off at ${width} pixels`)
            }
            await page.setViewportSize(size)
            await page.keyboard.press(right)
            await page.keyboard.press("ArrowRight")
            await page.keyboard.press(right === "1" ? "2" : "1")
          } else {
            if (i === 4) await page.keyboard.press("r")
            await page.keyboard.press(right)
          }
          if (i === 3) await picture(page, "6-rank")
          if (i === 5) {
            // Space on "Another reason" leads to where it is written.
            await page.keyboard.press("x")
            await page.getByRole("dialog").waitFor()
            await page.getByRole("radio", { name: "Another reason" }).focus()
            await page.keyboard.press("Space")
            await page.keyboard.type("Mine.")
            assert.strictEqual(await page.getByLabel("In your words").inputValue(), "Mine.")
            await picture(page, "6-flag")
            await page.keyboard.press("Escape")
            // The dialog gives the focus back when it goes.
            await page.getByRole("dialog").waitFor({ state: "detached" })
          }
          if (i === 6) {
            // Who writes before the closed dialog is taken away goes on writing.
            await page.keyboard.press("x")
            await page.getByRole("dialog").waitFor()
            await page.evaluate(() => {
              document.querySelector("dialog")?.close()
              document.querySelector("textarea")?.focus()
            })
            await page.locator("dialog").waitFor({ state: "detached" })
            assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "rationale")
            await page.keyboard.press("Escape")
          }
          await page.keyboard.press("e")
          await page.keyboard.type(`Because it is right (${i}).`)
          if (i === 0) {
            await page.getByRole("region", { name: "Prompt" }).locator("strong").getByText("0").waitFor()
            await picture(page, "6-annotate")
          }
          await page.keyboard.press("Control+Enter")
          if (i === 4) {
            // Taken back, and given again as it was.
            await page.getByRole("heading", { name: "Item 6 of 10", level: 1 }).waitFor()
            await page.keyboard.press("u")
            await page.getByRole("heading", { name: "Item 5 of 10", level: 1 }).waitFor()
            await page.keyboard.press("Enter")
          }
        }
        await page.getByRole("heading", { name: /nothing/i }).waitFor()
        await picture(page, "7-nothing-left")
      })

      const ended = yield* Effect.promise(() => pipeline.ended)
      assert.strictEqual(ended.status, 0, ended.stderr)

      yield* Effect.promise(async () => {
        const { page } = operator
        await page.getByText("Completed", { exact: true }).first().waitFor()
        await picture(page, "8-tasks")
        await page.getByRole("link", { name: /^task_/ }).click()
        await page.getByRole("heading", { name: /task_/ }).first().waitFor()
        await page.getByText("Because it is right (0).").first().waitFor()
        await picture(page, "9-task")
        await page.goto(`${origin}/dashboard/#/developer`)
        await page.getByText("Delivered").first().waitFor()
        await picture(page, "10-deliveries")
        await page.goto(`${origin}/dashboard/#/experts`)
        await page.getByRole("row", { name: /Grace Hopper/ }).waitFor()
        await picture(page, "11-experts")
      })

      const exported = readFileSync(join(job, "dataset/jsonl/train-00000-of-00001.jsonl"), "utf8")
      const pairs = exported
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepStrictEqual(
        pairs.map(({ item_id, chosen, rejected, rationale }) => ({ item_id, chosen, rejected, rationale })),
        items.map(({ id }, i) => ({
          item_id: id,
          chosen: `The right one, ${i}.`,
          rejected: `A wrong one, ${i}.`,
          rationale: `Because it is right (${i}).`,
        })),
      )
      const status = yield* Effect.promise(() => run(["status", "--dir", job], env))
      assert.strictEqual(status.status, 0, status.stderr)
      assert.deepStrictEqual(operator.account.problems, [])
      assert.deepStrictEqual(expert.account.problems, [])
      for (const url of [...operator.account.requests, ...expert.account.requests])
        assert.isTrue(url.startsWith(origin) || url.startsWith("data:"), url)
    }).pipe(Effect.scoped),
)

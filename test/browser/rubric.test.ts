/**
 * What a person says besides the choice, by keyboard alone, and where it is in the dataset and in the files for
 * trainers. `SCREENSHOTS=DIR` keeps pictures of it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasBrowser, launched, open } from "../support/browser.ts"
import { folder, invite, running, serve, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"
import { run } from "../support/program.ts"

const rubric = `strength: true
all_bad: true
edit: true
flags: [unsafe, unclear prompt, broken text]
aspects:
  - helpfulness
  - { name: truthfulness, steps: 3, low: wrong, high: right }
`

const items = [0, 1, 2].map((i) => ({
  id: `item-${i}`,
  // The last one is a conversation.
  prompt:
    i < 2
      ? `Question ${i}: why is the sky blue?`
      : [
          { role: "system", content: "Answer in **one** sentence." },
          { role: "user", content: `Is the sky blue?${"\n\nAt night, too?".repeat(9)}` },
          { role: "assistant", content: "Yes, by day." },
          { role: "user", content: `Question ${i}: why is the sky blue?` },
        ],
  completions: [
    `The **right** one, ${i}: air scatters blue light more than red.`,
    `A wrong one, ${i}: it mirrors the sea.`,
  ],
}))

it.live.skipIf(!hasBrowser)(
  "a person says more than the choice by keyboard, and trainers' files have what they have a place for",
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

      writeFileSync(join(scratch, "items.jsonl"), items.map((item) => `${JSON.stringify(item)}\n`).join(""))
      writeFileSync(join(scratch, "rubric.yaml"), rubric)
      const job = join(scratch, "job")
      const env = { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token }
      const flags = ["trl", "openrlhf", "trl-unpaired", "trl-tpo", "nemo-rl"].flatMap((name) => ["--format", name])
      const pipeline = yield* running(
        `run ${scratch}/items.jsonl --dir ${job} --rubric ${scratch}/rubric.yaml --margin --margin-from strength --poll-min 100ms --poll-max 100ms`
          .split(" ")
          .concat("--guidelines", "Prefer the **right** one.", flags),
        env,
      )

      yield* Effect.promise(async () => {
        const { page } = expert
        await page.goto(invitation)
        const { keyboard } = page
        for (let i = 0; i < items.length; i++) {
          await page.getByRole("heading", { name: `Item ${i + 1} of 3`, level: 1 }).waitFor()
          const first = page.getByRole("article", { name: "Completion 1" })
          await first.getByText(/one, \d:/).waitFor()
          const right = /The right one/.test((await first.textContent())!) ? 1 : 2
          if (i === 0)
            assert.isFalse(/rubric:/.test((await page.textContent("body"))!), "the front matter is not shown")
          await keyboard.press(String(right))
          if (i === 0) {
            for (const key of ["+", "+", "+", "-"]) await keyboard.press(key)
            // The marked completion first, then what follows it.
            await keyboard.press("1")
            await keyboard.press("1")
            if (right === 2) await keyboard.press("2")
            await keyboard.press("ArrowLeft")
            await keyboard.press("a")
            for (const key of right === 1 ? "4312" : "1243") await keyboard.press(key)
            await keyboard.press("Escape")
            await keyboard.press("k")
            await keyboard.press("3")
            await keyboard.press("Escape")
            await keyboard.press("i")
            await keyboard.press("Control+End")
            await keyboard.type(" So says Rayleigh.")
            await keyboard.press("Escape")
            await picture(page, "7-rubric")
            await keyboard.press("Control+Enter")
            // Taken back, and given again as it was.
            await page.getByRole("heading", { name: "Item 2 of 3", level: 1 }).waitFor()
            await keyboard.press("u")
            await page.getByRole("heading", { name: "Item 1 of 3", level: 1 }).waitFor()
          }
          if (i === 1) {
            await keyboard.press("n")
            await picture(page, "8-all-bad")
          }
          if (i === 2) {
            const turns = page.getByRole("region", { name: "Prompt" }).getByRole("listitem")
            assert.strictEqual(await turns.count(), 4)
            const question = turns.last().getByText("Question 2")
            await question.waitFor()
            await page.getByRole("button", { name: "More of the prompt" }).waitFor()
            assert.strictEqual(
              await question.evaluate((element) => {
                const { left, top } = element.getBoundingClientRect()
                return document.elementFromPoint(left + 5, top + 5)?.textContent
              }),
              "Question 2: why is the sky blue?",
              "what the completions answer is in sight",
            )
            await picture(page, "9-conversation")
          }
          await keyboard.press("Enter")
        }
      })
      yield* Effect.promise(() => pipeline.ended)

      const rows = readFileSync(join(job, "dataset/jsonl/train-00000-of-00001.jsonl"), "utf8").trim().split("\n")
      const pairs = rows.map((line) => JSON.parse(line))
      const [rated, bad, plain] = ["item-0", "item-1", "item-2"].map((id) =>
        pairs.find(({ item_id }) => item_id === id),
      )
      const edited = `${items[0]!.completions[0]} So says Rayleigh.`
      assert.deepInclude(rated, { strength: 2, all_bad: false, edited })
      assert.deepStrictEqual(JSON.parse(rated.aspects), {
        helpfulness: { chosen: 4, rejected: 1 },
        truthfulness: { chosen: 3, rejected: 2 },
      })
      assert.deepStrictEqual(
        JSON.parse(rated.flags).map(({ kind }: { readonly kind: string }) => kind),
        ["broken text"],
      )
      assert.deepInclude(bad, { strength: null, all_bad: true, edited: null, aspects: null, flags: null })
      assert.deepInclude(plain, { strength: null, all_bad: false, edited: null, aspects: null, flags: null })

      const rowsOf = (format: string): ReadonlyArray<Record<string, unknown>> =>
        readFileSync(join(job, `dataset/formats/${format}/train.jsonl`), "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
      const isOf = (i: number) => (row: Record<string, unknown>) =>
        JSON.stringify(row["prompt"]).includes(`Question ${i}`)
      for (const format of ["trl", "openrlhf"]) {
        assert.deepStrictEqual(
          [0, 1, 2].map((i) => rowsOf(format).find(isOf(i))!["margin"]),
          [2, 0, 0],
          format,
        )
      }
      assert.deepStrictEqual(
        [0, 1, 2].map((i) =>
          rowsOf("trl-unpaired")
            .filter(isOf(i))
            .map(({ label }) => label)
            .toSorted((a, b) => Number(a) - Number(b)),
        ),
        [
          [false, true],
          [false, false],
          [false, true],
        ],
      )
      assert.deepStrictEqual(
        rowsOf("trl-tpo").map(({ reference }) => reference),
        [edited],
      )

      // By choice, the edit is what is preferred.
      const again = yield* Effect.promise(() => run(["export", "--dir", job, "--edited", "chosen", ...flags]))
      assert.strictEqual(again.status, 0, again.stderr)
      assert.match(again.stderr, /nemo-rl has no place for strength \(1 pair\), all_bad \(1 pair\), aspects \(1 pair\)/)
      assert.strictEqual(rowsOf("trl").find(isOf(0))!["chosen"], edited)
      assert.deepStrictEqual([...operator.account.problems, ...expert.account.problems], [])
    }),
  240_000,
)

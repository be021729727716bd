/**
 * A lead works through the queue of disagreements by keyboard alone, and invites a list of people. `SCREENSHOTS=DIR` keeps
 * pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Browser, browser } from "../service/web/http.ts"
import { joined, judgeAll } from "../service/web/support.ts"
import { downloaded, fillIn, inBrowser, lead, press as pressOn, signIn } from "../support/browserService.ts"
import { picture, screenshot } from "../support/pictures.ts"

const guidelines = "---\nrubric: { strength: true }\n---\nChoose what helps most."
const colors = ["red", "green", "blue", "black"]
const prompts = colors.map((color) => ({
  prompt: `Which is **${color}**?`,
  completions: [`The ${color} one.`, `Another one than ${color}.`, "Neither."],
}))

/** A new expert who votes, on each item that comes, for the completion that begins so. */
const judge = Effect.fnUntraced(function* (base: string, operator: Browser, name: string, beginsWith: string) {
  const assessment = { strength: 2, all_bad: false, edited: null, flags: [], aspects: {} }
  yield* judgeAll(yield* joined(base, operator, name), beginsWith, { rationale: `${name} says so.`, assessment })
})

inBrowser(
  "a lead decides disagreements one after the other, by keyboard alone",
  { flags: ["--undo-grace", "0s", "--votes", "2"] },
  function* (service) {
    const { create, origin } = service
    // The service refuses to replace what another lead decided.
    const { operator, page } = yield* lead(service, { refusals: [409] })
    const task = yield* Effect.promise(() => create({ prompts, guidelines, group: "week-48" }))
    yield* judge(origin, operator, "Ann", "The")
    yield* judge(origin, operator, "Bob", "Another")

    const press = (...keys: ReadonlyArray<string>) => Effect.promise(() => pressOn(page, ...keys))
    const shows = (color: string) =>
      Effect.promise(async () => {
        await page.locator(".text strong", { hasText: color }).waitFor()
        await page.waitForFunction(() => document.activeElement?.id === "disagreement")
      })
    const says = (words: string) => Effect.promise(() => page.locator(".said").getByText(words).waitFor())

    // Two people can't give three votes.
    yield* Effect.promise(() => create({ prompts: [{ prompt: "Why?", completions: ["a", "b"] }], votes: 3 }))
    yield* Effect.promise(async () => {
      await page.goto(`${origin}/dashboard/`)
      await page.getByRole("table", { name: "Stuck" }).getByText("Nobody is left who may vote on this item").waitFor()
      await page.getByRole("table", { name: "Open groups" }).waitFor({ state: "detached" })
      await page.getByText("As a table").first().click()
      await page.getByRole("cell", { name: "8 by people, 0 automatic" }).waitFor()
      await picture(page, "overview-1")
      await page.getByText("As a table").first().click()
      await page.getByRole("heading", { name: "Experts, last 28 days" }).scrollIntoViewIfNeeded()
      await screenshot(page, "overview-2")
      await page.getByRole("link", { name: "4", exact: true }).first().waitFor()
      await page.goto(`${origin}/dashboard/#/items?group=week-48`)
      await page.getByRole("link", { name: "Decide 4 disagreements" }).focus()
    })
    yield* press("Enter")
    yield* shows("black")
    yield* Effect.promise(async () => {
      await page.getByRole("heading", { name: "4 open disagreements" }).waitFor()
      const votes = page.getByRole("table", { name: "Votes on prompt 4" })
      const bob = votes.getByRole("row", { name: /Bob/ })
      await bob.getByText("Bob says so.").waitFor()
      assert.strictEqual(await bob.locator("[data-label=Strength]").textContent(), "2")
      await picture(page, "adjudicate-1-item")
    })
    // Without a choice, Enter decides nothing; a number without a completion chooses none.
    yield* press("9", "Enter")
    yield* says("Choose a completion first.")
    yield* press("2", "e")
    yield* Effect.promise(() => page.keyboard.type("1 of them is black: s"))
    yield* Effect.promise(() => picture(page, "adjudicate-2-chosen"))
    yield* press("Control+Enter")
    yield* says("Decided for B.")
    yield* shows("blue")
    yield* press("s")
    yield* shows("green")

    yield* press("?")
    yield* Effect.promise(async () => {
      await page.getByRole("dialog", { name: "Keys" }).getByText("Decide and next").waitFor()
      await picture(page, "adjudicate-3-keys")
    })
    // While the list is open, keys decide nothing.
    yield* press("1", "Escape")
    const path = `/dashboard/api/tasks/${task}/items/1/decision`
    yield* operator.ask("PUT", path, { choice: 2, rationale: "Sooner." })
    yield* press("1", "Enter")
    yield* Effect.promise(async () => {
      await page.getByText("Lea has already decided this prompt.").waitFor()
      await screenshot(page, "adjudicate-4-refused")
    })
    yield* press("s")
    yield* shows("red")
    yield* press("3", "Enter")
    yield* says("Decided for C.")
    yield* Effect.promise(async () => {
      await page.getByRole("heading", { name: "1 disagreement still open" }).waitFor()
      await page.getByText("You decided 2 items and skipped 2.").waitFor()
      await picture(page, "adjudicate-5-end")
    })
    // A decision is taken back, and made otherwise.
    yield* press("u")
    yield* shows("red")
    yield* press("1", "Enter")
    yield* Effect.promise(async () => {
      await page.getByRole("heading", { name: "1 disagreement still open" }).waitFor()
      await page.getByRole("button", { name: "Start again" }).focus()
    })
    yield* press("Enter")
    yield* shows("blue")
    yield* Effect.promise(() => page.getByRole("heading", { name: "The last open disagreement" }).waitFor())
    yield* press("1", "Enter")
    yield* Effect.promise(async () => {
      await page.getByRole("heading", { name: "No disagreement is left." }).waitFor()
      await picture(page, "adjudicate-6-nothing-left")
    })
    const { json } = yield* operator.ask("GET", `/dashboard/api/tasks/${task}`)
    assert.deepStrictEqual(
      json.items.map(({ decision }: { decision: { choice: number; rationale: string } }) => [
        decision.choice,
        decision.rationale,
      ]),
      [
        [0, ""],
        [2, "Sooner."],
        [0, ""],
        [1, "1 of them is black: s"],
      ],
    )
  },
)

/** A square of one color, which a shortened text would cut in the middle. */
const png = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oCYII${"A".repeat(4_000)}`

inBrowser(
  "a lead sees each completion and image, and takes back no decision of another lead",
  { flags: ["--undo-grace", "0s", "--votes", "2"] },
  function* (service) {
    const { create, origin } = service
    const { operator, page } = yield* lead(service, { refusals: [409] })
    const { json } = yield* operator.ask("POST", "/dashboard/api/operators", { name: "Max", role: "manager" })
    const other = browser(origin)
    const account = { code: json.link.split("=")[1], name: "Max", password: "correct horse battery" }
    yield* other.ask("POST", "/dashboard/api/set-up", account)
    const completions = ["The red one.", "Another one.", ..."CDEFGHIJ".split("").map((letter) => `Text ${letter}`)]
    const task = yield* Effect.promise(() =>
      create({
        guidelines,
        group: "week-48",
        prompts: [
          { prompt: "Which **letter**?", completions },
          { prompt: `![chart](${png}) Which **image**?`, completions: [`The ![same](${png})`, "Another one."] },
        ],
      }),
    )
    yield* judge(origin, operator, "Ann", "The")
    yield* judge(origin, operator, "Bob", "Another")
    const decisions = Effect.map(operator.ask("GET", `/dashboard/api/tasks/${task}`), ({ json }) =>
      json.items.map(({ decision }: { decision: { by: string; choice: number } | null }) =>
        decision === null ? null : [decision.by, decision.choice],
      ),
    )
    yield* Effect.promise(async () => {
      await page.goto(`${origin}/dashboard/#/groups/week-48`)
      await page.getByRole("link", { name: "Decide 2 disagreements" }).click()
      for (const name of ["chart", "same"]) {
        const image = page.getByRole("img", { name, exact: true })
        await image.waitFor()
        await page.waitForFunction((each) => (each as HTMLImageElement).naturalWidth === 1, await image.elementHandle())
      }
      await picture(page, "adjudicate-7-images")
      for (const key of ["1", "Enter"]) await page.keyboard.press(key)
      // A number chooses only a completion that is there to see.
      await page.getByText("Text J").waitFor()
      assert.strictEqual(await page.getByText("Show 8 completions").count(), 0)
      for (const key of ["9", "Enter"]) await page.keyboard.press(key)
      await page.getByText("You decided 2 items and skipped 0.").waitFor()
      await picture(page, "adjudicate-8-end")
    })
    assert.deepStrictEqual(yield* decisions, [
      ["Lea", 8],
      ["Lea", 0],
    ])
    const taken = { choice: 1, rationale: "" }
    yield* other.ask("PUT", `/dashboard/api/tasks/${task}/items/0/decision`, taken)
    yield* Effect.promise(async () => {
      await page.keyboard.press("u")
      await page.getByText("Your decision on this prompt no longer exists").waitFor()
      await page.getByText("You decided 1 item and skipped 0.").waitFor()
      await page.keyboard.press("u")
      await page.getByRole("heading", { name: "The last open disagreement" }).waitFor()
    })
    assert.deepStrictEqual(yield* decisions, [["Max", 1], null])
  },
)

inBrowser("a lead invites a list of people, and renames one", {}, function* ({ link, open }) {
  // The service refuses lists with names that are not free.
  const page = yield* open({ refusals: [409], permissions: ["clipboard-read", "clipboard-write"] })
  yield* Effect.promise(async () => {
    await signIn(page, link, "Lea")
    await page.getByRole("link", { name: "Experts", exact: true }).click()
    await page.getByRole("button", { name: "Invite several" }).click()
    const names = page.getByRole("textbox", { name: "Names, one per line or separated by commas" })
    await names.fill('Ada Lovelace\n=Grace "G" Hopper, Zoë\nADA LOVELACE')
    await page.getByText("4 names").waitFor()
    await page.getByRole("button", { name: "Invite all" }).click()
    await page.getByText("Nobody was invited. Line 3: ADA LOVELACE is already in line 1.").waitFor()
    await picture(page, "invite-1-refused")
    await names.fill('Ada Lovelace\n=Grace "G" Hopper, Zoë')
    await page.getByRole("button", { name: "Invite all" }).click()
    await page.getByRole("heading", { name: "3 invitations" }).waitFor()
    await page.waitForFunction(() => document.activeElement?.id === "invitations")
    const links = await page.getByRole("table", { name: "Invitations" }).locator("code").allTextContents()
    await picture(page, "invite-2-links")

    await page.getByRole("button", { name: "Copy all names and links" }).click()
    await page.getByText("Copied").waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.strictEqual(copied, `Ada Lovelace\t${links[0]}\n=Grace "G" Hopper\t${links[1]}\nZoë\t${links[2]}`)
    assert.strictEqual(
      await downloaded(page, "Download CSV"),
      `name,link\r\nAda Lovelace,${links[0]}\r\n"'=Grace ""G"" Hopper",${links[1]}\r\nZoë,${links[2]}\r\n`,
    )
    await page.getByRole("button", { name: "Done" }).click()
    assert.strictEqual(await page.getByText(links[2]!).count(), 0)

    await page.getByRole("link", { name: "Zoë" }).click()
    await page.getByRole("button", { name: "Rename" }).click()
    await fillIn(page, "Name", "ada lovelace")
    await page.getByText("An expert named Ada Lovelace already exists.").waitFor()
    await fillIn(page, "Name", "Zoë Zwei")
    await page.getByRole("heading", { name: "Zoë Zwei", level: 1 }).waitFor()
    await picture(page, "invite-3-renamed")
  })
})

/**
 * Operators and their roles in the dashboard, by keyboard where a person would use it. `SCREENSHOTS=DIR` keeps pictures.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { downloaded, fillIn, inBrowser, invited, press, rowsIn, signIn } from "../support/browserService.ts"
import { picture } from "../support/pictures.ts"

// The service refuses the wrong password, the removal of the last admin, and the ended session.
const refusals = [401, 403, 409]

inBrowser(
  "an admin adds a viewer, who sees no controls; each changes the own password",
  {},
  function* ({ link, origin, open }) {
    const page = yield* open({ refusals })
    const viewer = yield* open({ refusals })
    yield* Effect.promise(async () => {
      await signIn(page, link)
      await page.getByRole("link", { name: "Operators" }).click()
      await page.getByRole("heading", { name: "Operators", level: 1 }).waitFor()
      await page.getByRole("textbox", { name: "Name of the operator" }).focus()
      await page.keyboard.type("Vic")
      await press(page, "Tab", "ArrowUp")
      assert.isTrue(await page.getByRole("radio", { name: /Viewer/ }).isChecked())
      await page.keyboard.press("Enter")
      const invitation = await page.getByRole("textbox", { name: "Sign-in link" }).inputValue()
      await picture(page, "operators-1-link")
      await page.getByRole("button", { name: "Done" }).click()

      await viewer.goto(invitation)
      const name = viewer.getByRole("textbox", { name: "Name" })
      await name.waitFor()
      assert.strictEqual(await name.inputValue(), "Vic")
      await picture(viewer, "operators-2-set-up")
      await fillIn(viewer, "Password", "a password of Vic")
      await viewer.getByRole("link", { name: "Experts", exact: true }).click()
      await viewer.getByText("Nobody judges yet").waitFor()
      assert.deepStrictEqual(
        await viewer.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents(),
        ["Overview", "Tasks", "Items", "Queue", "Experts"],
      )
      assert.strictEqual(await viewer.getByRole("button", { name: "Invite expert" }).count(), 0)
      await picture(viewer, "operators-3-viewer")

      assert.strictEqual(await viewer.getByText("Invite the first expert").count(), 0)
      for (const place of ["operators", "audit", "developer", "developer/deliveries/msg_1"]) {
        await viewer.goto(`${origin}/dashboard/#/${place}`)
        await viewer.getByText("Only admins can see this page.").waitFor()
        assert.strictEqual(await viewer.getByRole("main").getByRole("button").count(), 0)
        await viewer.goto(`${origin}/dashboard/#/experts`)
        await viewer.getByText("Nobody judges yet").waitFor()
      }

      await viewer.getByRole("link", { name: "Your account: Vic" }).click()
      await viewer.getByRole("textbox", { name: "Current password" }).fill("wrong")
      await fillIn(viewer, "New password", "another password of Vic")
      await viewer.getByText("The current password is wrong.").waitFor()
      await picture(viewer, "operators-4-account")
      await viewer.getByRole("textbox", { name: "Current password" }).fill("a password of Vic")
      await fillIn(viewer, "New password", "another password of Vic")
      await viewer.getByText("Your password was changed.").waitFor()

      await page.reload()
      await page.getByRole("row", { name: /Vic/ }).getByText("Joined").waitFor()
      await page.getByRole("button", { name: "Viewer: change the role of Vic" }).click()
      await picture(page, "operators-5-role")
      await page
        .getByRole("dialog")
        .getByRole("radio", { name: /Manager/ })
        .check()
      await page.getByRole("button", { name: "Set role" }).click()
      await page.getByRole("button", { name: "Manager: change the role of Vic" }).waitFor()
      await page.getByRole("button", { name: "Remove Ada" }).click()
      await page.getByRole("button", { name: "Remove operator" }).click()
      await page.getByText("This is the last admin").waitFor()
      await page.getByRole("button", { name: "Keep operator" }).click()
      await page.getByRole("button", { name: "Remove Vic" }).click()
      await page.getByRole("button", { name: "Remove operator" }).click()
      await page.getByRole("row", { name: /Vic/ }).waitFor({ state: "detached" })

      await page.getByRole("link", { name: "Audit log" }).click()
      await page.getByRole("row", { name: /operator\.remove/ }).waitFor()
      await picture(page, "audit-1")
      await page.getByLabel("Who").selectOption("Vic")
      await page.getByRole("row", { name: /operator\.password/ }).waitFor()
      await page.getByRole("row", { name: /operator\.remove/ }).waitFor({ state: "detached" })
      assert.deepStrictEqual(
        rowsIn(await downloaded(page, "Export as JSON Lines")).map(({ action }) => action),
        ["operator.set-up", "operator.password"],
      )

      await viewer.goto(`${origin}/dashboard/`)
      await viewer.getByRole("heading", { name: "Sign in" }).waitFor()
    })
  },
)

inBrowser(
  "a manager's change of priority and experts is the order of the queue, which says what waits for another expert",
  { flags: ["--votes", "2"] },
  function* (service) {
    const { link, operator: page, page: expert } = yield* invited(service)
    yield* Effect.promise(async () => {
      for (const group of ["nightly", "release"]) {
        await service.create({ group, prompts: [{ prompt: `Of ${group}`, completions: ["a", "b"] }] })
      }
      await page.goto(`${service.origin}/dashboard/#/queue`)
      const groups = page.getByRole("rowheader")
      await page.getByRole("row", { name: /release/ }).waitFor()
      assert.deepStrictEqual(await groups.allTextContents(), ["nightly", "release"])
      await page.getByRole("button", { name: "Change priority and experts of release" }).click()
      await page.getByRole("radio", { name: "Urgent" }).check()
      await page.getByRole("checkbox", { name: "Grace Hopper" }).focus()
      await page.keyboard.press("Space")
      await page
        .getByText("Each prompt needs 2 votes from different experts, but only 1 of the chosen experts is active")
        .waitFor()
      const dialog = page.getByRole("dialog")
      const isCut = await dialog.evaluate(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
      assert.isFalse(isCut, "the dialog's texts wrap, though it is opened in a table")
      await picture(page, "queue-1-change")
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await page
        .getByRole("row", { name: /release/ })
        .getByText("Grace Hopper")
        .waitFor()
      assert.deepStrictEqual(await groups.allTextContents(), ["release", "nightly"])

      await expert.goto(link)
      await expert.getByText("Of release").waitFor()
      await press(expert, "1", "Enter")
      await expert.getByText("Of nightly").waitFor()
      await page.reload()
      await page
        .getByRole("row", { name: /release/ })
        .getByText("1 item waits for another expert")
        .waitFor()
    })
  },
)

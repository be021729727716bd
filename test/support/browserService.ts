/** The service in a process of its own, for a browser: signed in, with an expert who was invited. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { start } from "./program.ts"

/** A folder that is removed at the end of the test. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "prefstream-browser-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

/** `prefstream ARGS`, which ends with the test. */
export const running = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => start(args, env)),
    ({ child, ended }) => Effect.promise(() => (child.kill("SIGKILL"), ended)),
  )

/** `prefstream serve` on a free port: its addresses, its first token, and the link to sign in. */
export const serve = Effect.fnUntraced(function* (database: string, ...flags: ReadonlyArray<string>) {
  const service = yield* running(["serve", "--database", database, "--port", "0", ...flags])
  const said = yield* Effect.promise(() => service.says(/PREFSTREAM_TOKEN=\S+\n/))
  const talk = yield* Effect.promise(() => service.talks(/#set-up=\S+\n/))
  const baseUrl = /PREFSTREAM_BASE_URL=(\S+)/.exec(said)![1]!
  return {
    baseUrl,
    origin: new URL(baseUrl).origin,
    token: /PREFSTREAM_TOKEN=(\S+)/.exec(said)![1]!,
    link: /http\S+#set-up=\S+/.exec(talk)![0],
  }
})

/** Fills in a field, and submits its form by Enter. A page that was just changed to may move the focus meanwhile. */
export const fillIn = async (page: Page, label: string, text: string) => {
  const field = page.getByLabel(label, { exact: true })
  await field.fill(text)
  await field.press("Enter")
}

/** First sign-in. */
export const signIn = async (page: Page, link: string, name = "Ada") => {
  await page.goto(link)
  await page.getByRole("textbox", { name: "Name" }).fill(name)
  await fillIn(page, "Password", "correct horse battery")
  await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor()
}

/** The link for a new expert. */
export const invite = async (page: Page, name: string): Promise<string> => {
  await page.getByRole("link", { name: "Experts", exact: true }).click()
  await fillIn(page, "Name of the expert", name)
  return page.getByRole("textbox", { name: "Invitation link" }).inputValue()
}

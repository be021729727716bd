/**
 * A real Chromium, and a page that keeps account of what went wrong on it.
 *
 * `CHROMIUM_PATH` names another executable than Debian's, of which the one without windows takes half
 * of the time. Where there is none, browser tests skip and say so; with `CI` set they run, and fail.
 */
import { existsSync } from "node:fs"
import { Effect } from "effect"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

const debian = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]
const executablePath = process.env["CHROMIUM_PATH"] ?? debian.find((file) => existsSync(file))

export const hasBrowser = process.env["CI"] !== undefined || executablePath !== undefined

const flags =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --renderer-process-limit=1"

const launch = () =>
  chromium.launch({ executablePath: executablePath ?? debian[0]!, args: flags.split(" "), headless: true })

let shared: Promise<Browser> | undefined

/** The browser of this process, which all its tests share; Playwright ends it with the process. */
export const launched = Effect.promise(() => (shared ??= launch()))

/** What a page did that it should not have done. */
export interface Account {
  /** Uncaught errors, console errors (a refusal by the Content-Security-Policy is one), dialogs, pop-ups. */
  readonly problems: Array<string>
  /** URLs that were asked for, whether or not the request went out. */
  readonly requests: Array<string>
}

/** A page in a context of its own: no cookies, no storage. */
export const open = Effect.fnUntraced(function* (browser: Browser, options: BrowserContextOptions = {}) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })),
    (context) => Effect.promise(() => context.close()),
  )
  // Only to catch what hangs, as in vitest.config.ts.
  context.setDefaultTimeout(120_000)
  const page = yield* Effect.promise(() => context.newPage())
  return { page, account: watch(page) }
})

const watch = (page: Page): Account => {
  const account: Account = { problems: [], requests: [] }
  page.on("pageerror", (error) => account.problems.push(`error: ${error.message}`))
  page.on("console", (message) => {
    if (message.type() === "error") account.problems.push(`console: ${message.text()}`)
  })
  page.on("dialog", (dialog) => {
    account.problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("popup", (popup) => account.problems.push(`popup: ${popup.url()}`))
  page.on("request", (request) => account.requests.push(request.url()))
  return account
}

/** The service in a process of its own, for tests in a browser, and the steps that most of these tests begin with. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { BrowserContextOptions, Page } from "playwright-core"
import { browser } from "../service/web/http.ts"
import { type Account, hasBrowser, launched, open } from "./browser.ts"
import { run, started } from "./program.ts"

/** A folder that is removed at the end of the test. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "prefstream-browser-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

interface Setting {
  /** Further flags of `prefstream serve`. */
  readonly flags?: ReadonlyArray<string>
  /** The service's gold items. */
  readonly gold?: ReadonlyArray<object>
}

interface PageOptions extends BrowserContextOptions {
  /** Statuses of requests that the service refuses to this person, of which the browser's console tells. */
  readonly refusals?: ReadonlyArray<number>
}

/** Three items whose first completion is right. */
export const colorItems = ["red", "green", "blue"].map((color) => ({
  prompt: `Which is **${color}**?`,
  completions: [`The ${color} one.`, `Another one than ${color}.`],
}))

/** `prefstream serve` on a free port. */
const serve = Effect.fnUntraced(function* ({ flags = [], gold }: Setting) {
  const scratch = yield* folder
  const writeItems = (items: ReadonlyArray<object>, name = "items.jsonl"): string => {
    writeFileSync(join(scratch, name), items.map((item) => `${JSON.stringify(item)}\n`).join(""))
    return join(scratch, name)
  }
  const goldFlags = gold === undefined ? [] : ["--gold", writeItems(gold, "gold.jsonl")]
  const args = ["serve", "--database", join(scratch, "service.db"), "--port", "0", ...goldFlags, ...flags]
  const service = yield* started(args)
  const said = yield* Effect.promise(() => service.says(/PREFSTREAM_TOKEN=\S+\n/))
  const talk = yield* Effect.promise(() => service.talks(/#set-up=\S+\n/))
  const baseUrl = /PREFSTREAM_BASE_URL=(\S+)/.exec(said)![1]!
  const token = /PREFSTREAM_TOKEN=(\S+)/.exec(said)![1]!
  const accounts: Array<Account & Pick<PageOptions, "refusals">> = []
  return {
    scratch,
    baseUrl,
    origin: new URL(baseUrl).origin,
    token,
    /** Names the service and its first token to `prefstream`. */
    env: { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token },
    /** Leads to the first sign-in. */
    link: /http\S+#set-up=\S+/.exec(talk)![0],
    /** What the pages did that `open` opened. */
    accounts,
    /** A page of a person who uses no other one's cookies. */
    open: Effect.fnUntraced(function* ({ refusals, ...options }: PageOptions = {}) {
      const { account, page } = yield* open(yield* launched, options)
      accounts.push({ ...account, refusals: refusals ?? [] })
      return page
    }),
    /** Creates a task by the API, and gives its id. */
    create: async (members: object): Promise<string> => {
      const answer = await fetch(`${baseUrl}/tasks`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ task_type: "rlhf_ranking", ...members }),
      })
      assert.strictEqual(answer.status, 201)
      return ((await answer.json()) as { readonly task_id: string }).task_id
    },
    /** Writes a file of JSON Lines, and gives its path. */
    writeItems,
  }
})

export type Service = Effect.Success<ReturnType<typeof serve>>

/** A test with the service started. No page may have a problem that is not one of its refusals. */
export const inBrowser = (
  name: string,
  setting: Setting,
  test: (service: Service) => Effect.fn.Return<void, unknown, Scope.Scope>,
) =>
  it.live.skipIf(!hasBrowser)(name, () =>
    Effect.gen(function* () {
      const service = yield* serve(setting)
      yield* Effect.gen(() => test(service))
      for (const { problems, refusals = [] } of service.accounts) {
        const isRefusal = (problem: string) => refusals.some((status) => problem.includes(`status of ${status}`))
        assert.deepStrictEqual(
          problems.filter((problem) => !isRefusal(problem)),
          [],
        )
      }
    }).pipe(Effect.scoped),
  )

/** The records of JSON Lines. */
export const rowsIn = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** The text of the file that a link downloads. */
export const downloaded = async (page: Page, name: string) => {
  const download = page.waitForEvent("download")
  await page.getByRole("link", { name }).click()
  return readFileSync(await (await download).path(), "utf8")
}

/** The job in the folder of the service: its commands, and what its dataset has. */
export const jobOf = ({ env, scratch }: Service) => {
  const directory = join(scratch, "job")
  /** Reads a file of JSON Lines of the dataset. */
  const rowsOf = (path: string) => rowsIn(readFileSync(join(directory, "dataset", path), "utf8"))
  return {
    directory,
    rowsOf,
    pairs: () => rowsOf("jsonl/train-00000-of-00001.jsonl"),
    prefstream: Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
      const ended = yield* Effect.promise(() => run([...args, "--dir", directory], env))
      assert.include([0, 3], ended.status, ended.stderr)
      return ended
    }),
    /** Goes on while people judge. */
    started: (args: ReadonlyArray<string>) => started([...args, "--dir", directory], env),
  }
}

/** Fills in a field, and submits its form by Enter. A page that was just changed to may move the focus meanwhile. */
export const fillIn = async (page: Page, label: string, text: string) => {
  const field = page.getByLabel(label, { exact: true })
  await field.fill(text)
  await field.press("Enter")
}

/** Presses keys, one after the other. */
export const press = async (page: Page, ...keys: ReadonlyArray<string>) => {
  for (const key of keys) await page.keyboard.press(key)
}

const password = "correct horse battery"

/** First sign-in. */
export const signIn = async (page: Page, link: string, name = "Ada") => {
  await page.goto(link)
  await page.getByRole("textbox", { name: "Name" }).fill(name)
  await fillIn(page, "Password", password)
  await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
}

/** Lea, an admin: her page, and a browser in which she has signed in, for what she asks by the API. */
export const lead = Effect.fnUntraced(function* ({ link, open, origin }: Service, options: PageOptions = {}) {
  const page = yield* open(options)
  yield* Effect.promise(() => signIn(page, link, "Lea"))
  const operator = browser(origin)
  yield* operator.ask("POST", "/dashboard/api/sign-in", { name: "Lea", password })
  return { page, operator }
})

/** The link for a new expert. */
export const invite = async (page: Page, name: string): Promise<string> => {
  await page.getByRole("link", { name: "Experts", exact: true }).click()
  await fillIn(page, "Name of the expert", name)
  return page.getByRole("textbox", { name: "Invitation link" }).inputValue()
}

/** The page of the first operator, that of an expert, and the link for the expert. */
export const invited = Effect.fnUntraced(function* (
  service: Service,
  options: PageOptions = {},
  ofOperator: PageOptions = {},
) {
  const operator = yield* service.open(ofOperator)
  const page = yield* service.open(options)
  const link = yield* Effect.promise(async () => {
    await signIn(operator, service.link)
    return invite(operator, "Grace Hopper")
  })
  return { link, operator, page }
})

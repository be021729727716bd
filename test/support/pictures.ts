/**
 * What a page looks like, and what axe finds wrong with it: wide and light, narrow and dark. `SCREENSHOTS=DIR` keeps
 * the pictures.
 */
import { join } from "node:path"
import { assert } from "@effect/vitest"
import axe from "axe-core"
import type { Page } from "playwright-core"

const pictures = process.env["SCREENSHOTS"]

/** Texts are rendered, and what scrolls can be reached by keyboard: a frame or two after that, by a ResizeObserver. */
const settled = (page: Page) =>
  page.waitForFunction(
    () =>
      document.querySelector("[aria-busy=true]") === null &&
      [...document.querySelectorAll(".rich, .rich pre, .rich .wide")].every(
        (element) => element.scrollWidth <= element.clientWidth || element.hasAttribute("tabindex"),
      ),
  )

/** What axe finds wrong with the page as it is. */
export const violations = async (page: Page) => {
  await settled(page)
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: there } = globalThis as unknown as { axe: typeof axe }
    const { violations } = await there.run({ resultTypes: ["violations"] })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
  })
}
/** Keeps a picture, if pictures are wanted, and checks nothing. */
export const screenshot = async (page: Page, name: string) => {
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** The page is accessible, as far as a program can tell: wide and light, narrow and dark. */
export const picture = async (page: Page, name: string) => {
  const size = page.viewportSize()!
  await screenshot(page, name)
  assert.deepStrictEqual(await violations(page), [], name)
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
  await page.setViewportSize({ width: 375, height: 812 })
  await screenshot(page, `${name}-phone`)
  assert.deepStrictEqual(await violations(page), [], `${name}, narrow`)
  await page.emulateMedia({ colorScheme: "light" })
  await page.setViewportSize(size)
}

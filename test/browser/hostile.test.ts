/**
 * Texts full of attacks, shown to an expert and to the operator: nothing runs, nothing is loaded,
 * nobody is led away. The pages' own errors, requests and frames are checked, and their
 * Content-Security-Policy has nothing to refuse: what is dangerous is gone before it matters.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { renderMarkdown } from "../../src/service/pages/shared/markdown.ts"
import type { Account } from "../support/browser.ts"
import { inBrowser, invite, press, signIn } from "../support/browserService.ts"
import * as hostile from "../support/hostile.ts"

const perPrompt = 12
const attacks = Array.from({ length: Math.ceil(hostile.all.length / perPrompt) }, (_, i) => ({
  prompt: `Item ${i}. ${hostile.all[i * 3]!}`,
  completions: hostile.all.slice(i * perPrompt, (i + 1) * perPrompt),
}))

/** What is rendered, so that the attacks are known to have had their chance. */
const harmless = {
  prompt: `Which **one**?\n\n$$${"x + ".repeat(80)}y$$`,
  completions: [
    "```js\nconst answer = 42 // yes\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |",
    "[a link](https://example.org/) and ![a picture](https://example.org/p.png)",
    "# One\n\n3. three\n4. four\n\nIn between\nand on.\n\n7. seven\n   1. `deep`\n\n- [x] done\n- ~~not~~ *yet*\n\n> quoted\n\n---\n\nend",
    String.raw`Is $\hat{x} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$, or $5 and $10?

\[ \overbrace{\sum_{i=0}^n \mathbb{R}_i}^n \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \color{red}x \colorbox{yellow}{y} \rule{1em}{2em} \cancel{z} \]

$$\begin{array}{c|c:c} a & b & c \\ \hline d & e & f \end{array} \widetilde{abc} \xrightarrow[a]{b} \boxed{x} \phantom{x} \pmb{x} \oiint \Big( \tag{1}$$`,
    "مرحبا بالعالم.\n\n- واحد.\n- one.\n\n> اقتباس.\n\n| اسم | b |\n|---|---|\n| مرحبا. | hello. |\n\nHello.",
  ],
}

const prompts = [harmless, ...attacks]

/** That Markdown became elements, code was highlighted, formulas were typeset, and no text was left out. */
const rendered = async (page: Page) => {
  const counts = await page.evaluate(() => {
    const count = (selector: string) => document.querySelectorAll(selector).length
    return {
      bold: count(".rich strong") > 0,
      highlighted: count('.rich pre code [class^="hljs"]') > 0,
      table: count("article .rich pre + .wide td") === 2,
      link: count('.rich a[href="https://example.org/"]'),
      picture: count(".rich img"),
      formulas: count(".rich .formula"),
      named: document.querySelector("article .formula")?.getAttribute("aria-label"),
    }
  })
  assert.deepStrictEqual(counts, {
    bold: true,
    highlighted: true,
    table: true,
    link: 1,
    picture: 0,
    formulas: 4,
    named: String.raw`\hat{x} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}`,
  })
  // What scrolls is reached by keyboard.
  await page.locator('.rich .formula.wide[tabindex="0"]').waitFor()
  const fonts = await page.evaluate(async () => {
    await document.fonts.ready
    return [...document.fonts].map(({ family, status }) => `${family.replaceAll('"', "")} ${status}`)
  })
  for (const family of ["KaTeX_Main", "KaTeX_Math", "KaTeX_AMS", "KaTeX_Size2"])
    assert.include(fonts, `${family} loaded`)
  assert.isEmpty(fonts.filter((font) => font.endsWith("error")))
}

/** What an expert sees of a harmless text is what `renderMarkdown` made of it: nothing is lost on the way. */
const unaltered = async (page: Page) => {
  const blank = await page.context().newPage()
  const parsed = await blank.evaluate(
    (texts) =>
      texts.map((html) => {
        document.body.innerHTML = html
        for (const element of document.querySelectorAll<HTMLElement>("[data-style]")) {
          const style = element.dataset["style"]!
          delete element.dataset["style"]
          element.style.cssText = style
        }
        for (const element of document.querySelectorAll("svg")) element.removeAttribute("xmlns")
        // A class of the pages, too; KaTeX's styles know no such class.
        for (const element of document.querySelectorAll(".katex .text")) element.classList.remove("text")
        return document.body.innerHTML
      }),
    await Promise.all(harmless.completions.map((text) => renderMarkdown(text))),
  )
  await blank.close()
  // Each expert has the completions in another order.
  const shown = await page.locator("article .rich").evaluateAll((texts) => texts.map((text) => text.innerHTML))
  assert.deepStrictEqual(shown.toSorted(), parsed.toSorted())
  const seen = await page.evaluate(() => {
    const texts = [...document.querySelectorAll("article .rich")]
    const direction = (selector: string) =>
      [...texts.find((text) => text.textContent.includes("Hello"))!.querySelectorAll(selector)].map(
        (element) => getComputedStyle(element).direction,
      )
    return {
      starts: [...document.querySelectorAll<HTMLOListElement>("article .rich ol")].map(({ start }) => start),
      aligned: [...document.querySelectorAll("article .rich pre + .wide td")].map(
        (cell) => getComputedStyle(cell).textAlign,
      ),
      paragraphs: direction(":scope > p"),
      blocks: direction("ul, blockquote, table"),
      cells: direction("td"),
    }
  })
  assert.deepStrictEqual(seen, {
    starts: [3, 7, 1],
    aligned: ["start", "center"],
    paragraphs: ["rtl", "ltr"],
    blocks: ["rtl", "rtl", "rtl"],
    cells: ["rtl", "ltr"],
  })
}

/** What stands in the page that should not. Runs in the browser. */
const dangers = (mark: string) => {
  const found: Array<string> = []
  if (mark in globalThis) found.push("a script of the text ran")
  const kinds =
    "script, iframe, object, embed, form, style, link, meta, base, img, video, audio, source, svg:not(.katex svg), math, input[type=image]"
  for (const element of document.querySelectorAll(`article, [class*=rich]`)) {
    for (const danger of element.querySelectorAll(kinds)) found.push(danger.outerHTML.slice(0, 200))
  }
  for (const element of document.querySelectorAll<HTMLElement>(".rich [style]")) {
    const style = element.style.cssText
    const isStyled = element.closest(".katex") !== null && !/url|fixed|absolute|sticky|(?<![.\d])\d{5}/.test(style)
    if (!isStyled) found.push(`style ${style.slice(0, 200)}`)
  }
  for (const text of document.querySelectorAll(".rich")) {
    if (!getComputedStyle(text).contain.includes("content")) found.push("a text that can draw outside its box")
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window")
  for (const element of document.querySelectorAll("main *, dialog *")) {
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "srcset" || name === "srcdoc") found.push(`${name}=${value.slice(0, 100)}`)
    }
  }
  // The page's own downloads have an attribute that no text can give.
  const own = "[href^='#/'], [href^='/dashboard/api/votes?'][download]"
  for (const link of document.querySelectorAll<HTMLAnchorElement>(`main a:not(${own}), dialog a`)) {
    const isSafe = /^(https?|mailto):$/.test(link.protocol) && link.target === "_blank" && /noopener/.test(link.rel)
    if (!isSafe) found.push(`link ${link.outerHTML.slice(0, 200)}`)
  }
  if (document.querySelector("#app") === null || typeof document.getElementById !== "function") found.push("clobbered")
  return found
}

const inert = async (page: Page, { problems, requests }: Account, origin: string, path: string) => {
  assert.deepStrictEqual(await page.evaluate(dangers, hostile.mark), [])
  assert.deepStrictEqual(problems, [])
  assert.strictEqual(page.frames().length, 1)
  assert.strictEqual(page.context().pages().length, 1)
  assert.isTrue(page.url().startsWith(`${origin}${path}`), page.url())
  const elsewhere = requests.filter((url) => !url.startsWith(`${origin}/`) && !/^(data:,$|blob:)/.test(url))
  assert.deepStrictEqual(elsewhere, [])
}

inBrowser("renders attacks inert, for the expert and for the operator", {}, function* (service) {
  const operator = yield* service.open()
  const page = yield* service.open()
  const [ofOperator, ofExpert] = service.accounts
  const isInert = () => inert(page, ofExpert!, service.origin, "/annotate/")
  yield* Effect.promise(async () => {
    await service.create({ guidelines: hostile.all.join("\n\n"), prompts, group: hostile.html[0] })
    await signIn(operator, service.link)
    const invitation = await invite(operator, hostile.html[3]!)
    await page.goto(invitation)
    for (let i = 0; i < prompts.length; i++) {
      await page.getByRole("heading", { name: `Item ${i + 1} of ${prompts.length}`, level: 1 }).waitFor()
      const count = prompts[i]!.completions.length
      await page
        .getByRole("article")
        .nth(count - 1)
        .waitFor()
      if (i === 0) await page.locator(".rich .formula").nth(3).waitFor()
      // Every text is rendered when none says that it is on its way.
      await page.waitForFunction(() => document.querySelectorAll('[aria-busy="true"]').length === 0)
      if (i === 0) {
        await rendered(page)
        await unaltered(page)
      }
      assert.deepStrictEqual(await page.locator("main .remark").allTextContents(), [])
      await isInert()

      await page.keyboard.press("v")
      await isInert()
      await press(page, "v", "d")
      await isInert()
      await press(page, "d", "f")
      await page.getByRole("dialog").waitFor()
      await isInert()
      await press(page, "Escape", "1", "e")
      await page.keyboard.insertText(hostile.html.join(" "))
      await page.keyboard.press("Control+Enter")
    }
    await page.getByRole("heading", { name: /nothing/i }).waitFor()

    await operator.getByRole("link", { name: "Tasks", exact: true }).click()
    await operator.getByRole("link", { name: /^task_/ }).click()
    await operator.getByRole("heading", { name: "Prompt 1", exact: true }).waitFor()
    for (const button of await operator.getByRole("button", { name: /^(All|Show)/ }).all()) await button.click()
    await operator.waitForFunction(() => document.querySelectorAll('[aria-busy="true"]').length === 0)
    // As the expert has seen it; the source is a key away.
    const first = operator.getByRole("article", { name: "Prompt 1", exact: true })
    assert.strictEqual(await first.locator(".formula").count(), 4)
    await operator.getByRole("button", { name: "Source", exact: true }).click()
    assert.strictEqual(await first.locator(".formula").count(), 0)
    assert.include(await first.textContent(), String.raw`$\hat{x} = \frac`)
    await operator.getByRole("button", { name: "Source", exact: true }).click()
    await operator.waitForFunction(() => document.querySelectorAll('[aria-busy="true"]').length === 0)
    await inert(operator, ofOperator!, service.origin, "/dashboard/")
    await operator.getByRole("link", { name: "Experts", exact: true }).click()
    await operator.getByRole("row").nth(1).waitFor()
    await inert(operator, ofOperator!, service.origin, "/dashboard/")
  })
})

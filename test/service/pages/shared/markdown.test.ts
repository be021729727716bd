import { assert, describe, it } from "@effect/vitest"
import { renderMarkdown } from "../../../../src/service/pages/shared/markdown.ts"

/** Names of the elements, and of their attributes, that the HTML has. */
const elements = (html: string) => [...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name)
const attributes = (html: string) =>
  [...html.matchAll(/<[a-z][^>]*>/gi)].flatMap(([tag]) =>
    [...tag.replaceAll(/"[^"]*"/g, '""').matchAll(/\s([\w-]+)=/g)].map(([, name]) => name),
  )

describe("renderMarkdown", () => {
  it("renders what people and models write", async () => {
    const html = await renderMarkdown("# T\n\n**b** *i* ~~s~~ `c`\n\n- x\n- y\n\n3. z\n\n> q\n\n```js\nlet a = 1\n```")
    for (const part of ["<strong>b</strong>", "<em>i</em>", "<s>s</s>", "<code>c</code>", "<li", 'start="3"']) {
      assert.include(html, part)
    }
    assert.include(html, '<span class="hljs-keyword">let</span>')
  })

  it("keeps line breaks", async () => {
    assert.include(await renderMarkdown("roses\nviolets"), "roses<br>\nviolets")
  })

  it("shows HTML as text", async () => {
    const html = await renderMarkdown(
      '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <svg/onload=alert(1)>\n\n<div style="x">a</div>\n\n<!-- c -->',
    )
    assert.deepStrictEqual(new Set(elements(html)), new Set(["p"]))
    assert.include(html, "&lt;script&gt;alert(1)&lt;/script&gt;")
  })

  it("links to http, https and mailto only, outwards", async () => {
    const html = await renderMarkdown("[a](https://a.example) [b](mailto:b@b.example) <http://c.example>")
    assert.strictEqual(elements(html).filter((name) => name === "a").length, 3)
    assert.strictEqual(html.match(/target="_blank" rel="noopener noreferrer nofollow"/g)?.length, 3)
    for (const url of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java\tscript:alert(1)",
      "&#106;avascript:alert(1)",
      "data:text/html,x",
      "data:image/png;base64,AAAA",
      "vbscript:x",
      "file:///etc/passwd",
      "//evil.example",
      "/dashboard/",
      "#x",
    ]) {
      for (const text of [`[a](${url})`, `[a](<${url}>)`, `<${url}>`, `![a](${url})`, `[a]\n\n[a]: ${url}`]) {
        assert.notInclude(elements(await renderMarkdown(text)), "a", text)
      }
    }
  })

  it("shows an image that is in the text or at an allowed host, and the description and address of others", async () => {
    const html = await renderMarkdown('![a <b> "c"](https://e.example/x.png "t")')
    assert.include(html, "Image: a &lt;b&gt; &quot;c&quot; (https://e.example/x.png)</span>")
    const png = "data:image/png;base64,"
    const allowed = { hosts: ["e.example", "f.example:8443"], handles: `${png}#1-` }
    const isShown = async (address: string) =>
      elements(await renderMarkdown(`![a](${address})`, 3, undefined, allowed)).includes("img")
    for (const address of [
      "https://e.example/x.png",
      "https://f.example:8443/x.png",
      `${png}iVBORw0KGgo=`,
      `${png}#1-23`,
    ]) {
      assert.isTrue(await isShown(address), address.slice(0, 60))
    }
    for (const address of [
      "http://e.example/x.png",
      "https://e.example.evil.example/x.png",
      "https://e.example:8443/x.png",
      "https://evil.example/?e.example",
      "//e.example/x.png",
      "data:image/svg+xml;base64,PHN2Zy8+",
      "data:text/html;base64,PGI+",
      `${png}%3Csvg`,
      `${png}#0`,
      `${png}#1-`,
      `${png}#1-2x`,
    ]) {
      assert.isFalse(await isShown(address), address.slice(0, 60))
    }
  })

  it("writes no style, id or handler, and nothing out of a code block's language", async () => {
    const html = await renderMarkdown(
      '|a|b|\n|:-|-:|\n|1|2|\n\n# h {#id onclick=x}\n\n```html" onmouseover="alert(1)\n<b>\n```\n\n[a](https://a.example "t\\" onclick=\\"x")',
    )
    const allowed = new Set(["class", "dir", "href", "rel", "target", "title"])
    assert.deepStrictEqual(
      attributes(html).filter((name) => name === undefined || !allowed.has(name)),
      [],
    )
    assert.include(html, 'class="align-right"')
  })

  it("gives each block its own direction", async () => {
    assert.include(await renderMarkdown("שלום\n\nhello"), '<p dir="auto">שלום</p>')
    assert.strictEqual(
      await renderMarkdown("- 1\n  - **שלום**\n\n> hello\n\n1. 2"),
      '<ul dir="rtl">\n<li>1\n<ul dir="rtl">\n<li><strong>שלום</strong></li>\n</ul>\n</li>\n</ul>\n' +
        '<blockquote dir="ltr">\n<p dir="auto">hello</p>\n</blockquote>\n<ol>\n<li>2</li>\n</ol>\n',
    )
  })

  it("stays below the headings of the page", async () => {
    assert.include(await renderMarkdown("# T"), '<h4 dir="auto" class="heading-1">T</h4>')
    assert.deepStrictEqual(elements(await renderMarkdown("### a\n# b\n###### c\n## d", 2)), ["h3", "h3", "h4", "h4"])
    assert.deepStrictEqual(elements(await renderMarkdown("# a\n## b\n### c\n#### d", 3)), ["h4", "h5", "h6", "h6"])
  })

  it("survives nesting without end", async () => {
    const html = await renderMarkdown(`${">".repeat(50_000)} x\n\n${"[".repeat(5_000)}`)
    assert.isAbove(html.length, 0)
  })

  describe("formulas", () => {
    /** The formulas that the text has, each with whether it is displayed. */
    const formulas = async (text: string) =>
      [
        ...(await renderMarkdown(text)).matchAll(/class="formula( wide)?" dir="ltr" role="math" aria-label="([^"]*)"/g),
      ].map(([, wide, tex]) => (wide === undefined ? tex : `display ${tex}`))

    it.for([
      ["Let $x^2$ and \\(y_1\\) be", ["x^2", "y_1"]],
      ["$$a + b$$", ["display a + b"]],
      ["\\[\na\n+ b\n\\]", ["display a\n+ b"]],
      ["Then\n$$\na\n- b\n$$\n# Next", ["display a\n- b"]],
      ["1. One:\n   \\[\n   x\n   \\]\n2. $y$", ["display x", "y"]],
      ["> $$\n> x\n> $$", ["display x"]],
      ["so $$x$$, \\[y = 1\\] hold", ["display x", "display y = 1"]],
      ["**$n$th** of *\\(k\\)*, 设$z$是", ["n", "k", "z"]],
      ["$\\text{\\$5}$ and $\\{1\\}$", ["\\text{\\$5}", "\\{1\\}"]],
      ["|a|\n|---|\n|$x$|", ["x"]],
      ["[$x$](https://a.example)", ["x"]],
      ["$a *b* c$ `d`", ["a *b* c"]],
    ] as const)("are found in %j", async ([text, found]) => {
      assert.deepStrictEqual(await formulas(text), [...found])
    })

    it.for([
      "$5 and $10",
      "from $5-$10, US$5, or 5$ and 10$",
      "$ 5$ and $6 $",
      "\\$x\\$ \\\\(x\\\\)",
      "$HOME/$USER, $PATH:$HOME, ${a}/${b}",
      "`$x$` and `` \\(x\\) ``",
      "$5 for `$x`",
      "```\n$$\nx\n$$\n```",
      "    $$x$$",
      "$$\n```\n$$\n```",
      "\\[1\\] says \\[a link\\](https://a.example)",
      "$$\n\n$$",
      "$$ a\n\nb $$",
      "$x",
      "\\(x",
      "https://a.example/?a=$b&c=$d",
    ])("are not found in %j", async (text) => {
      const html = await renderMarkdown(text)
      assert.deepStrictEqual(await formulas(text), [])
      assert.notInclude(html, "katex")
    })

    it("stay as they were written where they are not valid, refused, or too long", async () => {
      for (const tex of [
        "\\frac{1",
        "\\nothing",
        "\\href{javascript:alert(1)}{x}",
        "\\href{https://a.example}{x}",
        "\\url{https://a.example}",
        "\\includegraphics{https://a.example/x.png}",
        "\\htmlStyle{position:fixed}{x}",
        "\\htmlClass{card}{x}",
        "\\htmlId{app}{x}",
        "\\htmlData{a=b}{x}",
        "\\def\\a{\\a\\a}\\a",
        `${"{".repeat(4_000)}x`,
        "x".repeat(6_000),
      ]) {
        for (const text of [`$${tex}$`, `$$${tex}$$`, `\\[\n${tex} = 1\n\\]`]) {
          const html = await renderMarkdown(text)
          assert.strictEqual(
            html,
            `<p${html.includes("dir") ? ' dir="auto"' : ""}>${text.replaceAll("\n", "<br>\n")}</p>\n`,
          )
        }
      }
      const many = await renderMarkdown("$x$ ".repeat(5_000))
      assert.isBelow(many.length, 350_000)
      assert.include(many, "$x$</p>")
    })

    it("write no style, name no address, and escape what stands in them", async () => {
      const html = await renderMarkdown(
        '$\\text{<img src=x onerror="a"> style="b"}$ $\\sqrt{x}$ $\\rule{900em}{900em}$',
      )
      assert.deepStrictEqual(new Set(elements(html)), new Set(["p", "span", "svg", "path"]))
      const allowed =
        "aria-hidden aria-label class d data-style dir height preserveAspectRatio role viewBox width xmlns"
      assert.deepStrictEqual(
        attributes(html).filter((name) => !allowed.split(" ").includes(name ?? "")),
        [],
      )
      assert.include(html, "&lt;img")
      assert.notInclude(html, "900em;")
    })

    it("do not define a direction", async () => {
      assert.include(await renderMarkdown("- $x$ שלום"), '<ul dir="rtl">')
    })
  })
})

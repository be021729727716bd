import { assert, describe, it } from "@effect/vitest"
import { renderMarkdown } from "../../../../src/service/pages/shared/markdown.ts"

/** Names of the elements, and of their attributes, that the HTML has. */
const elements = (html: string) => [...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name)
const attributes = (html: string) =>
  [...html.matchAll(/<[a-z][^>]*>/gi)].flatMap(([tag]) =>
    [...tag.replaceAll(/"[^"]*"/g, '""').matchAll(/\s([\w-]+)=/g)].map(([, name]) => name),
  )

describe("renderMarkdown", () => {
  it("renders what people and models write", () => {
    const html = renderMarkdown("# T\n\n**b** *i* ~~s~~ `c`\n\n- x\n- y\n\n3. z\n\n> q\n\n```js\nlet a = 1\n```")
    for (const part of ["<strong>b</strong>", "<em>i</em>", "<s>s</s>", "<code>c</code>", "<li", 'start="3"']) {
      assert.include(html, part)
    }
    assert.include(html, '<span class="hljs-keyword">let</span>')
  })

  it("keeps line breaks", () => {
    assert.include(renderMarkdown("roses\nviolets"), "roses<br>\nviolets")
  })

  it("shows HTML as text", () => {
    const html = renderMarkdown(
      '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <svg/onload=alert(1)>\n\n<div style="x">a</div>\n\n<!-- c -->',
    )
    assert.deepStrictEqual(new Set(elements(html)), new Set(["p"]))
    assert.include(html, "&lt;script&gt;alert(1)&lt;/script&gt;")
  })

  it("links to http, https and mailto only, outwards", () => {
    const html = renderMarkdown("[a](https://a.example) [b](mailto:b@b.example) <http://c.example>")
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
        assert.notInclude(elements(renderMarkdown(text)), "a", text)
      }
    }
  })

  it("loads no image: it links to it, by its description", () => {
    const html = renderMarkdown('![a <b> "c"](https://e.example/x.png "t")')
    assert.notInclude(elements(html), "img")
    assert.include(html, "Image: a &lt;b&gt; &quot;c&quot;</a>")
    assert.include(html, 'href="https://e.example/x.png"')
  })

  it("writes no style, id or handler, and nothing out of a code block's language", () => {
    const html = renderMarkdown(
      '|a|b|\n|:-|-:|\n|1|2|\n\n# h {#id onclick=x}\n\n```html" onmouseover="alert(1)\n<b>\n```\n\n[a](https://a.example "t\\" onclick=\\"x")',
    )
    const allowed = new Set(["class", "dir", "href", "rel", "target", "title"])
    assert.deepStrictEqual(
      attributes(html).filter((name) => name === undefined || !allowed.has(name)),
      [],
    )
    assert.include(html, 'class="align-right"')
  })

  it("gives each block its own direction", () => {
    assert.include(renderMarkdown("שלום\n\nhello"), '<p dir="auto">שלום</p>')
    assert.strictEqual(
      renderMarkdown("- 1\n  - **שלום**\n\n> hello\n\n1. 2"),
      '<ul dir="rtl">\n<li>1\n<ul dir="rtl">\n<li><strong>שלום</strong></li>\n</ul>\n</li>\n</ul>\n' +
        '<blockquote dir="ltr">\n<p dir="auto">hello</p>\n</blockquote>\n<ol>\n<li>2</li>\n</ol>\n',
    )
  })

  it("stays below the headings of the page", () => {
    assert.include(renderMarkdown("# T"), '<h4 dir="auto" class="heading-1">T</h4>')
    assert.deepStrictEqual(elements(renderMarkdown("### a\n# b\n###### c\n## d", 2)), ["h3", "h3", "h4", "h4"])
    assert.deepStrictEqual(elements(renderMarkdown("# a\n## b\n### c\n#### d", 3)), ["h4", "h5", "h6", "h6"])
  })

  it("survives nesting without end", () => {
    const html = renderMarkdown(`${">".repeat(50_000)} x\n\n${"[".repeat(5_000)}`)
    assert.isAbove(html.length, 0)
  })
})

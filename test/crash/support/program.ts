/**
 * prefstream in one file, made of its sources for a room: a process that is to be killed after
 * half a second should not take longer than that to load a thousand modules.
 */
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { build } from "vite"
import { root } from "../../support/process.ts"

/** Gives the file, which stands in `folder`. */
export const make = async (folder: string): Promise<string> => {
  // For what stays outside of the file.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  // The report's template is looked for two folders above.
  symlinkSync(join(root, "dist"), join(folder, "dist"))
  const outDir = join(folder, "program", "src")
  await build({
    configFile: false,
    root,
    logLevel: "error",
    resolve: { conditions: ["prefstream-source"] },
    ssr: { target: "node", noExternal: true, external: ["undici"] },
    build: {
      ssr: "src/cli/Process.ts",
      outDir,
      minify: false,
      rolldownOptions: { output: { entryFileNames: "prefstream.mjs" } },
    },
  })
  return join(outDir, "prefstream.mjs")
}

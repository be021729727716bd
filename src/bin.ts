#!/usr/bin/env node
/**
 * Starts prefstream if this version of Node can run it. Node caches the compiled code for the next start, in the user's
 * cache folder or in NODE_COMPILE_CACHE. NODE_DISABLE_COMPILE_CACHE=1 turns the cache off.
 */
// This is a namespace import, because an older Node would fail on a missing name before the version is checked.
import * as module from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { isPipelineFile } from "./cli/flags/PipelineName.ts"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`prefstream needs Node 22.19 or newer, but this is Node ${process.versions.node}\n`)
  process.exit(2)
}
const [, , argument, ...others] = process.argv
if (argument === "--version" && others.length === 0) {
  await import("./cli/output/Stdout.ts")
  const { version } = await import("./node/Version.ts")
  process.stdout.write(`prefstream v${version}\n`)
} else {
  // `homedir` throws if the user has no home folder, as in some containers. In this case, Node caches no compiled code.
  try {
    // @effect-diagnostics-next-line processEnv:off -- nothing of Effect is loaded yet
    module.enableCompileCache(join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "prefstream"))
  } catch {}
  // A pipeline file must import the copies of prefstream and Effect that the command uses. The bundle `#cli` contains
  // other copies. Therefore, the command runs unbundled.
  await (process.argv.slice(2).some(isPipelineFile) ? import("./cli/Process.ts") : import("#cli"))
}

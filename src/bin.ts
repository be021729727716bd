#!/usr/bin/env node
/**
 * Asks for the Node that is needed, before anything that needs it is loaded. What Node compiles it keeps, in the
 * system's folder for temporary files or in NODE_COMPILE_CACHE, for the next start.
 */
import { enableCompileCache } from "node:module"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`prefstream needs Node 22.19 or newer, and this is ${process.versions.node}\n`)
  process.exit(2)
}
const [, , argument, ...others] = process.argv
if (argument === "--version" && others.length === 0) {
  await import("./cli/output/Stdout.ts")
  const { version } = await import("./node/Version.ts")
  process.stdout.write(`prefstream v${version}\n`)
} else {
  enableCompileCache()
  await import("./cli/Process.ts")
}

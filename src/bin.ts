#!/usr/bin/env node
/** Asks for the Node that is needed, before anything that needs it is loaded. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`prefstream needs Node 22.19 or newer, and this is ${process.versions.node}\n`)
  process.exit(2)
}
await import("./cli/Process.ts")

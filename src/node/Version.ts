/** Adapter: the version from the package's own package.json, and the version of Node.js. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version

export const runtime: string = process.version

/** Adapter: the version in the package's own package.json, and that of Node.js. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version

/** Such as `v26.1.0`. */
export const runtime: string = process.version

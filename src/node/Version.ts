/** Adapter: the version in the package's own package.json. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version

/** Adapter: the package's own manifest, for its version. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version

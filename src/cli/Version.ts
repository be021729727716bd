/** The version of the package, as package.json gives it. */
import manifest from "../../package.json" with { type: "json" }

export const version: string = manifest.version

/**
 * The public data sets that some tests run on, which are no part of this repository.
 *
 * They are looked for where PREFSTREAM_SHARED_DATA says, or in `../shared/data` beside
 * the repository. Tests that need them skip where they are absent, and say so in their names.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"

const root = process.env["PREFSTREAM_SHARED_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data")

/** A data set's directory; undefined where it is absent. */
export const sharedData = (name: string): string | undefined => {
  const directory = resolve(root, name)
  return existsSync(directory) ? directory : undefined
}

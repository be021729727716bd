/** Names each model after its file, without folder and extensions. If two names would be equal, full paths are used. */
import type { Path } from "effect"
import * as FileExtensions from "../place/FileExtensions.ts"
import * as PlaceName from "../place/PlaceName.ts"

export const of = (path: Path.Path, files: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = files.map((file) => modelOf(path, file))
  return new Set(names).size === names.length ? names : files.map(PlaceName.describe)
}

/** Extensions begin with a letter, so `gpt-3.5` has no extension. */
const extension = /\.[a-z][a-z0-9]*$/i

const modelOf = (path: Path.Path, file: string): string => {
  const name = path.basename(PlaceName.describe(file))
  return FileExtensions.withoutCompression(name).replace(extension, "") || name
}

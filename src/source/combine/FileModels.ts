/** Names each model after its file, without folder and extensions. If two names would be equal, uses the full paths. */
import type { Path } from "effect"
import * as FileExtensions from "../place/FileExtensions.ts"
import * as PlaceName from "../place/PlaceName.ts"

export const of = (path: Path.Path, files: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = files.map((file) => {
    const name = path.basename(PlaceName.describe(file))
    return FileExtensions.withoutCompression(name).replace(extension, "") || name
  })
  return new Set(names).size === names.length ? names : files.map(PlaceName.describe)
}

/** An extension must begin with a letter: in the file name `gpt-3.5`, `.5` is part of the model name. */
const extension = /\.[a-z][a-z0-9]*$/i

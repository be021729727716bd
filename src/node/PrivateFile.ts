/** Adapter: creates private files. An existing file is not opened: closing it would release this process's locks. */
import { closeSync, openSync } from "node:fs"

export const mode = 0o600

/** On Windows, the file has its folder's rights. Reports no error, because opening the file will report it. */
export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // The file exists, or cannot be created.
  }
}

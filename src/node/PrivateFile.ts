/** Adapter: creates private files. Opens no existing file, because the close would end this process's locks on it. */
import { closeSync, openSync } from "node:fs"

export const mode = 0o600

export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // An existing file stays as it is. Any other error occurs again when the caller opens the file.
  }
}

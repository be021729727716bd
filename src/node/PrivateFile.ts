/** Adapter: creates private files. Does not open an existing file: closing it would end this process's locks on it. */
import { closeSync, openSync } from "node:fs"

export const mode = 0o600

export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // If the file exists, it stays as it is. Any error but `EEXIST` occurs again when the caller opens the file.
  }
}

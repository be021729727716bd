/**
 * Adapter: creates files that only their owner can read, from the moment of creation and whatever the umask of the
 * process. An existing file is not opened, because closing it would end this process's locks on it. On Windows, a file
 * has the access rights of its folder.
 */
import { closeSync, openSync } from "node:fs"

export const mode = 0o600

/** Creates an empty file if there is none. Other failures appear when the file is opened. */
export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // The file exists, or cannot be created.
  }
}

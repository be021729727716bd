/**
 * Adapter: creates files that only their owner can read, whatever the umask is. An existing file is not opened: closing
 * it would release this process's locks on it. On Windows, a file has the access rights of its folder.
 */
import { closeSync, openSync } from "node:fs"

export const mode = 0o600

/** Reports no error, because opening the file will report it. */
export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // The file exists, or cannot be created.
  }
}

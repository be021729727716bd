/**
 * Adapter: files that nobody but their owner can read, whatever the process's umask says.
 *
 * Guarantees: a file that is created is private from its first moment; one that is there, or
 * whose name is a link, stays as it is, and is not even opened: to close it would end the locks
 * that this process has on it.
 *
 * Does not: anything on Windows, where a file has the access rights of its folder.
 */
import { closeSync, openSync } from "node:fs"

/** Read and written by its owner. */
export const mode = 0o600

/** Creates the file, empty, where there is none. Other failures are left to whoever opens it. */
export const create = (path: string, access = mode): void => {
  try {
    closeSync(openSync(path, "wx", access))
  } catch {
    // It is there, or cannot be created.
  }
}

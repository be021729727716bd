/**
 * Adapter: files that only their owner can read, whatever the process's umask.
 *
 * Guarantees: a new file is private from its first moment; an existing one is not even opened, since closing it would end
 * this process's locks on it. Does nothing on Windows, where a file has its folder's access rights.
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

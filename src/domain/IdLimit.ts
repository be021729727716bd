/**
 * The maximum length of an item's id and of a task id.
 *
 * Guarantees: an id within the limit fits into an index in every database that the ledger supports. PostgreSQL's index
 * rows hold 2,704 bytes, and the id shares them with other columns.
 */

/** The limit applies to the id in UTF-8. */
const maxBytes = 1000

export const limitText = "1,000 bytes"

const encoder = new TextEncoder()

/** Returns the problem of a task id that a person typed; undefined if the id is valid. */
export const problemOf = (id: string): string | undefined =>
  typeof id !== "string" || id === "" || /[\u0000-\u001f\u007f]/.test(id)
    ? "expected a non-empty task id without control characters"
    : fits(id)
      ? undefined
      : `expected a task id of at most ${limitText}`

// A UTF-16 code unit takes at most three bytes in UTF-8.
export const fits = (id: string): boolean => id.length * 3 <= maxBytes || encoder.encode(id).length <= maxBytes

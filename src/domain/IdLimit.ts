/** Maximum length of an item's or task's id. A row of a PostgreSQL index holds 2,704 bytes for all of its columns. */

const maxBytes = 1000

export const limitText = "1,000 bytes"

const encoder = new TextEncoder()

export const problemOf = (id: string): string | undefined =>
  typeof id !== "string" || id === "" || /[\u0000-\u001f\u007f]/.test(id)
    ? "expected a non-empty task id without control characters"
    : fits(id)
      ? undefined
      : `expected a task id of at most ${limitText}`

// A UTF-16 code unit takes at most three bytes in UTF-8.
export const fits = (id: string): boolean => id.length * 3 <= maxBytes || encoder.encode(id).length <= maxBytes
